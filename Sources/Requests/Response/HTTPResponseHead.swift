// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The head of a response: its status and its headers.
///
/// The headers are parsed at their first use, since most callers need only the status and the content.
public struct HTTPResponseHead: Sendable {
    /// The status.
    public let status: HTTPStatus
    /// The address of the responding resource.
    public let url: URL?
    private let source: Source

    private enum Source: Sendable {
        case fields(HTTPHeaders)
        case foundation(HTTPURLResponse)
        case raw([UInt8])
    }

    /// Makes a head from its parts.
    public init(status: HTTPStatus, headers: HTTPHeaders = [], url: URL? = nil) {
        self.status = status
        self.url = url
        source = .fields(headers)
    }

    /// Makes a head from Foundation's response.
    public init(_ response: HTTPURLResponse) {
        status = HTTPStatus(response.statusCode)
        url = response.url
        source = .foundation(response)
    }

    /// Makes a head from its bytes, from the status line to the empty line; they are parsed when the headers are used.
    init(status: HTTPStatus, raw: [UInt8], url: URL) {
        self.status = status
        self.url = url
        source = .raw(raw)
    }

    /// The header fields.
    ///
    /// - Complexity: O(n) in the size of the head, unless it was made of fields: store them if you need them
    ///   repeatedly.
    public var headers: HTTPHeaders {
        switch source {
        case .fields(let headers): headers
        case .foundation(let response): HTTPHeaders(response)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes)
        }
    }

    /// Whether the head was received with the version 1.0 of HTTP; false if Foundation parsed it.
    var isHTTP10: Bool {
        if case .raw(let bytes) = source { bytes.starts(with: Array("HTTP/1.0".utf8)) } else { false }
    }

    /// The byte count of the received head, if it is known: `nil` if Foundation parsed it.
    ///
    /// For fields without their bytes, it is their size in HTTP/1.1, without the status line.
    var size: Int? {
        switch source {
        case .fields(let headers): headers.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 }
        case .foundation: nil
        case .raw(let bytes): bytes.count
        }
    }

    /// The value of one header field, without parsing the others.
    public subscript(name: HTTPField.Name) -> String? { headers(only: name)[name] }

    /// The values of all header fields of one name, without parsing the others.
    package subscript(values name: HTTPField.Name) -> [String] { headers(only: name)[values: name] }

    /// The header fields of one name at least.
    private func headers(only name: HTTPField.Name) -> HTTPHeaders {
        switch source {
        case .fields(let headers): headers
        case .foundation(let response): HTTPHeaders(response, only: name)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes, only: name)
        }
    }

    /// The head as Foundation's response, made at each access; `nil` if there is no address.
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
    /// A mirror of the status, the redacted address, and the fields without secret values.
    public var customMirror: Mirror {
        let address = url?.redactedDescription as Any
        return Mirror(self, children: ["status": status, "url": address, "headers": headers])
    }
}

extension HTTPResponseHead: CustomStringConvertible {
    /// The status and the address, without credentials and query: it has no secrets.
    public var description: String {
        url.map { "\(status) from \($0.redactedDescription)" } ?? "\(status)"
    }
}

extension HTTPResponseHead {
    /// The byte count of the whole, including the bytes that are already present; `nil` if it isn't known.
    func totalLength(after offset: Int64) -> Int64? {
        guard !headers.isEncoded else { return nil }
        // The present bytes precede the content.
        if offset > 0, let range = headers[.contentRange] { return HTTPField.ContentRange(parsing: range)?.total }
        return headers.exactLength
    }
}

extension HTTPResponseHead {
    /// The error of a part that nobody asked for: it isn't the whole, even if it looks like it (RFC 9110, 15.3.7).
    func unrequestedPartError(of request: HTTPRequest) -> RequestError? {
        guard status == .partialContent, request.method == .get, !request.headers.contains(.range) else { return nil }
        let reason = "the server sent a part where it was asked for the whole"
        return RequestError(.badResponse, phase: .receiving, reason: reason)
    }
}
