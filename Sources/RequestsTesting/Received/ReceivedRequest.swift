// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request as an ``InMemoryTransport``, an ``HTTPStubber``, a ``MockServer`` or an ``ExchangeRecorder`` received it,
/// with its content in memory.
///
/// ```swift
/// let order = try server.requests.expect(.post, "/orders/{number}")
/// #expect(order["number"] == "7")
/// #expect(order.text == "eggs")
/// ```
///
/// The last properties are those of a connection: only a ``MockServer`` sets them.
public struct ReceivedRequest: Sendable {
    private enum Address: Sendable {
        case url(URL)
        case target(String)
    }

    /// The method.
    public var method: HTTPMethod
    private var address: Address
    /// The header fields in their order, including repeated ones.
    public var headers: HTTPHeaders
    /// The content without its framing; empty if there is none, if ``isBodyHidden``, or if the response was
    /// ``StubResponse/early``.
    public var body: Data
    /// Whether there may be content that can't be read.
    ///
    /// This is so for upload tasks of `URLSession` on Linux, which hide their content from a `URLProtocol`.
    public var isBodyHidden = false
    /// The values that the URI template of the stub, the route or the expectation found in the address.
    public var variables: [String: URITemplate.Value] = [:]
    /// The request as the transport got it, with the settings that aren't sent, such as its timeout; `nil` at a server.
    ///
    /// That of an ``ExchangeRecorder`` has no body.
    public private(set) var transportRequest: TransportRequest?
    /// The version as in the request line: `HTTP/1.1`.
    public var version = "HTTP/1.1"
    /// The fields after the last chunk; empty if the body wasn't chunked.
    public var trailers: HTTPHeaders = []
    /// Every byte of the request as received, head and framing included.
    public var rawBytes = Data()
    /// The number of the connection, counted from 0: two requests with the same number shared it.
    public var connection = 0
    /// The number of the request on the server, counted from 0 in the order in which requests were complete.
    public var index = 0

    /// Makes a request, to test a condition of your own.
    ///
    /// - Parameters:
    ///   - url: The address.
    ///   - method: The method; `GET` by default.
    ///   - headers: The header fields; none by default.
    ///   - body: The content; none by default.
    public init(url: URL, method: HTTPMethod = .get, headers: HTTPHeaders = [], body: Data = Data()) {
        (self.method, self.headers, self.body) = (method, headers, body)
        address = .url(url)
    }

    init(target: String, method: HTTPMethod, headers: HTTPHeaders, body: Data) {
        (self.method, self.headers, self.body) = (method, headers, body)
        address = .target(target)
    }

    /// The address, absolute; at a server, it is made from the target and the `Host`.
    public var url: URL {
        get {
            switch address {
            case .url(let url): return url
            case .target(let target):
                let text = target.hasPrefix("/") ? "http://\(headers[.host] ?? "localhost")\(target)" : target
                return URL(lenient: text) ?? URL(fileURLWithPath: target)
            }
        }
        set { address = .url(newValue) }
    }

    /// The request target as in the request line: `/recipes/1?x=1`, or anything else that a client has sent to a
    /// server.
    public var target: String {
        switch address {
        case .target(let target): return target
        case .url(let url):
            let pieces = AddressComponents(url)
            return pieces.path + (pieces.query.map { "?\($0)" } ?? "")
        }
    }

    /// The value of a variable of the URI template; `nil` if the address omits it.
    public subscript(variable: String) -> String? {
        guard case .string(let value)? = variables[variable] else { return nil }
        return value
    }

    /// The target up to the query, percent-encoded; `/` if it is empty.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The parameters of the address, in their order.
    public var query: Query {
        Query(percentEncoded: String(target.drop { $0 != "?" }.dropFirst()))
    }

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

extension ReceivedRequest: CustomStringConvertible {
    /// The method and the address, without credentials, secret parts of the path and the values of the query, which may
    /// be secrets.
    public var description: String { "\(method.rawValue.shortened(to: 16)) \(redactedAddress.shortened(to: 256))" }

    /// The address, without credentials and the values of the query.
    var redactedAddress: String {
        var pieces = AddressComponents(url)
        pieces.path = Redaction.address(pieces.path)
        pieces.query = pieces.query.map { Query(percentEncoded: $0).description }
        return pieces.text
    }
}

extension ReceivedRequest: CustomReflectable {
    /// A mirror of the description, with the fields and the byte count of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "bodySize": body.count])
    }
}

// MARK: - Reading

extension ReceivedRequest {
    /// Makes the request without its content.
    init(_ request: TransportRequest) {
        self.init(url: request.url, method: request.method, headers: request.headers)
        transportRequest = request
    }

    /// Makes the request with its content; `nil` if that has to be read from a file or a stream first.
    ///
    /// - Throws: The error of a body that can't be encoded.
    init?(inMemory request: TransportRequest) throws {
        self.init(request)
        switch try request.body.resolved().content {
        case .none: break
        case .data(let data): body = data
        case .file, .stream: return nil
        }
    }

    /// Reads the content of a request to its end; returns `nil` if the transfer was cancelled meanwhile.
    ///
    /// - Throws: The error of a body that can't be encoded, opened or read.
    static func reading(_ request: TransportRequest, for transfer: StubTransfer) async throws -> ReceivedRequest? {
        if let received = try ReceivedRequest(inMemory: request) { return received }
        var result = ReceivedRequest(request)
        for try await chunk in try request.body.resolved().content.stream {
            guard transfer.isRunning else { return nil }
            result.body.append(chunk)
        }
        return result
    }
}
