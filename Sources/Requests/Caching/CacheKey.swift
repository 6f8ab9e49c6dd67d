// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The key of a stored response: the resource, the user, the variant.
///
/// It is a one-way digest, since it becomes the name of a file: addresses and credentials can't be read from it.
struct CacheKey: Sendable, Hashable {
    /// The digest of the address, independent of user and variant; used by invalidations.
    let resource: String
    /// The digests of the user, of the fields that differ between requests of one user, and of those that `Vary` names.
    let name: String
}

extension CacheKey {
    /// Creates the key of a request: its method, its address, and its user.
    ///
    /// - Parameters:
    ///   - request: The request, as complete as it is sent.
    ///   - identity: The parts that tell its user and its variant; see ``ResponseCache/Identity``.
    ///   - names: The other fields that the response depends on, as its `Vary` names them (RFC 9111, 4.1).
    /// - Complexity: O(n) in the size of the head.
    init(_ request: HTTPRequest, _ identity: ResponseCache.Identity.Parts, varyingBy names: [HTTPField.Name] = []) {
        let address = Self.address(of: request.url)
        // A request with a `Host` of its own may reach another server at the same address.
        let host = Self.variant(by: .host, of: request)
        let user = Self.digest(of: [request.method.rawValue, address] + host + identity.user)
        let variant = Self.digest(of: identity.variant)
        let varying = Self.digest(of: names.flatMap { Self.variant(by: $0, of: request) })
        self.init(resource: Self.resource(address), name: user + variant + varying)
    }

    /// The part of the name that all responses for one user have.
    var user: Substring { name.prefix(Self.digestLength) }

    /// The part of the name that all responses have for the same fields of one user.
    var variant: Substring { name.prefix(2 * Self.digestLength) }

    /// Returns the keys of the oldest variants of one user, if there are too many.
    ///
    /// - Parameter keys: The keys of the user for one resource, the least recently used first.
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

    private static func digest(of pieces: [String]) -> String {
        // Each piece with its length, so that different lists of pieces are encoded differently.
        let text = pieces.map { "\($0.utf8.count):\($0)" }.joined()
        return SHA256.digest(of: text.utf8).prefix(digestLength / 2).hexadecimal
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
    /// Lines are joined and blanks around commas are removed (RFC 9111, 4.1); nothing else, since a reader of lists may
    /// drop what tells two users apart. Languages are compared without case (RFC 5646, 2.1.1) and without blanks.
    static func variant(by name: HTTPField.Name, of request: HTTPRequest) -> [String] {
        let (field, values) = (name.rawValue.lowercasedASCII, request.headers[values: name])
        guard !values.isEmpty else { return [field, "0"] }
        let list = values.joined(separator: ",")
        guard name != .acceptLanguage else {
            return [field, "1", list.lowercasedASCII.filter { $0 != " " && $0 != "\t" }]
        }
        // In a quoted string, a blank beside a comma has a meaning.
        guard !list.utf8.contains(UInt8(ascii: "\"")) else { return [field, "1", list] }
        let elements = list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return [field, "1", elements.map { String(Substring($0).trimmedOfBlanks) }.joined(separator: ",")]
    }
}
