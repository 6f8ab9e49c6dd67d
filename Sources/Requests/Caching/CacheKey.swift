// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The key of a stored response: the resource, the user and the variant.
///
/// It is a one-way digest, since it becomes the name of a file: addresses and credentials can't be read from it.
struct CacheKey: Sendable, Hashable {
    /// The digest of the address, independent of user and variant; used by invalidations.
    let resource: String
    /// The digest of all parts.
    let name: String
}

extension CacheKey {
    /// Makes the key of a request: its method, its address, and its user.
    ///
    /// - Parameters:
    ///   - request: The request, as complete as it is sent.
    ///   - user: The identity of the user; see ``ResponseCache/Identity``.
    ///   - names: The other fields that the response depends on, as its `Vary` names them (RFC 9111, 4.1).
    /// - Complexity: O(n) in the size of the head.
    init(_ request: HTTPRequest, user: [String], varyingBy names: [HTTPField.Name] = []) {
        let address = Self.address(of: request.url)
        // A request with a `Host` of its own may reach another server at the same address.
        let pieces =
            [request.method.rawValue, address] + Self.variant(by: .host, of: request) + user + [""]
            + names.flatMap { Self.variant(by: $0, of: request) }
        // Each piece with its length, so that different lists of pieces are encoded differently.
        let text = pieces.map { "\($0.utf8.count):\($0)" }.joined()
        self.init(resource: Self.resource(address), name: SHA256.digest(of: text.utf8).hexadecimal)
    }

    /// The digest of an address, which is part of the keys of all requests for it.
    static func resource(of url: URL) -> String {
        resource(address(of: url))
    }

    private static func resource(_ address: String) -> String {
        SHA256.digest(of: address.utf8).prefix(16).hexadecimal
    }

    /// The address as servers compare it: without its fragment, and without default parts (RFC 9110, 4.2.3).
    static func address(of url: URL) -> String {
        let origin = Origin(url)
        let path = url.path(percentEncoded: true)
        let user = [url.user(percentEncoded: true), url.password(percentEncoded: true)].compactMap(\.self)
        return "\(origin.scheme)://" + (user.isEmpty ? "" : user.joined(separator: ":") + "@")
            + "\(origin.host):\(origin.port ?? -1)" + (path.isEmpty ? "/" : path)
            + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    /// A field that a response depends on, in a form that is the same for equivalent fields; a missing one differs from
    /// an empty one.
    ///
    /// Lines are joined and blanks around commas are removed (RFC 9111, 4.1). Languages are compared without case (RFC
    /// 5646, 2.1.1) and without blanks.
    private static func variant(by name: HTTPField.Name, of request: HTTPRequest) -> [String] {
        let (field, values) = (name.rawValue.lowercasedASCII, request.headers[values: name])
        guard !values.isEmpty else { return [field, "0"] }
        let text = FieldScanner.elements(of: values.joined(separator: ",")).joined(separator: ",")
        guard name == .acceptLanguage else { return [field, "1", text] }
        return [field, "1", text.lowercasedASCII.filter { $0 != " " && $0 != "\t" }]
    }
}
