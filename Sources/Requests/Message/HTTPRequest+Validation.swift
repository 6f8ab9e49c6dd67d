// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPRequest {
    /// Validates all parts of the request before it is sent.
    ///
    /// Foundation silently drops some invalid parts and sends others unchanged, so a line break in a name or method
    /// could inject a header field. This method checks every part, once per attempt, and throws an error if a part is
    /// invalid.
    ///
    /// A user and a password in the URL are moved to an `Authorization` field, because URLs end up in logs and in
    /// `Referer`. They take precedence over the environment's field, but not over a field or authentication provider of
    /// the request itself. Credentials in a base URL come last, after the environment's. A `Content-Length` that equals
    /// the length of the body is removed, because the transport writes its own.
    ///
    /// - Throws: ``InvalidValue`` for the first invalid part.
    /// - Complexity: O(n) in the bytes of the head.
    mutating func validate() throws(InvalidValue) {
        guard method.rawValue.isToken else {
            throw InvalidValue(.method, "is empty or contains an invalid character", excerpt: method.rawValue)
        }
        // CONNECT requests a tunnel from a proxy, so only a transport can use it (RFC 9110, 9.3.6).
        guard method != .connect else {
            throw InvalidValue(.method, "is only for proxies; set a proxy instead", excerpt: method.rawValue)
        }
        // A TRACE request must not have content (RFC 9110, 9.3.8).
        guard method != .trace || body.isEmpty else { throw InvalidValue(.body, "can't be sent with TRACE") }
        try validateURL()
        for field in headers { try field.validate() }
        try validateFraming()
    }

    private mutating func validateURL() throws(InvalidValue) {
        let url = url
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw InvalidValue(.url, "must have the scheme http or https", excerpt: url.redactedDescription)
        }
        guard let host = url.wireHost, !host.isEmpty else {
            throw InvalidValue(.url, "has no host", excerpt: url.redactedDescription)
        }
        // Parsers disagree about "%2F" in a host: some read it as the start of the path, others as part of the name.
        guard !host.utf8.contains(UInt8(ascii: "%")) || host.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidValue(.url, "has a percent-encoded character in its host", excerpt: host)
        }
        guard url.port.map((0...65_535).contains) ?? true else {
            throw InvalidValue(.url, "has a port out of range (0–65535)", excerpt: url.redactedDescription)
        }
        if let host = headers[.host], !host.isHost {
            throw InvalidValue(in: .host, "has an invalid host or port", excerpt: host)
        }
        try moveCredentialsToHeader()
    }

    /// Moves the user and password from the URL to an `Authorization` field, unless the request already has one.
    mutating func moveCredentialsToHeader() throws(InvalidValue) {
        let url = fields.address.url
        guard url.user(percentEncoded: true) != nil || url.password(percentEncoded: true) != nil else { return }
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        guard let bare = components?.url else { throw InvalidValue(.url, "has credentials that can't be removed") }
        fields.address = .url(bare)
        guard !headers.contains(.authorization) else { return }
        headers.set(.authorization(try Authorization.basic(username: user, password: password).validated()))
    }

    /// Rejects fields that frame the message.
    ///
    /// Only the transport declares the length, because contradictory lengths enable request smuggling.
    private mutating func validateFraming() throws(InvalidValue) {
        guard !headers.contains(.transferEncoding) else {
            throw InvalidValue(
                .headerName,
                "can't be set, because the transport frames the body",
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
            return  // The file's length is read when it is sent, and used instead.
        default:
            if Int64(declared) == body.length { return }
        }
        throw InvalidValue(in: .contentLength, "declares the wrong length for the body", excerpt: declared)
    }
}

extension HTTPField {
    /// Validates the field.
    ///
    /// - Parameter location: Where the field is, for the error message, such as `of a part `.
    /// - Throws: ``InvalidValue`` for a typed value that can't be sent, and for a name or a value that would end the
    ///   line or the field early.
    func validate(_ location: String = "") throws(InvalidValue) {
        if let flaw { throw flaw }
        guard name.rawValue.isToken else {
            let reason = "\(location)is empty or contains an invalid character"
            throw InvalidValue(.headerName, reason, excerpt: name.rawValue)
        }
        guard hasValidValue else {
            throw InvalidValue(in: name, "\(location)contains a control character")
        }
    }
}

extension String {
    /// Whether the string can be a host with an optional port.
    ///
    /// Escapes are allowed only in the zone of an IPv6 address.
    fileprivate var isHost: Bool {
        !isEmpty && ASCIISet.host.containsAll(self)
            && (!utf8.contains(UInt8(ascii: "%")) || utf8.first == UInt8(ascii: "["))
    }
}
