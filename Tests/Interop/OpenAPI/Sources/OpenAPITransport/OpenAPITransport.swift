// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import HTTPTypes
import OpenAPIRuntime
import Requests

/// A transport for generated OpenAPI clients over a client of this library: both bodies are streamed.
///
/// ```swift
/// let api = Client(serverURL: try Servers.Server1.url(), transport: OpenAPITransport(client))
/// ```
///
/// The settings of the client apply, except its check of the status: the generated code decides about that. A body that
/// can be iterated several times can be sent again, by a retry or a redirect.
public struct OpenAPITransport: ClientTransport {
    private let client: Requests.HTTPClient

    /// Creates a transport that sends over a client.
    public init(_ client: Requests.HTTPClient) {
        self.client = client
    }

    /// Sends a request, and returns the response when its head was received; its body is read as it arrives.
    ///
    /// - Throws: `RequestError`, and `InvalidValue` for an address that can't be made.
    public func send(
        _ request: HTTPTypes.HTTPRequest,
        body: OpenAPIRuntime.HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var outgoing = Requests.HTTPRequest(
            url: try baseURL.appending(target: request.path ?? ""),
            method: HTTPMethod(request.method.rawValue)
        )
        for field in request.headerFields {
            outgoing.headers.add(field.value, for: Requests.HTTPField.Name(field.name.rawName))
        }
        if let body { outgoing.body = Requests.HTTPBody(body) }
        let stream = try await client.stream(outgoing.acceptingAnyStatus().tag(operationID))
        return (HTTPTypes.HTTPResponse(stream.head), OpenAPIRuntime.HTTPBody(stream))
    }
}

extension URL {
    /// Appends a path and a query, both percent-encoded.
    fileprivate func appending(target: String) throws -> URL {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        components?.percentEncodedPath += parts.first.map(String.init) ?? ""
        components?.percentEncodedQuery = parts.count > 1 ? String(parts[1]) : nil
        guard let url = components?.url else { throw URLError(.badURL) }
        return url
    }
}

extension Requests.HTTPBody {
    /// The content of a generated request; its type is a header field of the request.
    fileprivate init(_ body: OpenAPIRuntime.HTTPBody) {
        let length: Int64? = if case .known(let length) = body.length { length } else { nil }
        self =
            switch body.iterationBehavior {
            case .multiple: .stream(length: length, type: nil) { body }
            case .single: .stream(body, length: length, type: nil)
            }
    }
}

extension HTTPTypes.HTTPResponse {
    fileprivate init(_ head: HTTPResponseHead) {
        var fields = HTTPTypes.HTTPFields()
        for field in head.headers {
            guard let name = HTTPTypes.HTTPField.Name(field.name.rawValue) else { continue }
            fields.append(HTTPTypes.HTTPField(name: name, value: field.value))
        }
        self.init(status: .init(code: head.status.code), headerFields: fields)
    }
}

extension OpenAPIRuntime.HTTPBody {
    /// The content of a response, whose length is that of its decoded form only if it isn't encoded.
    fileprivate convenience init(_ stream: ResponseStream) {
        let isEncoded = stream.headers.contains(.contentEncoding)
        let length = isEncoded ? nil : stream.headers[.contentLength].flatMap { Int64($0) }
        self.init(
            stream.map { [UInt8]($0)[...] },
            length: length.map { .known($0) } ?? .unknown,
            iterationBehavior: .single
        )
    }
}
