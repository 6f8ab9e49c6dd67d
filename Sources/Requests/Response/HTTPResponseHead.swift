// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The head of a response: its status and its headers.
///
/// The headers are parsed only when they are asked for, since most callers want nothing but the status and the content.
public struct HTTPResponseHead: Sendable {
    /// The status.
    public let status: HTTPStatus
    /// The address that answered.
    public let url: URL?
    private let source: Source

    private enum Source: Sendable {
        case fields(HTTPHeaders)
        case foundation(HTTPURLResponse)
        case raw([UInt8])
    }

    /// Makes a head of its parts.
    public init(status: HTTPStatus, headers: HTTPHeaders = [], url: URL? = nil) {
        self.status = status
        self.url = url
        source = .fields(headers)
    }

    /// Makes a head of Foundation's response.
    public init(_ response: HTTPURLResponse) {
        status = HTTPStatus(response.statusCode)
        url = response.url
        source = .foundation(response)
    }

    /// Makes a head of its bytes, from the status line to the empty line; they are parsed when the headers are asked
    /// for.
    init(status: HTTPStatus, raw: [UInt8], url: URL) {
        self.status = status
        self.url = url
        source = .raw(raw)
    }

    /// The header fields.
    ///
    /// - Complexity: O(n) in the size of the head, unless it was made of fields: keep them rather than ask again.
    public var headers: HTTPHeaders {
        switch source {
        case .fields(let headers): headers
        case .foundation(let response): HTTPHeaders(response)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes)
        }
    }

    /// How many bytes the head had on its way, as far as that can be told: nil where Foundation parsed it.
    ///
    /// Of fields without their bytes, it is what HTTP/1.1 would take for them, without the status line.
    var size: Int? {
        switch source {
        case .fields(let headers): headers.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 4 }
        case .foundation: nil
        case .raw(let bytes): bytes.count
        }
    }

    /// The value of one header field, for callers who want just that one.
    public subscript(name: HTTPField.Name) -> String? {
        switch source {
        case .fields(let headers): headers[name]
        case .foundation(let response): response.value(forHTTPHeaderField: name.rawValue)
        case .raw(let bytes): HTTPHeaders(rawHead: bytes, only: name)[name]
        }
    }

    /// The values of all header fields of one name, for callers who want just these.
    subscript(values name: HTTPField.Name) -> [String] {
        switch source {
        case .fields(let headers): headers[values: name]
        case .foundation(let response): HTTPHeaders(response, only: name)[values: name]
        case .raw(let bytes): HTTPHeaders(rawHead: bytes, only: name)[values: name]
        }
    }

    /// The head as Foundation's response, for code that wants one; made when asked, nil where there is no address.
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
    /// A mirror of the status, the address as the description shows it, and the fields without secret values.
    public var customMirror: Mirror {
        let address = url?.redactedDescription as Any
        return Mirror(self, children: ["status": status, "url": address, "headers": headers])
    }
}

extension HTTPResponseHead: CustomStringConvertible {
    /// The status and the address that answered, without credentials and query: nothing in it is a secret.
    public var description: String {
        url.map { "\(status) from \($0.redactedDescription)" } ?? "\(status)"
    }
}

// MARK: - Links

extension HTTPResponseHead {
    /// The links in the header, in their order (RFC 8288).
    ///
    /// - Complexity: O(n) in the size of the head.
    public var links: [HTTPLink] { HTTPLink.parse(self[values: .link], of: url) }

    /// The address of the first link of a kind; `nil` without one, or if it isn't one of `http` or `https`.
    ///
    /// Links of other resources, which their `anchor` names, don't count.
    ///
    /// - Parameter relation: The kind, such as `next`, in whatever case.
    /// - Returns: The address, without its user and password.
    /// - Complexity: O(n) in the size of the head.
    public func link(_ relation: String) -> URL? {
        links.first { $0.isOfResponse && $0.relations.contains(relation.lowercasedASCII) }?.url
    }
}

// MARK: - File name

extension HTTPResponseHead {
    /// The name under which the content may be kept in a folder.
    ///
    /// It is that of `Content-Disposition`, or else the last component of the address, or else `download`. It is safe:
    /// one component that isn't hidden, without separators, control characters and names that a system keeps for
    /// itself, of 255 bytes at most. Whether there is a file of that name already is another question.
    ///
    /// - Complexity: O(n) in the size of the head.
    public var suggestedFileName: String {
        let disposition = self[.contentDisposition].flatMap { ContentDisposition(parsing: $0) }
        return FileName.safe(disposition?.fileName, url: url)
    }
}

extension HTTPResponseHead {
    /// The number of bytes there will be, with those that are there; nil if it isn't known.
    func totalLength(behind offset: Int64) -> Int64? {
        guard !headers.isEncoded else { return nil }
        // What is there already comes before the content.
        if offset > 0, let range = headers[.contentRange] { return ContentRange(parsing: range)?.total }
        return headers.exactLength
    }
}
