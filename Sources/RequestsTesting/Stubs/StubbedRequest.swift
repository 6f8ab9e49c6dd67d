// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// A request as an ``HTTPStubber`` received it, with its content in memory.
///
/// Matchers and a stub's closure get it, and ``HTTPStubber/requests`` keeps it. Data, files and streams are read to
/// their end before any matching, so a test always finds the content here.
public struct StubbedRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The address, absolute.
    public var url: URL
    /// The header fields.
    public var headers: HTTPHeaders
    /// The content; empty if the request has no content, or if ``isBodyHidden``.
    public var body: Data
    /// Whether there may be content that can't be read.
    ///
    /// This is so for upload tasks of `URLSession` on Linux, which hide their content from a `URLProtocol`.
    public var isBodyHidden: Bool
    /// The values that the stub's URI template found in the address; empty without a template.
    public var variables: [String: URITemplate.Value]

    /// Makes a request, to test your own matcher.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - method: The method; `GET` by default.
    ///   - headers: The header fields; none by default.
    ///   - body: The content; none by default.
    public init(url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [], body: Data = Data()) {
        (self.url, self.method, self.headers, self.body) = (url, method, headers, body)
        isBodyHidden = false
        variables = [:]
    }

    /// The value of a variable of the stub's URI template; `nil` if the address omits it.
    public subscript(variable: String) -> String? {
        guard case .string(let value)? = variables[variable] else { return nil }
        return value
    }

    /// The path, percent-encoded as in the address; `/` if it is empty.
    public var path: String { AddressPieces(url).path }

    /// The parameters of the address, in their order.
    public var query: Query { Query(percentEncoded: AddressPieces(url).query ?? "") }

    /// The content as text; invalid UTF-8 becomes U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as the items of a form, `application/x-www-form-urlencoded`.
    public var form: Query { Query(percentEncoded: text, spaces: .plus) }

    /// The content, decoded from JSON.
    ///
    /// - Throws: The error of the decoder, usually a `DecodingError`.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}

extension StubbedRequest: CustomStringConvertible {
    /// The method and the address, without credentials, secret parts of the path and the values of the query, which may
    /// be secrets.
    public var description: String {
        var pieces = AddressPieces(url)
        pieces.path = Redaction.address(pieces.path)
        pieces.query = pieces.query.map { Query(percentEncoded: $0).description }
        return "\(method.rawValue.shortened(to: 16)) \(pieces.text.shortened(to: 256))"
    }
}

extension StubbedRequest: CustomReflectable {
    /// A mirror of the description, with the fields and the byte count of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "bodySize": body.count])
    }
}

// MARK: - Reading

extension StubbedRequest {
    /// Makes the request without its content.
    init(_ request: TransportRequest) {
        self.init(url: request.url, method: request.method, headers: request.headers)
    }

    /// Reads the content of a request to its end; returns `nil` if the transfer was cancelled meanwhile.
    ///
    /// Files and streams are read on a thread that may block, since another task may still be writing to a stream.
    ///
    /// - Throws: The error of a body that can't be encoded, opened or read.
    static func reading(_ request: TransportRequest, for transfer: StubTransfer) async throws -> StubbedRequest? {
        var result = StubbedRequest(request)
        switch try request.body.resolved().content {
        case .none: break
        case .data(let data): result.body = data
        case .file(let url): result.body = try await onThread { try Data(contentsOf: url) }
        case .stream(let stream):
            guard let body = try await onThread({ try stream.read(while: { transfer.isRunning }) }) else { return nil }
            result.body = body
        }
        return result
    }

    private static func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }
}

extension BodyStream {
    /// Reads the stream to its end; returns `nil` if the condition no longer holds.
    ///
    /// - Throws: The error of opening or reading the stream.
    fileprivate func read(while isWanted: () -> Bool) throws -> Data? {
        let stream = try open()
        stream.open()
        defer { stream.close() }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while isWanted() {
            let count = stream.read(&buffer, maxLength: buffer.count)
            if count > 0 {
                data.append(contentsOf: buffer[..<count])
            } else if count == 0 {
                return data
            } else {
                throw stream.streamError ?? RequestError(.encoding, phase: .building, reason: "the body can't be read")
            }
        }
        return nil
    }
}
