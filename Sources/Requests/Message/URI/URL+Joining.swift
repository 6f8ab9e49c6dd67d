// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// Returns an address below a base address; see ``BaseURL``.
    ///
    /// - Throws: ``InvalidValue`` for a base without a host and for a path that climbs with `..`.
    /// - Complexity: O(n) in the length of the address.
    package static func joined(base: URL, reference: String = "", query: Query = []) throws(InvalidValue) -> URL {
        try BaseURL(base).appending(reference, query: query)
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
            let target = URL(lenient: reference, relativeTo: base)?.absoluteURL,
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
        self = URL(lenient: text) ?? components.url ?? URL(filePath: "/")
    }
}

extension URL {
    /// The address with `http` or `https` in place of `ws` or `wss` (RFC 6455, 3); any other address unchanged.
    package var asHTTP: URL {
        let schemes = ["ws": "http", "wss": "https"]
        guard let scheme = schemes[scheme?.lowercased() ?? ""] else { return self }
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.scheme = scheme
        return components?.url ?? self
    }
}
