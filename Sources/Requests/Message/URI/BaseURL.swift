// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A base URL, which is parsed only once, and to which the paths of requests are appended.
struct BaseURL: Sendable {
    let url: URL
    private let parts: Parts?

    /// The components of the URL; a class, so that the base URL is cheap to copy for each request.
    private final class Parts: Sendable {
        let schemeAndAuthority: String
        let path: String
        /// The path without trailing slashes.
        let directory: String
        let query: String?
        let host: String

        init(_ parts: AddressParts, host: String) {
            (schemeAndAuthority, path, self.host) = (String(parts.schemeAndAuthority), String(parts.path), host)
            directory = String(parts.path.trimmingEnd(of: "/"))
            query = parts.query.map { String($0.trimmingEnd(of: "&")) }
        }
    }

    /// - Complexity: O(n) in the length of the URL.
    init(_ url: URL) {
        self.url = url
        parts = url.host(percentEncoded: true).flatMap { host in
            host.isEmpty ? nil : AddressParts(url.absoluteString).map { Parts($0, host: host) }
        }
    }

    /// Returns the base URL with a path and query parameters appended.
    ///
    /// Scheme, host and port are always those of the base URL, whatever the path contains. The credentials, path and
    /// query of the base URL are kept. Exactly one slash separates its path from the appended path, and an empty path
    /// adds no slash. The result's query consists of the base URL's query, `inherited`, the reference's query and
    /// `query`, in this order. Fragments are removed, because they are never sent.
    ///
    /// - Parameters:
    ///   - reference: A path, optionally followed by `?` and a query; escaped characters stay escaped.
    ///   - inherited: The parameters to append to the query of the base URL.
    ///   - query: The parameters to append after all others.
    /// - Returns: The absolute URL.
    /// - Throws: ``InvalidValue`` if the base URL has no host, or if the path has a `..` segment.
    /// - Complexity: O(n) in the length of the URL.
    func appending(
        _ reference: String,
        inheriting inherited: Query = [],
        query: Query = []
    ) throws(InvalidValue) -> URL {
        let (ownPath, ownQuery) = reference.splitAtQuery
        let encodedPath = try ownPath.percentEncodedPath()
        guard let parts else {
            // A base URL without a scheme was created from an invalid string, so show the string, unescaped.
            let excerpt = url.scheme == nil ? url.path(percentEncoded: false) : url.redactedDescription
            throw InvalidValue(.url, "has no host", excerpt: excerpt)
        }
        var address = parts.schemeAndAuthority
        // Reserve enough for nearly all URLs, so that the string needn't be reallocated with each append.
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
        // The URL begins with the scheme, credentials, host and port of the base URL. Checking the host is a
        // precaution: if `URL` ever parsed a different host from it, the credentials must not be sent to that host.
        guard let url = URL(string: address), url.host(percentEncoded: true) == parts.host else {
            throw InvalidValue(.url, "can't be appended to the base URL", excerpt: encodedPath)
        }
        return url
    }
}

extension BaseURL: CustomReflectable {
    /// A mirror of the URL without credentials or query.
    var customMirror: Mirror { Mirror(self, children: ["url": url.redactedDescription]) }
}

extension Substring {
    func trimmingEnd(of character: Unicode.Scalar) -> Substring {
        var rest = utf8
        while rest.last == UInt8(ascii: character) { rest.removeLast() }
        return Substring(rest)
    }
}
