// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A response that is kept, with the times that its age is reckoned from.
struct CachedResponse: Sendable, Hashable {
    /// The status.
    let status: HTTPStatus
    /// The header fields that may be kept.
    let headers: HTTPHeaders
    /// The content.
    let body: Data
    /// When it was asked for, or for its last validation.
    let requestedAt: Date
    /// When it came in, or its last validation did.
    let receivedAt: Date

    /// Makes a response to keep; fields that mustn't be kept are left out.
    init(status: HTTPStatus, headers: HTTPHeaders, body: Data, requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.headers = headers.keepable
        self.body = body
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }

    /// The response with other header fields.
    func with(_ headers: HTTPHeaders) -> CachedResponse {
        CachedResponse(
            status: status,
            headers: headers,
            body: body,
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }

    /// How it may be kept, and used.
    var control: CacheControl { CacheControl(parsing: headers[.cacheControl] ?? "") }

    /// The fields of the request that it depends on, each once, in alphabetical order; nil where it depends on more
    /// than a request says, which no other request is sure to match.
    var varyingNames: [HTTPField.Name]? {
        let names = FieldScanner.elements(of: headers[.vary] ?? "")
        guard !names.contains("*") else { return nil }
        return Set(names.map { HTTPField.Name($0.lowercasedASCII) }).sorted()
    }

    /// The fields that ask whether it is still the same (RFC 9111, 4.3.1); empty where that can't be asked.
    ///
    /// Both come from a server and go to one. They are sent as they were received, since servers compare them so, but
    /// only where they are what they are to be.
    var validators: HTTPHeaders {
        var fields: HTTPHeaders = []
        if let tag = headers[.eTag], tag.isFieldValue, EntityTag(parsing: tag) != nil {
            fields[.ifNoneMatch] = tag
        }
        if let date = headers[.lastModified], date.isFieldValue, HTTPDate(parsing: date) != nil {
            fields[.ifModifiedSince] = date
        }
        return fields
    }

    /// Whether the head of a 304 is about this response: one that names another tag is not (RFC 9111, 4.3.4).
    ///
    /// The comparison is weak, as that of `If-None-Match` is: servers that compress weaken their tags on the way.
    func isMeant(by head: HTTPResponseHead) -> Bool {
        guard let theirs = head[.eTag].flatMap(EntityTag.init(parsing:)),
            let ours = headers[.eTag].flatMap(EntityTag.init(parsing:))
        else { return true }
        return ours.isWeaklyEqual(to: theirs)
    }

    /// The header fields after a validation: those of the 304 take the place of ours (RFC 9111, 3.2).
    ///
    /// What says how the content is coded or framed stays, since the content does. Our times are over.
    func headers(validatedBy fields: HTTPHeaders) -> HTTPHeaders {
        var updates = fields
        updates.removeAll { Self.ofContent.contains($0.name) || fields.isAboutConnection($0.name) }
        var merged = headers
        for name in [HTTPField.Name.age, .date, .warning] { merged.remove(name) }
        merged.merge(updates)
        return merged
    }

    /// The response as a caller gets it who didn't ask the server.
    ///
    /// - Parameters:
    ///   - url: The address that was asked.
    ///   - age: How old it is, which its `Age` says (RFC 9111, 5.1).
    /// - Returns: The response.
    func response(from url: URL, age: TimeInterval) -> HTTPResponse<Data> {
        var headers = headers
        headers.set(HTTPField(.age, Int64(min(max(0, age), 2_147_483_648))))
        return HTTPResponse(head: HTTPResponseHead(status: status, headers: headers, url: url), body: body)
    }

    /// A part of the content, as a response to a request for a range (RFC 9110, 14.2 and 15.3.7); `nil` if the response
    /// isn't the whole resource or has no such part.
    ///
    /// The range of a content that was compressed on the way is one of what was sent, which isn't here any more.
    func part(_ range: PartialRange) -> CachedResponse? {
        guard status == .ok, !headers.contains(.contentEncoding), let bounds = range.bounds(in: body.count) else {
            return nil
        }
        var headers = headers
        headers.set("bytes \(bounds.lowerBound)-\(bounds.upperBound - 1)/\(body.count)", for: .contentRange)
        headers.set(String(bounds.count), for: .contentLength)
        return CachedResponse(
            status: .partialContent,
            headers: headers,
            body: Data(body.dropFirst(bounds.lowerBound).prefix(bounds.count)),
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }

    private static let ofContent: Set<HTTPField.Name> = [
        .contentEncoding, .contentLength, .contentRange, .contentType,
    ]
}

/// The one range of bytes that a request asks for (RFC 9110, 14.1.2).
struct PartialRange: Sendable, Hashable {
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

    /// Returns the positions in a content of that size; `nil` if it has none of them.
    func bounds(in count: Int) -> Range<Int>? {
        let start = first ?? max(0, count - (last ?? 0))
        let end = first == nil ? count : min(last ?? count - 1, count - 1) + 1
        return start < end ? start..<end : nil
    }
}

extension HTTPHeaders {
    /// The fields that may be kept: not those of the connection (RFC 9111, 3.1), and no secrets.
    ///
    /// A `Set-Cookie` or a token was for one answer; whoever gets it again would go back to an old one. What only sounds
    /// like a secret is kept: with a `Continuation-Token`, say, the answer would lose its next page.
    fileprivate var keepable: HTTPHeaders {
        guard contains(where: { $0.name.isKnownSecret || isAboutConnection($0.name) }) else { return self }
        return HTTPHeaders(filter { !$0.name.isKnownSecret && !isAboutConnection($0.name) })
    }

    fileprivate func isAboutConnection(_ name: HTTPField.Name) -> Bool {
        if Self.ofConnections.contains(name) { return true }
        guard let listed = self[.connection] else { return false }
        return FieldScanner.elements(of: listed).contains { $0.equalsIgnoringASCIICase(name.rawValue) }
    }

    private static let ofConnections: Set<HTTPField.Name> = [
        .connection, .keepAlive, .proxyAuthenticate, .proxyAuthenticationInfo, .proxyAuthorization, .te, .trailer,
        .transferEncoding, .upgrade, "Proxy-Connection",
    ]
}
