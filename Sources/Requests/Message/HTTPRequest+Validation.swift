// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Checks every piece of the request before it is sent.
    ///
    /// Foundation drops some bad pieces silently and sends others as they are, where a line break in a name or a method
    /// becomes a header of an attacker's. Here every piece is checked, once for every attempt, and a bad one throws.
    ///
    /// A user and a password in the address become an `Authorization` field, since addresses end up in logs and in
    /// `Referer`. They count as the request's own field would: they go before that of the environment, and behind a
    /// field and an authentication of the request itself. Those of a base URL go behind the environment's. A
    /// `Content-Length` that equals the length of the body is dropped, because the transport writes its own.
    ///
    /// - Throws: ``InvalidRequest``.
    /// - Complexity: O(n) in the bytes of the head.
    mutating func validate() throws(InvalidRequest) {
        guard method.rawValue.isToken else {
            throw InvalidRequest(.method, "is empty or has a character that isn't allowed", excerpt: method.rawValue)
        }
        // RFC 9110, 9.3.6: it asks a proxy for a tunnel, which only a transport can use.
        guard method != .connect else {
            throw InvalidRequest(.method, "is for proxies only; set a proxy instead", excerpt: method.rawValue)
        }
        // RFC 9110, 9.3.8.
        guard method != .trace || body.isEmpty else { throw InvalidRequest(.body, "can't be sent with TRACE") }
        try validateURL()
        for field in headers { try field.validate() }
        try validateFraming()
    }

    private mutating func validateURL() throws(InvalidRequest) {
        let url = url
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw InvalidRequest(.url, "isn't an http or https address", excerpt: url.redactedDescription)
        }
        guard let host = url.wireHost, !host.isEmpty else {
            throw InvalidRequest(.url, "has no host", excerpt: url.redactedDescription)
        }
        // "%2F" in a host is read as a path by one parser and as a name by the next.
        guard !host.utf8.contains(UInt8(ascii: "%")) || host.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidRequest(.url, "has an escaped character in its host", excerpt: host)
        }
        guard url.port.map((0...65_535).contains) ?? true else {
            throw InvalidRequest(.url, "has a port out of range (0–65535)", excerpt: url.redactedDescription)
        }
        if let host = headers[.host], !host.isHost {
            throw InvalidRequest(.headerValue, "of Host isn't a host and a port", excerpt: host)
        }
        try moveCredentialsToHeader()
    }

    /// Makes an `Authorization` field of a user and a password in the address, unless there is such a field.
    mutating func moveCredentialsToHeader() throws(InvalidRequest) {
        let url = url
        guard url.user(percentEncoded: true) != nil || url.password(percentEncoded: true) != nil else { return }
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        guard let bare = components?.url else { throw InvalidRequest(.url, "has credentials that can't be taken out") }
        self.url = bare
        guard !headers.contains(.authorization) else { return }
        headers.set(.authorization(try Authorization.basic(username: user, password: password).validated()))
    }

    /// The transport alone says how long the message is: two opinions about that are how requests are smuggled.
    private mutating func validateFraming() throws(InvalidRequest) {
        guard !headers.contains(.transferEncoding) else {
            throw InvalidRequest(
                .headerName,
                "can't be set: the transport frames the body",
                excerpt: "Transfer-Encoding"
            )
        }
        guard let declared = headers[.contentLength] else { return }
        headers.remove(.contentLength)
        switch body.content {
        case .stream(let stream) where stream.length == nil:
            guard let length = Int64(declared), length >= 0 else { break }
            body = body.declaring(length: length)
            return
        case .file:
            return  // The file's own length is read when it is sent, and counts.
        default:
            if Int64(declared) == body.length { return }
        }
        throw InvalidRequest(.headerValue, "of Content-Length isn't the length of the body", excerpt: declared)
    }
}

extension HTTPField {
    /// Checks the field.
    ///
    /// - Parameter place: The place of the field for the error, such as `of a part `.
    /// - Throws: ``InvalidRequest`` for a typed value that can't be sent, and for a name or a value that would end the
    ///   line or the field early.
    func validate(_ place: String = "") throws(InvalidRequest) {
        if let flaw { throw flaw }
        guard name.rawValue.isToken else {
            let reason = "\(place)is empty or has a character that isn't allowed"
            throw InvalidRequest(.headerName, reason, excerpt: name.rawValue)
        }
        guard hasValidValue else { throw InvalidRequest(.headerValue, "of \(name) \(place)has a control character") }
    }
}

extension String {
    /// Whether the text may be a host with its port: it isn't empty, and escapes nothing but the zone of an address.
    fileprivate var isHost: Bool {
        !isEmpty && ASCIISet.host.containsAll(self)
            && (!utf8.contains(UInt8(ascii: "%")) || utf8.first == UInt8(ascii: "["))
    }
}

/// The reason why a request can't be sent: the invalid piece, and what is wrong with it.
///
/// It arrives as the underlying error of a ``RequestError`` whose code is `invalidRequest`.
public struct InvalidRequest: DescribedError, Sendable, Hashable {
    /// A piece of a request.
    public enum Piece: String, Sendable, Hashable {
        /// The method.
        case method
        /// The address.
        case url = "URL"
        /// The name of a header field.
        case headerName = "header name"
        /// The value of a header field.
        case headerValue = "header value"
        /// The media type of the content, or one that is accepted.
        case mediaType = "media type"
        /// A value for the query, or for the fields of a form.
        case query
        /// The content.
        case body
        /// The boundary between the parts of a multipart body.
        case boundary
        /// The name of a part of a multipart body.
        case partName = "part name"
        /// The file name of a part of a multipart body.
        case fileName = "file name"
    }

    /// The invalid piece.
    public let piece: Piece
    /// The reason.
    public let reason: String
    /// The beginning of the piece, with control characters escaped; never a header's value, which may be a secret.
    public let excerpt: String

    /// Makes the error; the excerpt is shortened here, and of an address it is without credentials, query and the like.
    public init(_ piece: Piece, _ reason: String, excerpt: String = "") {
        self.piece = piece
        self.reason = reason
        self.excerpt = (piece == .url ? excerpt.bareAddress : excerpt).shortened()
    }

    /// The error, in a sentence.
    public var description: String {
        "the \(piece.rawValue)\(excerpt.isEmpty ? "" : " “\(excerpt)”") \(reason)"
    }
}
