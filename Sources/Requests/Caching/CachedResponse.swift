// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A stored response, with the times from which its age is computed.
struct CachedResponse: Sendable, Hashable {
    /// The status.
    private(set) var status: HTTPStatus
    /// The header fields that may be stored.
    private(set) var headers: HTTPHeaders
    /// The directives for storing and using it.
    let control: CacheControl
    /// The content.
    private(set) var body: Data
    /// The time of the request, or of its last validation.
    let requestedAt: Date
    /// The time of its arrival, or of its last validation's.
    let receivedAt: Date

    /// Makes a response to store; fields that must not be stored are removed.
    init(status: HTTPStatus, headers: HTTPHeaders, body: Data, requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.headers = headers.keepable
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

    /// The fields of the request that it depends on, each once, in alphabetical order.
    ///
    /// It is `nil` if the response depends on more than a request's fields, so that no other request is sure to match; and
    /// if a quote in the list may hide a name.
    var varyingNames: [HTTPField.Name]? {
        // Quotes aren't allowed in names, so that any of them may hide one.
        let names = headers[values: .vary].flatMap { FieldScanner.elements(of: $0) }
        guard names.allSatisfy({ $0 != "*" && !$0.utf8.contains(UInt8(ascii: "\"")) }) else { return nil }
        return Set(names.map { HTTPField.Name($0.lowercasedASCII) }).sorted()
    }

    /// The fields of a validation (RFC 9111, 4.3.1); empty if it can't be validated.
    ///
    /// Both come from the server and are sent back to it unchanged, since servers compare them so, but only if they are
    /// valid.
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

    /// Whether the head of a 304 refers to this response: one with another tag doesn't (RFC 9111, 4.3.4).
    ///
    /// The comparison is weak, as that of `If-None-Match` is: servers that compress weaken their tags.
    func isMeant(by head: HTTPResponseHead) -> Bool {
        guard let theirs = head[.eTag].flatMap(HTTPField.EntityTag.init(parsing:)),
            let ours = headers[.eTag].flatMap(HTTPField.EntityTag.init(parsing:))
        else { return true }
        return ours.isWeaklyEqual(to: theirs)
    }

    /// The response after a validation: the fields of the 304 replace the stored ones (RFC 9111, 3.2).
    ///
    /// Fields about the coding or framing of the content stay, since the content does. The stored times are dropped.
    func validated(by fields: HTTPHeaders, for url: URL) -> HTTPResponse<Data> {
        var updates = fields
        updates.removeAll { Self.ofContent.contains($0.name) || fields.isAboutConnection($0.name) }
        var merged = headers
        for name in [HTTPField.Name.age, .date, .warning] { merged.remove(name) }
        merged.merge(updates)
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: merged, url: url), body: body)
    }

    /// The response for a caller, answered from the cache.
    ///
    /// - Parameters:
    ///   - url: The requested address.
    ///   - age: Its age, for its `Age` field (RFC 9111, 5.1).
    /// - Returns: The response.
    func response(from url: URL, age: TimeInterval) -> HTTPResponse<Data> {
        var headers = headers
        headers.set(HTTPField(.age, Int64(min(max(0, age), 2_147_483_648))))
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: headers, url: url), body: body)
    }

    /// A part of the content, as a response to a request for a range (RFC 9110, 14.2 and 15.3.7).
    ///
    /// It is `nil` if the response isn't the whole resource or has no such part. The positions of a range refer to the
    /// sent bytes, so compressed content, of which only the decoded form is stored, has no parts.
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

    private static let ofContent: Set<HTTPField.Name> = [
        .contentEncoding, .contentLength, .contentRange, .contentType,
    ]
}

/// The one range of bytes that a request asks for (RFC 9110, 14.1.2).
struct SingleByteRange: Sendable, Hashable {
    private let first: Int?
    private let last: Int?

    /// Reads the value of a `Range`; `nil` for several ranges, and for other units.
    init?(_ value: String) {
        guard value.lowercasedASCII.hasPrefix("bytes=") else { return nil }
        let ends = value.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.count < 19 && $0.utf8.allSatisfy(ASCII.isDigit) }) else {
            return nil
        }
        (first, last) = (Int(ends[0]), Int(ends[1]))
        guard first != nil || last != nil else { return nil }
    }

    /// Returns the positions in content of that size; `nil` if it has none of them.
    func bounds(in count: Int) -> Range<Int>? {
        let start = first ?? max(0, count - (last ?? 0))
        let end = first == nil ? count : min(last ?? count - 1, count - 1) + 1
        return start < end ? start..<end : nil
    }
}

extension HTTPHeaders {
    /// The fields that may be stored: not those of the connection (RFC 9111, 3.1), and no secrets.
    ///
    /// A `Set-Cookie` or a token was meant for one answer; a later caller would return to an old one. A field that only
    /// sounds like a secret is stored: without a `Continuation-Token`, for example, the answer would lose its next
    /// page.
    fileprivate var keepable: HTTPHeaders {
        guard contains(where: { $0.name.isKnownSecret || isAboutConnection($0.name) }) else { return self }
        return HTTPHeaders(filter { !$0.name.isKnownSecret && !isAboutConnection($0.name) })
    }

    fileprivate func isAboutConnection(_ name: HTTPField.Name) -> Bool {
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
