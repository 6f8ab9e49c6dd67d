// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a partial file is a part of: all that a later request needs to go on with it.
///
/// It can be stored, and holds no secret: of the address there is a digest, which tells whether another is the same,
/// and nothing of the request. A new request goes on with it, whose address may be another, since those that are signed
/// expire.
struct DownloadManifest: Codable, Sendable, Hashable {
    /// What says that the bytes are still the same (RFC 9110, 8.8).
    enum Validator: Codable, Sendable, Hashable {
        /// What is between the quotes of a strong entity tag.
        case tag(String)
        /// The time of the last change, in the form that is sent, where it is long enough ago to tell bytes apart.
        case date(String)
    }

    /// The digest of the address.
    var address: String
    /// What says that the bytes are still the same.
    var validator: Validator
    /// How many bytes the whole has; nil where the server doesn't say.
    var total: Int64?
    /// When the first byte was asked for.
    var created: Date

    /// Makes the manifest of a whole representation; nil where no later request could go on with it.
    ///
    /// So it is where the content is encoded, since the positions of a range are those of encoded bytes (RFC 9110, 14);
    /// where the server gives no ranges; and where nothing says strongly that bytes are the same.
    ///
    /// - Parameters:
    ///   - head: The head of a response with the whole.
    ///   - url: The address.
    ///   - now: The present.
    init?(_ head: HTTPResponseHead, url: URL, now: Date) {
        let headers = head.headers
        guard !headers.isEncoded, headers[.acceptRanges]?.equalsIgnoringASCIICase("none") != true,
            let validator = Validator(headers)
        else { return nil }
        self.init(address: Self.digest(of: url), validator: validator, total: headers.exactLength, created: now)
    }

    init(address: String, validator: Validator, total: Int64?, created: Date) {
        self.address = address
        self.validator = validator
        self.total = total
        self.created = created
    }

    /// Whether the validator speaks for the bytes at an address.
    ///
    /// At another address than that of the manifest, a time says nothing, and a tag only together with a length: both
    /// must be those of the other (RFC 9110, 8.8.1: validators are unique within one resource).
    ///
    /// - Parameter address: The digest of the address.
    /// - Returns: Whether a condition can be made of it.
    func speaks(forAddress address: String) -> Bool {
        if address == self.address { return true }
        if case .tag = validator { return total != nil }
        return false
    }

    /// The digest of an address, without credentials and fragment, which aren't sent with it.
    static func digest(of url: URL) -> String {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        components?.fragment = nil
        return SHA256.digest(of: Data((components?.string ?? url.absoluteString).utf8)).hexadecimal
    }
}

extension DownloadManifest.Validator {
    /// The strong validator of a response; nil where it has none.
    ///
    /// A time is one only where the message was made a minute or more later: within a second, there may have been two
    /// versions, and clocks differ (RFC 9110, 8.8.2.2). It isn't one beside a weak tag, which says that there are
    /// versions that the server doesn't tell apart.
    init?(_ headers: HTTPHeaders) {
        if let text = headers[.eTag] {
            guard let tag = EntityTag(parsing: text), !tag.isWeak else { return nil }
            self = .tag(tag.value)
        } else if let change = headers[.lastModified].flatMap({ HTTPDate(parsing: $0) }),
            let date = headers[.date].flatMap({ HTTPDate(parsing: $0) }),
            date.date.timeIntervalSince(change.date) >= 60
        {
            self = .date(change.rawValue)
        } else {
            return nil
        }
    }

    /// The field that asks for the rest of these bytes, or else for the whole.
    var field: HTTPField {
        switch self {
        case .tag(let value): .ifRange(EntityTag(value))
        case .date(let value): HTTPField(.ifRange, value)
        }
    }

    /// Whether it can stand in a field: what was stored may be anybody's.
    var isSendable: Bool { field.flaw == nil && field.hasValidValue }

    /// Whether a response says that it is of other bytes.
    ///
    /// A response may say nothing: that the server gave a part says that the condition was met.
    func contradicts(_ headers: HTTPHeaders) -> Bool {
        switch self {
        case .tag(let value):
            guard let text = headers[.eTag] else { return false }
            return EntityTag(parsing: text).map { !$0.isStronglyEqual(to: EntityTag(value)) } ?? true
        case .date(let value):
            guard let text = headers[.lastModified] else { return false }
            return HTTPDate(parsing: text)?.rawValue != value
        }
    }
}
