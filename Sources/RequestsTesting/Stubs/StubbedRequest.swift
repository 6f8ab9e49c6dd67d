// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// A request as an ``HTTPStubber`` received it: with its content in memory, whatever form it came in.
///
/// What matchers look at, what a stub's closure is given, and what ``HTTPStubber/requests`` keeps. Data, files and
/// streams are read to their end before anything is matched, so a test never has to ask where the content is.
public struct StubbedRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The address, absolute.
    public var url: URL
    /// The header fields.
    public var headers: HTTPHeaders
    /// The content; empty where there is none, and where ``isBodyHidden``.
    public var body: Data
    /// Whether there may be content that nobody is shown.
    ///
    /// So it is with the upload tasks of `URLSession` on Linux, which hide their content from a `URLProtocol`.
    public var isBodyHidden: Bool
    /// The values that the URI template of the stub found in the address; none without a template.
    public var variables: [String: URITemplate.Value]

    /// Makes a request, for the test of a matcher of your own.
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

    /// The value of a variable of the stub's URI template; nil where the address leaves it out.
    public subscript(variable: String) -> String? {
        guard case .string(let value)? = variables[variable] else { return nil }
        return value
    }

    /// The path, percent-encoded as it is in the address; `/` where that has none.
    public var path: String { AddressPieces(url).path }

    /// The parameters of the address, in their order.
    public var query: Query { Query(percentEncoded: AddressPieces(url).query ?? "") }

    /// The content as text; what isn't UTF-8 becomes U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as the items of a form, `application/x-www-form-urlencoded`.
    public var form: Query { Query(percentEncoded: text, spaces: .plus) }

    /// The content, decoded from JSON.
    ///
    /// - Throws: What the decoder throws, `DecodingError` above all.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}

extension StubbedRequest: CustomStringConvertible {
    /// The method and the address, without credentials, secret parameters of the path and the values of the query: these
    /// may be secrets.
    public var description: String {
        var pieces = AddressPieces(url)
        pieces.path = Redaction.address(pieces.path)
        pieces.query = pieces.query.map { Query(percentEncoded: $0).description }
        return "\(method.rawValue.shortened(to: 16)) \(pieces.text.shortened(to: 256))"
    }
}

extension StubbedRequest: CustomReflectable {
    /// A mirror of what the description says, with the fields and the size of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "bodySize": body.count])
    }
}

// MARK: - Reading

extension StubbedRequest {
    /// Takes over a request without its content.
    init(_ request: TransportRequest) {
        self.init(url: request.url, method: request.method, headers: request.headers)
    }

    /// Takes over a request, and reads its content to the end; nil where the transfer was cancelled meanwhile.
    ///
    /// Files and streams are read on a thread that may block: a stream may be one that another task is writing to.
    ///
    /// - Throws: What can't be encoded, opened or read.
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
    /// All that the stream gives; nil where the condition ceased to hold.
    ///
    /// - Throws: What opening or reading the stream throws.
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
