// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends the requests that the refresh of a credential consists of.
///
/// It sends over the transport, and with the environment, of the request that the refresh is for, so an authenticator
/// needs no client of its own, nor a reference to the one that it belongs to. The requests pass the interceptor that
/// waits for the refresh untouched, and take no place in a queue: the requests that wait may have them all.
///
/// ```swift
/// func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
///     guard let token else { throw NotLoggedIn() }
///     return try await client.fetch(Token.self, from: HTTPRequest(method: .post, "token", body: .form(token.parameters)))
/// }
/// ```
///
/// It is made for one refresh, and good for that: don't keep it.
public struct RefreshClient: Sendable {
    private let body: @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>

    /// Makes one of a closure, for tests of an authenticator.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>) {
        body = send
    }

    /// Sends a request, and waits for its response.
    ///
    /// Interceptors, validators and retries of the environment apply. Cancelling the task cancels the request.
    ///
    /// - Parameter request: What to send; a relative address is appended to the base URL.
    /// - Returns: The response; one whose status isn't among 200 to 299 is an error.
    /// - Throws: ``RequestError`` for whatever keeps a good response from coming.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await body(request)
    }

    /// Sends a request, and makes a value of the JSON that comes.
    ///
    /// - Parameters:
    ///   - type: What the content decodes to, by the decoder of the environment.
    ///   - request: What to send; a relative address is appended to the base URL.
    /// - Returns: The value.
    /// - Throws: ``RequestError`` for whatever keeps a good response from coming; what the decoder throws.
    public func fetch<Value: Decodable>(_ type: Value.Type, from request: HTTPRequest) async throws -> Value {
        try await send(request).decodeJSON(type)
    }
}

/// How often credentials may be refreshed before it is taken for a fault.
///
/// A server that rejects what it has just handed out would otherwise be asked for more without end, by one request
/// after the other.
public struct RefreshWindow: Sendable, Hashable {
    /// How many refreshes may begin within the duration.
    public let limit: Int
    /// How long a refresh counts.
    public let duration: Duration

    /// Makes a window.
    ///
    /// - Parameters:
    ///   - limit: How many refreshes may begin within the duration, failed ones included; at least one.
    ///   - duration: How long a refresh counts.
    public init(limit: Int, duration: Duration) {
        self.limit = max(1, limit)
        self.duration = duration
    }

    /// Five refreshes in thirty seconds.
    public static let `default` = RefreshWindow(limit: 5, duration: .seconds(30))
}
