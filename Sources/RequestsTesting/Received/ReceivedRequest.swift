// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request that an ``InMemoryTransport``, an ``HTTPStubber``, a ``MockServer`` or an ``ExchangeRecorder`` received,
/// with its content in memory.
///
/// ```swift
/// let order = try server.requests.expect(.post, "/orders/{number}")
/// #expect(order["number"] == "7")
/// #expect(order.text == "eggs")
/// ```
///
/// Only a ``MockServer`` sets ``version``, ``trailers``, ``rawBytes``, ``connection`` and ``index``, which describe the
/// bytes on its connections.
public struct ReceivedRequest: Sendable {
    private enum Address: Sendable {
        case url(URL)
        case target(String)
    }

    /// The method.
    public var method: HTTPMethod
    private var address: Address
    /// The header fields in order, including repeated fields.
    public var headers: HTTPHeaders
    /// The content without its framing; empty if there is none, if ``isBodyHidden`` is true, or for an
    /// ``StubResponse/early`` response.
    public var body: Data
    /// Whether the request may have content that can't be read.
    ///
    /// This is true for upload tasks of `URLSession` on Linux, which hide their content from a `URLProtocol`.
    public var isBodyHidden = false
    /// The values that the URI template of the stub, the route or the expectation extracted from the URL.
    public var variables: [String: URITemplate.Value] = [:]
    /// The request that the transport received, including settings that aren't sent, such as the timeout; `nil` on a
    /// server.
    ///
    /// An ``ExchangeRecorder`` removes its body.
    public private(set) var transportRequest: TransportRequest?
    /// The HTTP version in the request line, such as `HTTP/1.1`.
    public var version = "HTTP/1.1"
    /// The trailer fields after the last chunk; empty if the content wasn't chunked.
    public var trailers: HTTPHeaders = []
    /// All bytes of the request as received, including the head and the framing.
    public var rawBytes = Data()
    /// The index of the connection, starting at 0; requests with the same index shared a connection.
    public var connection = 0
    /// The index of the request on the server, starting at 0, in the order in which requests were completed.
    public var index = 0

    /// Creates a request, for example to test a custom condition.
    ///
    /// - Parameters:
    ///   - url: The URL.
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

    /// The absolute URL; on a server, it is built from the request target and the `Host` field.
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

    /// The request target in the request line, such as `/recipes/1?x=1`, or whatever else a client sent to a server.
    public var target: String {
        switch address {
        case .target(let target): return target
        case .url(let url):
            let components = AddressComponents(url)
            return components.path + (components.query.map { "?\($0)" } ?? "")
        }
    }

    /// The value of a variable of the URI template; `nil` if the URL omits it.
    public subscript(variable: String) -> String? {
        guard case .string(let value)? = variables[variable] else { return nil }
        return value
    }

    /// The request target without the query, percent-encoded; `/` if it is empty.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query parameters, in order.
    public var query: Query {
        Query(percentEncoded: String(target.drop { $0 != "?" }.dropFirst()))
    }

    /// The content as text; invalid UTF-8 becomes U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as the items of a form in the `application/x-www-form-urlencoded` format.
    public var form: Query { Query(percentEncoded: text, spaces: .plus) }

    /// Decodes the content from JSON.
    ///
    /// - Throws: The decoder's error, usually a `DecodingError`.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}

extension ReceivedRequest: CustomStringConvertible {
    /// The method and the URL, without parts that may be secret: credentials, secret parts of the path, and query
    /// values.
    public var description: String { "\(method.rawValue.shortened(to: 16)) \(redactedAddress.shortened(to: 256))" }

    /// The URL without credentials or query values.
    var redactedAddress: String {
        var components = AddressComponents(url)
        components.path = Redaction.address(components.path)
        components.query = components.query.map { Query(percentEncoded: $0).description }
        return components.text
    }
}

extension ReceivedRequest: CustomReflectable {
    /// A mirror with the description, the header fields, and the byte count of the content.
    public var customMirror: Mirror {
        Mirror(self, children: ["request": description, "headers": headers, "bodySize": body.count])
    }
}

// MARK: - Reading

extension ReceivedRequest {
    /// Creates a received request without its content.
    init(_ request: TransportRequest) {
        self.init(url: request.url, method: request.method, headers: request.headers)
        transportRequest = request
    }

    /// Creates a received request with its content; returns `nil` if the content must first be read from a file or a
    /// stream.
    ///
    /// - Throws: An error if the body can't be encoded.
    init?(inMemory request: TransportRequest) throws {
        self.init(request)
        switch try request.body.resolved().content {
        case .none: break
        case .data(let data): body = data
        case .file, .stream: return nil
        }
    }

    /// Reads the entire content of a request; returns `nil` if the transfer is cancelled first.
    ///
    /// - Throws: An error if the body can't be encoded, opened or read.
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
