// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A client for the requests that refresh a credential.
///
/// A refresh client uses the transport and the environment of the request that needs the refresh. So an authenticator
/// needs neither a separate client nor a reference to the request's client. The waiting interceptor doesn't change the
/// requests that this client sends. They don't occupy slots of the queue, because the waiting requests may already
/// occupy all slots.
///
/// ```swift
/// func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
///     guard let token else { throw NotLoggedIn() }
///     return try await client.fetch(Post<Token>("token").body(.form(["refresh_token": token.refresh])))
/// }
/// ```
///
/// Don't store a refresh client, because it is valid for only one refresh.
public struct RefreshClient: Sendable {
    private let body: @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>

    /// Creates a client from a closure, to test an authenticator.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>) {
        body = send
    }

    /// Sends a request, and waits for its response.
    ///
    /// Interceptors, validators and retries of the environment apply. Cancelling the task cancels the request.
    ///
    /// - Parameter request: The request; a relative address is appended to the base URL.
    /// - Returns: The response. A status outside of 200 to 299 is an error.
    /// - Throws: ``RequestError`` if there is no acceptable response.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await body(request)
    }
}

extension RefreshClient {
    /// The maximum number of refreshes in a period; any further refresh is an error.
    ///
    /// Without a window, a server that rejects every new credential would cause an endless series of refreshes.
    public struct Window: Sendable, Hashable {
        /// The maximum number of refreshes that start within the duration.
        public let limit: Int
        /// The length of the period in which refreshes are counted.
        public let duration: Duration

        /// Creates a window.
        ///
        /// - Parameters:
        ///   - limit: The maximum number of refreshes, including failed ones, that start within the duration; at least
        ///     one.
        ///   - duration: The length of the period in which refreshes are counted.
        public init(limit: Int, duration: Duration) {
            self.limit = max(1, limit)
            self.duration = duration
        }

        /// Five refreshes in thirty seconds.
        public static let `default` = Window(limit: 5, duration: .seconds(30))
    }
}
