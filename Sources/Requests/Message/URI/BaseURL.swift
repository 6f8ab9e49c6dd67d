// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An address that others are appended to, split once for all of them.
struct BaseURL: Sendable {
    let url: URL
    private let parts: Parts?

    /// The parts, by reference: every request takes the base along.
    private final class Parts: Sendable {
        let root: String
        let path: String
        /// The path without slashes at its end.
        let directory: String
        let query: String?
        let host: String

        init(_ parts: AddressParts, host: String) {
            (root, path, self.host) = (String(parts.root), String(parts.path), host)
            directory = String(parts.path.trimmingEnd(of: "/"))
            query = parts.query.map { String($0.trimmingEnd(of: "&")) }
        }
    }

    /// - Complexity: O(n) in the length of the address.
    init(_ url: URL) {
        self.url = url
        parts = url.host(percentEncoded: true).flatMap { host in
            host.isEmpty ? nil : AddressParts(url.absoluteString).map { Parts($0, host: host) }
        }
    }

    /// Returns an address below this one.
    ///
    /// The base's credentials, path and query are kept and its fragment is dropped; between base and path there is
    /// exactly one slash, and an empty path adds none. The queries are those of the base, the inherited one, that of
    /// the reference and the given one, in this order; the fragment of the reference is dropped, since it is never
    /// sent. Scheme, host and port are always those of the base, whatever the path contains.
    ///
    /// - Parameters:
    ///   - reference: A path, and a query behind a `?`; escaped characters stay escaped.
    ///   - inherited: Parameters to add to the query of the base.
    ///   - query: Parameters to add to all others.
    /// - Returns: The address, absolute.
    /// - Throws: ``InvalidValue`` for a base without a host and for a path that climbs with `..`.
    /// - Complexity: O(n) in the length of the address.
    func appending(
        _ reference: String,
        inheriting inherited: Query = [],
        query: Query = []
    ) throws(InvalidValue) -> URL {
        let (ownPath, ownQuery) = reference.splitAtQuery
        let encodedPath = try ownPath.percentEncodedPath()
        guard let parts else {
            // A base without a scheme is a text, which was escaped to be a URL.
            let excerpt = url.scheme == nil ? url.path(percentEncoded: false) : url.redactedDescription
            throw InvalidValue(.url, "has no host", excerpt: excerpt)
        }
        var address = parts.root
        // Mostly all that it needs, so that it doesn't grow piece by piece.
        address.reserveCapacity(address.utf8.count + parts.path.utf8.count + encodedPath.utf8.count + 1)
        if encodedPath.isEmpty {
            address += parts.path
        } else {
            address += parts.directory
            address += "/"
            address += Substring(encodedPath.utf8.drop { $0 == UInt8(ascii: "/") })
        }
        if parts.query != nil || ownQuery != nil || !inherited.isEmpty || !query.isEmpty {
            let queries = [
                parts.query ?? "", inherited.percentEncoded,
                ASCIISet.query.encode(ownQuery ?? "", keepsTriplets: true), query.percentEncoded,
            ]
            let joinedQuery = queries.filter { !$0.isEmpty }.joined(separator: "&")
            if !joinedQuery.isEmpty { address += "?" + joinedQuery }
        }
        // The address begins with the scheme, the credentials, the host and the port of its base. The second condition
        // isn't known to ever fail; if it does, the credentials stay here.
        guard let url = URL(string: address), url.host(percentEncoded: true) == parts.host else {
            throw InvalidValue(.url, "can't be joined to its base", excerpt: encodedPath)
        }
        return url
    }
}

extension BaseURL: CustomReflectable {
    /// A mirror without credentials and query.
    var customMirror: Mirror { Mirror(self, children: ["url": url.redactedDescription]) }
}

extension Substring {
    func trimmingEnd(of character: Unicode.Scalar) -> Substring {
        var rest = utf8
        while rest.last == UInt8(ascii: character) { rest.removeLast() }
        return Substring(rest)
    }
}
