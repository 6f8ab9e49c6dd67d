// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends the requests for refreshing a credential.
///
/// It uses the transport and the environment of the request that needs the refresh, so an authenticator needs neither a
/// client of its own nor a reference to its client. The waiting interceptor doesn't change these requests. They take no
/// place in a queue: the waiting requests may have all of them.
///
/// ```swift
/// func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
///     guard let token else { throw NotLoggedIn() }
///     return try await client.fetch(Post<Token>("token").body(.form(["refresh_token": token.refresh])))
/// }
/// ```
///
/// It is valid for one refresh only: don't store it.
public struct RefreshClient: Sendable {
    private let body: @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>

    /// Makes a client of a closure, for tests of an authenticator.
    public init(_ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse<Data>) {
        body = send
    }

    /// Sends a request, and waits for its response.
    ///
    /// Interceptors, validators and retries of the environment apply. Cancelling the task cancels the request.
    ///
    /// - Parameter request: The request; a relative address is appended to the base URL.
    /// - Returns: The response; one whose status isn't among 200 to 299 is an error.
    /// - Throws: ``RequestError`` if there is no good response.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await body(request)
    }
}

extension RefreshClient {
    /// The limit of refreshes in a time, beyond which they are an error.
    ///
    /// Otherwise a server that rejects each new credential would be asked for another by one request after the other,
    /// without end.
    public struct Window: Sendable, Hashable {
        /// The maximum number of refreshes that begin within the duration.
        public let limit: Int
        /// The time for which a refresh counts.
        public let duration: Duration

        /// Makes a window.
        ///
        /// - Parameters:
        ///   - limit: The maximum number of refreshes that begin within the duration, failed ones included; at least
        ///     one.
        ///   - duration: The time for which a refresh counts.
        public init(limit: Int, duration: Duration) {
            self.limit = max(1, limit)
            self.duration = duration
        }

        /// Five refreshes in thirty seconds.
        public static let `default` = Window(limit: 5, duration: .seconds(30))
    }
}
