// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The head of a response, with its status and its headers.
///
/// The headers are parsed lazily, because most callers need only the status and the content.
public struct HTTPResponseHead: Sendable {
    /// The status.
    public let status: HTTPStatus
    /// The URL of the resource that responded.
    public let url: URL?
    private let source: Source

    private enum Source: Sendable {
        case fields(HTTPHeaders)
        case foundation(HTTPURLResponse)
        case raw([UInt8])
    }

    /// Creates a head from its parts.
    public init(status: HTTPStatus, headers: HTTPHeaders = [], url: URL? = nil) {
        self.status = status
        self.url = url
        source = .fields(headers)
    }

    /// Creates a head from Foundation's response.
    public init(_ response: HTTPURLResponse) {
        status = HTTPStatus(response.statusCode)
        url = response.url
        source = .foundation(response)
    }

    /// Creates a head from its bytes, from the status line to the empty line.
    ///
    /// The bytes are parsed when the headers are accessed.
    init(status: HTTPStatus, raw: [UInt8], url: URL) {
        self.status = status
        self.url = url
        source = .raw(raw)
    }

    /// The header fields.
    ///
    /// - Complexity: O(n) in the size of the head, unless the head was created from fields. Store the result if you
    ///   need it repeatedly.
    public var headers: HTTPHeaders {
        switch source {
        case .fields(let headers): headers
        case .foundation(let response): HTTPHeaders(response)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes)
        }
    }

    /// Whether the response was received over HTTP/1.0; false if Foundation parsed it.
    var isHTTP10: Bool {
        if case .raw(let bytes) = source { bytes.starts(with: Array("HTTP/1.0".utf8)) } else { false }
    }

    /// The size of the received head in bytes; `nil` if Foundation parsed it.
    ///
    /// If the head was created from fields, this is their size in HTTP/1.1, without the status line.
    var size: Int? {
        switch source {
        case .fields(let headers): headers.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 }
        case .foundation: nil
        case .raw(let bytes): bytes.count
        }
    }

    /// Returns the value of one header field, without parsing the others.
    public subscript(name: HTTPField.Name) -> String? { headers(only: name)[name] }

    /// Returns the values of all header fields with the given name, without parsing the others.
    package subscript(values name: HTTPField.Name) -> [String] { headers(only: name)[values: name] }

    /// Returns headers that contain at least all fields with the given name.
    private func headers(only name: HTTPField.Name) -> HTTPHeaders {
        switch source {
        case .fields(let headers): headers
        case .foundation(let response): HTTPHeaders(response, only: name)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes, only: name)
        }
    }

    /// The head as Foundation's response, created at each access; `nil` if the URL isn't known.
    public var urlResponse: HTTPURLResponse? {
        switch source {
        case .foundation(let response):
            return response
        case .fields, .raw:
            guard let url else { return nil }
            return HTTPURLResponse(
                url: url,
                statusCode: status.code,
                httpVersion: nil,
                headerFields: headers.dictionary
            )
        }
    }
}

extension HTTPResponseHead: CustomReflectable {
    /// A mirror of the status, the redacted URL, and the fields without secret values.
    public var customMirror: Mirror {
        let address = url?.redactedDescription as Any
        return Mirror(self, children: ["status": status, "url": address, "headers": headers])
    }
}

extension HTTPResponseHead: CustomStringConvertible {
    /// The status and the URL, without credentials or query, and therefore without secrets.
    public var description: String {
        url.map { "\(status) from \($0.redactedDescription)" } ?? "\(status)"
    }
}

extension HTTPResponseHead {
    /// Returns the length of the complete content in bytes, including `offset` bytes that were received earlier; `nil`
    /// if unknown.
    func totalLength(after offset: Int64) -> Int64? {
        guard !headers.isEncoded else { return nil }
        // The response contains only the bytes from the offset, so its own length isn't the total.
        if offset > 0, let range = headers[.contentRange] { return HTTPField.ContentRange(parsing: range)?.total }
        return headers.exactLength
    }
}

extension HTTPResponseHead {
    /// Returns an error if the response is partial, but the request wasn't a range request (RFC 9110, 15.3.7).
    ///
    /// The content must not be mistaken for the complete representation, even if it looks complete.
    func unrequestedPartError(of request: HTTPRequest) -> RequestError? {
        guard status == .partialContent, request.method == .get, !request.headers.contains(.range) else { return nil }
        let reason = "the server sent a range, although none was requested"
        return RequestError(.badResponse, phase: .receiving, reason: reason)
    }
}
