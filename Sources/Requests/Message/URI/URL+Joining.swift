// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension URL {
    /// Appends a path and a query to a base URL; for the rules, see ``BaseURL``.
    ///
    /// - Throws: ``InvalidValue`` if the base has no host, or if the path has a `..` segment.
    /// - Complexity: O(n) in the length of the URL.
    package static func joined(base: URL, reference: String = "", query: Query = []) throws(InvalidValue) -> URL {
        try BaseURL(base).appending(reference, query: query)
    }
}

extension URL {
    /// Returns the URL, absolute or relative, with query parameters appended.
    ///
    /// The fragment is removed, because it is never sent.
    func adding(_ query: Query) -> URL {
        let (path, oldQuery) = absoluteString.splitAtQuery
        let parameters = [String((oldQuery ?? "")[...].trimmingEnd(of: "&")), query.percentEncoded].filter {
            !$0.isEmpty
        }.joined(separator: "&")
        return parameters.isEmpty ? self : URL(string: "\(path)?\(parameters)") ?? self
    }

    /// Resolves a URL that a server sent, absolute or relative to another URL (RFC 3986, 5).
    ///
    /// The result is `nil` unless it is an `http` or `https` URL that has a host and no control characters. A user name
    /// and a password are removed, because they are the server's choice and not the caller's credentials.
    ///
    /// - Complexity: O(n) in the length of the URL.
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

    /// The URL without its fragment, which is never sent.
    var withoutFragment: URL {
        guard fragment(percentEncoded: true) != nil else { return self }
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.percentEncodedFragment = nil
        return components?.url ?? self
    }

    /// Creates a base URL from a string.
    ///
    /// An invalid string creates a base URL without a host, so appending a path to it throws.
    package init(base text: String) {
        var components = URLComponents()
        // The path is shown in the error. Credentials and the query are removed now, because they could no longer be
        // recognized in the escaped string.
        components.path = text.bareAddress
        self = URL(lenient: text) ?? components.url ?? URL(filePath: "/")
    }
}

extension URL {
    /// The URL with `http` or `https` in place of `ws` or `wss` (RFC 6455, 3); any other URL is unchanged.
    package var asHTTP: URL {
        let schemes = ["ws": "http", "wss": "https"]
        guard let scheme = schemes[scheme?.lowercased() ?? ""] else { return self }
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.scheme = scheme
        return components?.url ?? self
    }
}
