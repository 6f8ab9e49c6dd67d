// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A stored response, with the times from which its age is computed.
struct CachedResponse: Sendable, Hashable {
    private(set) var status: HTTPStatus
    /// The header fields that may be stored.
    private(set) var headers: HTTPHeaders
    /// The directives for storing and using the response.
    let control: CacheControl
    private(set) var body: Data
    /// The time when the request, or the last validation, was sent.
    let requestedAt: Date
    /// The time when the response, or the response to the last validation, arrived.
    let receivedAt: Date

    /// Creates a response to store, without the fields that must not be stored.
    init(status: HTTPStatus, headers: HTTPHeaders, body: Data, requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.headers = headers.storable
        control = CacheControl(lines: headers[values: .cacheControl])
        self.body = body
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }

    /// Returns the response with other header fields.
    func with(_ headers: HTTPHeaders) -> CachedResponse {
        CachedResponse(
            status: status,
            headers: headers,
            body: body,
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }

    /// The request fields that the response depends on, without duplicates and in alphabetical order.
    ///
    /// The value is `nil` if no other request can match, because the response depends on more than request fields
    /// (`Vary: *`), or if a quote in the list may hide a name.
    var varyingNames: [HTTPField.Name]? {
        // Names can't contain quotes, so any quote may hide a name.
        let names = headers[values: .vary].flatMap { FieldScanner.elements(of: $0) }
        guard names.allSatisfy({ $0 != "*" && !$0.utf8.contains(UInt8(ascii: "\"")) }) else { return nil }
        return Set(names.map { HTTPField.Name($0.lowercasedASCII) }).sorted()
    }

    /// The request fields for validating the response (RFC 9111, 4.3.1); empty if it can't be validated.
    ///
    /// Servers compare these values literally, so valid values are sent back unchanged, and invalid values are omitted.
    var validators: HTTPHeaders {
        var fields: HTTPHeaders = []
        if let tag = headers[.eTag], tag.isFieldValue, HTTPField.EntityTag(parsing: tag) != nil {
            fields[.ifNoneMatch] = tag
        }
        if let date = headers[.lastModified], date.isFieldValue, HTTPDate(parsing: date) != nil {
            fields[.ifModifiedSince] = date
        }
        return fields
    }

    /// Returns whether a 304 refers to this response, which it does unless their entity tags differ (RFC 9111, 4.3.4).
    ///
    /// Like `If-None-Match`, this is a weak comparison, because servers that compress content weaken their tags.
    func isConfirmed(by head: HTTPResponseHead) -> Bool {
        guard let theirs = head[.eTag].flatMap(HTTPField.EntityTag.init(parsing:)),
            let ours = headers[.eTag].flatMap(HTTPField.EntityTag.init(parsing:))
        else { return true }
        return ours.isWeaklyEqual(to: theirs)
    }

    /// Returns the response after a validation, with the fields of the 304 instead of the stored ones (RFC 9111, 3.2).
    ///
    /// Fields about the coding or framing of the content are kept, because the content is unchanged. The stored `Age`,
    /// `Date` and `Warning` are removed.
    func validated(by fields: HTTPHeaders, for url: URL) -> HTTPResponse<Data> {
        var updates = fields
        updates.removeAll { Self.contentFields.contains($0.name) || fields.isHopByHop($0.name) }
        var merged = headers
        for name in [HTTPField.Name.age, .date, .warning] { merged.remove(name) }
        merged.merge(updates)
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: merged, url: url), body: body)
    }

    /// Returns the stored response in the form in which it is delivered to a caller.
    ///
    /// - Parameters:
    ///   - url: The requested URL.
    ///   - age: The age of the response, for its `Age` field (RFC 9111, 5.1).
    /// - Returns: The response.
    func response(from url: URL, age: TimeInterval) -> HTTPResponse<Data> {
        var headers = headers
        headers.set(HTTPField(.age, Int64(min(max(0, age), 2_147_483_648))))
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: headers, url: url), body: body)
    }

    /// Returns a part of the content, as the response to a range request (RFC 9110, 14.2 and 15.3.7).
    ///
    /// Returns `nil` if the response isn't the complete resource, or doesn't contain the range. Ranges refer to the
    /// encoded content, but only decoded content is stored, so a compressed response has no parts.
    func part(_ range: SingleByteRange) -> CachedResponse? {
        guard status == .ok, !headers.contains(.contentEncoding), let bounds = range.bounds(in: body.count) else {
            return nil
        }
        var part = self
        part.status = .partialContent
        part.headers.set("bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/\(body.count)", for: .contentRange)
        part.headers.set(String(bounds.count), for: .contentLength)
        part.body = Data(body.dropFirst(bounds.lowerBound).prefix(bounds.count))
        return part
    }

    private static let contentFields: Set<HTTPField.Name> = [
        .contentEncoding, .contentLength, .contentRange, .contentType,
    ]
}

/// The single byte range of a request (RFC 9110, 14.1.2).
struct SingleByteRange: Sendable, Hashable {
    private let first: Int?
    private let last: Int?

    /// Parses a `Range` value; `nil` for several ranges, and for units other than bytes.
    init?(_ value: String) {
        guard value.lowercasedASCII.hasPrefix("bytes=") else { return nil }
        let ends = value.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.count < 19 && $0.utf8.allSatisfy(ASCII.isDigit) }) else {
            return nil
        }
        (first, last) = (Int(ends[0]), Int(ends[1]))
        guard first != nil || last != nil else { return nil }
    }

    /// Returns the range within content of the given size; `nil` if the content contains none of the range.
    func bounds(in count: Int) -> Range<Int>? {
        let start = first ?? max(0, count - (last ?? 0))
        let end = first == nil ? count : min(last ?? count - 1, count - 1) + 1
        return start < end ? start..<end : nil
    }
}

extension HTTPHeaders {
    /// The fields that may be stored, without hop-by-hop fields (RFC 9111, 3.1) or secrets.
    ///
    /// A `Set-Cookie` or a token is meant for one response, and a later caller would get an outdated value. A field
    /// that only resembles a secret is stored. For example, without its `Continuation-Token`, a response would lose the
    /// link to the next page.
    fileprivate var storable: HTTPHeaders {
        guard contains(where: { $0.name.isKnownSecret || isHopByHop($0.name) }) else { return self }
        return HTTPHeaders(filter { !$0.name.isKnownSecret && !isHopByHop($0.name) })
    }

    fileprivate func isHopByHop(_ name: HTTPField.Name) -> Bool {
        if Self.hopByHop.contains(name) { return true }
        guard contains(.connection) else { return false }
        let listed = FieldScanner.members(of: self[values: .connection])
        return listed.contains { $0.equalsIgnoringASCIICase(name.rawValue) }
    }

    private static let hopByHop: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .te, .trailer,
        .transferEncoding, .upgrade, "Proxy-Connection",
    ]
}
