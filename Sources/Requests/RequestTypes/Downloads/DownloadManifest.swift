// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The representation that a partial file belongs to: all that a later request needs to resume the download.
///
/// It can be stored, and contains no secret: it has a digest of the address, to compare addresses, and nothing of the
/// request. A new request resumes the download; its address may differ, since signed addresses expire.
struct DownloadManifest: Codable, Sendable, Hashable {
    /// The proof that the bytes are still the same (RFC 9110, 8.8).
    enum Validator: Codable, Sendable, Hashable {
        /// The text between the quotes of a strong entity tag.
        case tag(String)
        /// The time of the last change, in the form that is sent, if it is old enough to distinguish versions.
        case date(String)
    }

    /// The digest of the address.
    var address: String
    /// The proof that the bytes are still the same.
    var validator: Validator
    /// The byte count of the whole; `nil` if the server doesn't send it.
    var total: Int64?
    /// The time of the first request.
    var created: Date

    /// Whether the validator applies to the bytes at an address.
    ///
    /// At another address than that of the manifest, a time doesn't apply, and a tag applies only together with a
    /// length: both must match (RFC 9110, 8.8.1: validators are unique within one resource).
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

extension DownloadManifest {
    /// Makes the manifest of a whole representation; `nil` if no later request could resume its download.
    ///
    /// This is so if the content is encoded, since the positions of a range are those of encoded bytes (RFC 9110, 14);
    /// if the server doesn't support ranges; and if there is no strong validator.
    ///
    /// - Parameters:
    ///   - head: The head of a response with the whole representation.
    ///   - url: The address.
    ///   - now: The current time.
    init?(_ head: HTTPResponseHead, url: URL, now: Date) {
        let headers = head.headers
        let units = FieldScanner.members(of: headers[values: .acceptRanges])
        guard !headers.isEncoded, !units.contains(where: { $0.equalsIgnoringASCIICase("none") }),
            let validator = Validator(headers)
        else { return nil }
        self.init(address: Self.digest(of: url), validator: validator, total: headers.exactLength, created: now)
    }
}

extension DownloadManifest.Validator {
    /// The strong validator of a response; `nil` if it has none.
    ///
    /// A time is strong only if the message was made a minute or more later: within a second, there may have been two
    /// versions, and clocks differ (RFC 9110, 8.8.2.2). Beside a weak tag it isn't strong, because the tag means that
    /// the server doesn't distinguish some versions.
    init?(_ headers: HTTPHeaders) {
        if let text = headers[.eTag] {
            guard let tag = HTTPField.EntityTag(parsing: text), !tag.isWeak else { return nil }
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

    /// The field that asks for the rest of these bytes, or otherwise for the whole.
    var field: HTTPField {
        switch self {
        case .tag(let value): .ifRange(HTTPField.EntityTag(value))
        case .date(let value): HTTPField(.ifRange, value)
        }
    }

    /// Whether it can be sent in a field: a stored token may have been manipulated.
    var isSendable: Bool { field.flaw == nil && field.hasValidValue }

    /// Whether a response states that it has other bytes.
    ///
    /// A response may state nothing: if the server sends a part, the condition was met.
    func contradicts(_ headers: HTTPHeaders) -> Bool {
        switch self {
        case .tag(let value):
            guard let text = headers[.eTag] else { return false }
            return HTTPField.EntityTag(parsing: text).map { !$0.matchesStrongly(HTTPField.EntityTag(value)) } ?? true
        case .date(let value):
            guard let text = headers[.lastModified] else { return false }
            return HTTPDate(parsing: text)?.rawValue != value
        }
    }
}
