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
    /// - Throws: ``InvalidValue``.
    /// - Complexity: O(n) in the bytes of the head.
    mutating func validate() throws(InvalidValue) {
        guard method.rawValue.isToken else {
            throw InvalidValue(.method, "is empty or has a character that isn't allowed", excerpt: method.rawValue)
        }
        // RFC 9110, 9.3.6: it asks a proxy for a tunnel, which only a transport can use.
        guard method != .connect else {
            throw InvalidValue(.method, "is for proxies only; set a proxy instead", excerpt: method.rawValue)
        }
        // RFC 9110, 9.3.8.
        guard method != .trace || body.isEmpty else { throw InvalidValue(.body, "can't be sent with TRACE") }
        try validateURL()
        for field in headers { try field.validate() }
        try validateFraming()
    }

    private mutating func validateURL() throws(InvalidValue) {
        let url = url
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw InvalidValue(.url, "isn't an http or https address", excerpt: url.redactedDescription)
        }
        guard let host = url.wireHost, !host.isEmpty else {
            throw InvalidValue(.url, "has no host", excerpt: url.redactedDescription)
        }
        // "%2F" in a host is read as a path by one parser and as a name by the next.
        guard !host.utf8.contains(UInt8(ascii: "%")) || host.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidValue(.url, "has an escaped character in its host", excerpt: host)
        }
        guard url.port.map((0...65_535).contains) ?? true else {
            throw InvalidValue(.url, "has a port out of range (0–65535)", excerpt: url.redactedDescription)
        }
        if let host = headers[.host], !host.isHost {
            throw InvalidValue(.headerValue, "of Host isn't a host and a port", excerpt: host)
        }
        try moveCredentialsToHeader()
    }

    /// Makes an `Authorization` field of a user and a password in the address, unless there is such a field.
    mutating func moveCredentialsToHeader() throws(InvalidValue) {
        let url = fields.address.url
        guard url.user(percentEncoded: true) != nil || url.password(percentEncoded: true) != nil else { return }
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        guard let bare = components?.url else { throw InvalidValue(.url, "has credentials that can't be taken out") }
        fields.address = .url(bare)
        guard !headers.contains(.authorization) else { return }
        headers.set(.authorization(try Authorization.basic(username: user, password: password).validated()))
    }

    /// The transport alone says how long the message is: two opinions about that are how requests are smuggled.
    private mutating func validateFraming() throws(InvalidValue) {
        guard !headers.contains(.transferEncoding) else {
            throw InvalidValue(
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
        throw InvalidValue(.headerValue, "of Content-Length isn't the length of the body", excerpt: declared)
    }
}

extension HTTPField {
    /// Checks the field.
    ///
    /// - Parameter location: The location of the field for the error, such as `of a part `.
    /// - Throws: ``InvalidValue`` for a typed value that can't be sent, and for a name or a value that would end the
    ///   line or the field early.
    func validate(_ location: String = "") throws(InvalidValue) {
        if let flaw { throw flaw }
        guard name.rawValue.isToken else {
            let reason = "\(location)is empty or has a character that isn't allowed"
            throw InvalidValue(.headerName, reason, excerpt: name.rawValue)
        }
        guard hasValidValue else { throw InvalidValue(.headerValue, "of \(name) \(location)has a control character") }
    }
}

extension String {
    /// Whether the text may be a host with its port: it isn't empty, and escapes nothing but the zone of an address.
    fileprivate var isHost: Bool {
        !isEmpty && ASCIISet.host.containsAll(self)
            && (!utf8.contains(UInt8(ascii: "%")) || utf8.first == UInt8(ascii: "["))
    }
}
