// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// An address below a base address.
    ///
    /// The base's credentials, path and query are kept and its fragment is dropped; between base and path there is
    /// exactly one slash, and an empty path adds none. The queries are those of the base, of the reference and the
    /// given one, in this order; the fragment of the reference is dropped, since it is never sent. Scheme, host and
    /// port are always those of the base, whatever the path contains.
    ///
    /// - Parameters:
    ///   - base: The address to append to.
    ///   - reference: A path, and a query behind a `?`; escaped characters stay escaped.
    ///   - query: Parameters to add to both queries.
    /// - Returns: The address, absolute.
    /// - Throws: ``InvalidValue`` for a base without a host and for a path that climbs with `..`.
    /// - Complexity: O(n) in the length of the address.
    package static func joined(base: URL, reference: String = "", query: Query = []) throws(InvalidValue) -> URL {
        let (ownPath, ownQuery) = reference.splitAtQuery
        let encodedPath = try ownPath.percentEncodedPath()
        guard let parts = AddressParts(base.absoluteString), let host = base.host(percentEncoded: true), !host.isEmpty
        else {
            // A base without a scheme is a text, which was escaped to be a URL.
            let excerpt = base.scheme == nil ? base.path(percentEncoded: false) : base.redactedDescription
            throw InvalidValue(.url, "has no host", excerpt: excerpt)
        }
        var address = String(parts.root)
        if encodedPath.isEmpty {
            address += parts.path
        } else {
            address += parts.path.trimmingEnd(of: "/")
            address += "/"
            address += Substring(encodedPath.utf8.drop { $0 == UInt8(ascii: "/") })
        }
        if parts.query != nil || ownQuery != nil || !query.isEmpty {
            let queries = [
                String((parts.query ?? "").trimmingEnd(of: "&")),
                ASCIISet.query.encode(ownQuery ?? "", keepsTriplets: true), query.percentEncoded,
            ]
            let joinedQuery = queries.filter { !$0.isEmpty }.joined(separator: "&")
            if !joinedQuery.isEmpty { address += "?" + joinedQuery }
        }
        // The address begins with the scheme, the credentials, the host and the port of its base. The second condition
        // isn't known to ever fail; if it does, the credentials stay here.
        guard let url = URL(string: address), url.host(percentEncoded: true) == host else {
            throw InvalidValue(.url, "can't be joined to its base", excerpt: encodedPath)
        }
        return url
    }
}

extension URL {
    /// Returns the address, absolute or relative, with more query parameters; without its fragment, which is never
    /// sent.
    func adding(_ query: Query) -> URL {
        let (path, present) = absoluteString.splitAtQuery
        let parameters = [String((present ?? "")[...].trimmingEnd(of: "&")), query.percentEncoded].filter {
            !$0.isEmpty
        }.joined(separator: "&")
        return parameters.isEmpty ? self : URL(string: "\(path)?\(parameters)") ?? self
    }

    /// Reads the web address that a server names: absolute, or relative to another one (RFC 3986, 5).
    ///
    /// It is `nil` if the address isn't one of `http` or `https` with a host, or has a control character. A user and a
    /// password are removed: they come from the server and aren't the caller's credentials.
    ///
    /// - Complexity: O(n) in the length of the address.
    init?(reference: String, of base: URL?) {
        guard reference.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let target = URL(written: reference, relativeTo: base)?.absoluteURL,
            let scheme = target.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = target.wireHost, !host.isEmpty, !host.contains("%20"),
            var components = URLComponents(url: target, resolvingAgainstBaseURL: true)
        else { return nil }
        components.user = nil
        components.password = nil
        guard let url = components.url else { return nil }
        self = url
    }

    /// The address without its fragment, which is never sent.
    var withoutFragment: URL {
        guard fragment(percentEncoded: true) != nil else { return self }
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.percentEncodedFragment = nil
        return components?.url ?? self
    }

    /// Makes a base address of a text; an invalid text makes a base to which no address can be joined.
    package init(base text: String) {
        var components = URLComponents()
        // Shown in the error. Escaped, its credentials and its query wouldn't be found any more.
        components.path = text.bareAddress
        self = URL(written: text) ?? components.url ?? URL(filePath: "/")
    }
}

extension Substring {
    fileprivate func trimmingEnd(of character: Unicode.Scalar) -> Substring {
        var rest = utf8
        while rest.last == UInt8(ascii: character) { rest.removeLast() }
        return Substring(rest)
    }
}

extension URL {
    /// The address with `http` or `https` in place of `ws` or `wss` (RFC 6455, 3); any other address unchanged.
    var overHTTP: URL {
        let schemes = ["ws": "http", "wss": "https"]
        guard let scheme = schemes[scheme?.lowercased() ?? ""] else { return self }
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.scheme = scheme
        return components?.url ?? self
    }
}
