// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The representation that a partial file belongs to, with everything that a later request needs to resume the
/// download.
///
/// A manifest can be stored, because it contains no secrets: it has a digest of the URL, and nothing else from the
/// request. A new request resumes the download. Its URL may be different, because signed URLs expire.
struct DownloadManifest: Codable, Sendable, Hashable {
    /// A validator that proves that the bytes are unchanged (RFC 9110, 8.8).
    enum Validator: Codable, Sendable, Hashable {
        /// The value of a strong entity tag, without its quotes.
        case tag(String)
        /// The value of `Last-Modified`, verbatim, if it is old enough to distinguish versions.
        case date(String)
    }

    /// The digest of the URL.
    var address: String
    var validator: Validator
    /// The byte count of the complete file; `nil` if the server doesn't send it.
    var total: Int64?
    /// The time of the first request.
    var created: Date

    /// Returns whether the validator can prove that the bytes at a URL are the same.
    ///
    /// At a different URL, a date proves nothing, and a tag counts only if the length matches too, because validators
    /// are unique only within one resource (RFC 9110, 8.8.1).
    ///
    /// - Parameter address: The digest of the URL.
    /// - Returns: Whether a conditional request can use the validator.
    func validatorApplies(toAddress address: String) -> Bool {
        if address == self.address { return true }
        if case .tag = validator { return total != nil }
        return false
    }

    /// Returns the digest of a URL without its credentials and fragment, which aren't sent as part of the URL.
    static func digest(of url: URL) -> String {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        components?.fragment = nil
        return SHA256.digest(of: Data((components?.string ?? url.absoluteString).utf8)).hexadecimal
    }
}

extension DownloadManifest {
    /// Creates the manifest of a complete representation; `nil` if no later request could resume its download.
    ///
    /// A download can't be resumed if the content is encoded, because ranges then count encoded bytes (RFC 9110, 14).
    /// The server must also support ranges, and send a strong validator.
    ///
    /// - Parameters:
    ///   - head: The head of a response with the complete representation.
    ///   - url: The URL.
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
    /// Creates the strong validator of a response; `nil` if it has none.
    ///
    /// A date is strong only if the response was generated at least a minute later, because there may be two versions
    /// within a second, and clocks differ (RFC 9110, 8.8.2.2). If the response also has a weak tag, the date isn't
    /// strong either, because the tag means that the server doesn't distinguish some versions.
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

    /// The `If-Range` field, which requests the rest of the same bytes, or the entire file if they have changed.
    var field: HTTPField {
        switch self {
        case .tag(let value): .ifRange(HTTPField.EntityTag(value))
        case .date(let value): HTTPField(.ifRange, value)
        }
    }

    /// Whether the validator forms a valid header field; a stored token may have been manipulated.
    var isSendable: Bool { field.flaw == nil && field.hasValidValue }

    /// Returns whether the headers of a response contradict the validator.
    ///
    /// A response may omit the validator, because if the server sends a part, the condition was met.
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
