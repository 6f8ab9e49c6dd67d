// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The key of a stored response, which identifies the resource, the user and the variant.
///
/// The key consists of one-way digests, because it becomes a file name that must not reveal URLs and credentials.
struct CacheKey: Sendable, Hashable {
    /// The digest of the URL, without the user or the variant; used for invalidation.
    let resource: String
    /// The name of the file without its suffix, which consists of three concatenated digests.
    ///
    /// The first digest covers the method, the URL, the `Host` field and the user. The second covers other fields that
    /// differ between requests of one user, and the third covers the fields named by `Vary`.
    let name: String
}

extension CacheKey {
    /// Creates the key of a response from its request.
    ///
    /// - Parameters:
    ///   - request: The complete request, as it is sent.
    ///   - identity: The parts that identify the user and the variant; see ``ResponseCache/Identity``.
    ///   - names: The other fields that the response depends on, according to its `Vary` (RFC 9111, 4.1).
    /// - Complexity: O(n) in the size of the request head.
    init(_ request: HTTPRequest, _ identity: ResponseCache.Identity.Parts, varyingBy names: [HTTPField.Name] = []) {
        let address = Self.address(of: request.url)
        // A request with a `Host` field may reach another server under the same URL.
        let host = Self.variant(by: .host, of: request)
        let user = Self.digest(of: [request.method.rawValue, address] + host + identity.user)
        let variant = Self.digest(of: identity.variant)
        let varying = Self.digest(of: names.flatMap { Self.variant(by: $0, of: request) })
        self.init(resource: Self.resource(address), name: user + variant + varying)
    }

    /// The part of the name that is the same for all of one user's variants of the resource.
    var user: Substring { name.prefix(Self.digestLength) }

    /// The part of the name that is the same for all responses to one user's requests with the same fields.
    var variant: Substring { name.prefix(2 * Self.digestLength) }

    /// Returns the keys of the oldest variants of one user, if there are too many.
    ///
    /// - Parameter keys: The user's keys for one resource, starting with the least recently used.
    /// - Returns: The keys to remove.
    static func surplus(of keys: [CacheKey]) -> [CacheKey] {
        var kept: Set<Substring> = []
        for key in keys.reversed() where kept.count < variantLimit { kept.insert(key.variant) }
        return keys.filter { !kept.contains($0.variant) }
    }

    private static let variantLimit = 8

    /// The length of a name.
    static let nameLength = 3 * digestLength

    private static let digestLength = 32

    private static func digest(of parts: [String]) -> String {
        // Each part is preceded by its length, so that different lists have different encodings.
        let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return SHA256.digest(of: text.utf8).prefix(digestLength / 2).hexadecimal
    }

    /// Returns the digest of a URL; the digest is part of the keys of all requests for this URL.
    static func resource(of url: URL) -> String {
        resource(address(of: url))
    }

    private static func resource(_ address: String) -> String {
        SHA256.digest(of: address.utf8).prefix(16).hexadecimal
    }

    /// Returns the URL as servers compare it, that is, normalized and without its fragment (RFC 9110, 4.2.3).
    static func address(of url: URL) -> String {
        let origin = Origin(url)
        let path = url.path(percentEncoded: true)
        let user = [url.user(percentEncoded: true), url.password(percentEncoded: true)].compactMap(\.self)
        return "\(origin.scheme)://" + (user.isEmpty ? "" : user.joined(separator: ":") + "@")
            + "\(origin.host):\(origin.port ?? -1)" + (path.isEmpty ? "/" : path)
            + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    /// Returns a request field in a normalized form that is the same for equivalent values.
    ///
    /// A missing field differs from an empty one. Field lines are joined, and whitespace around commas is removed (RFC
    /// 9111, 4.1). The value isn't parsed any further, because that could hide a difference between two users.
    /// Languages are compared without case (RFC 5646, 2.1.1) and without whitespace.
    static func variant(by name: HTTPField.Name, of request: HTTPRequest) -> [String] {
        let (field, values) = (name.rawValue.lowercasedASCII, request.headers[values: name])
        guard !values.isEmpty else { return [field, "0"] }
        let list = values.joined(separator: ",")
        guard name != .acceptLanguage else {
            return [field, "1", list.lowercasedASCII.filter { $0 != " " && $0 != "\t" }]
        }
        // In a quoted string, whitespace next to a comma is significant.
        guard !list.utf8.contains(UInt8(ascii: "\"")) else { return [field, "1", list] }
        let elements = list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return [field, "1", elements.map { String(Substring($0).trimmedOfBlanks) }.joined(separator: ",")]
    }
}
