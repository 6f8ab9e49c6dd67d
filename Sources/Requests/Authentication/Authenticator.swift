// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A type that applies credentials to requests, and gets new credentials.
///
/// Use an authenticator for credentials that expire, such as OAuth tokens and login sessions. For other credentials, an
/// ``AuthenticationProvider`` is sufficient.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     func apply(_ token: Token, to request: inout HTTPRequest) {
///         request.headers.set(.authorization(.bearer(token.access)))
///     }
///     func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
///         guard let token else { throw NotLoggedIn() }
///         return try await client.fetch(Post<Token>("token").body(.form(["refresh_token": token.refresh])))
///     }
/// }
/// environment.interceptors.append(AuthenticationInterceptor(TokenAuthenticator(), credential: saved))
/// ```
///
/// A client retains its environment, which retains the authenticator. So an authenticator that retained its client
/// would create a retain cycle. Instead, it receives a ``RefreshClient`` for each refresh.
///
/// Methods may be called from several threads simultaneously. The exception is ``refresh(_:using:)``, which an
/// ``AuthenticationInterceptor`` never calls concurrently.
public protocol Authenticator<Credential>: Sendable {
    /// The value that authenticates a request, such as a token, a pair of tokens, or a session.
    associatedtype Credential: Sendable

    /// Applies the credential to a request: in a header field, in the query, or by a signature.
    ///
    /// Header fields that this method changes become secrets. They don't appear in descriptions, and aren't sent to
    /// another origin. By default, this method calls ``apply(_:to:)``, which is sufficient if you only need the
    /// request.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - request: The request.
    ///   - context: Information about the operation, such as its ``InterceptorChain/Context/userInfo``.
    /// - Throws: An error that keeps the request from being sent, such as a missing permission. The operation fails
    ///   with this error.
    func apply(_ credential: Credential, to request: inout HTTPRequest, context: InterceptorChain.Context) throws

    /// Applies the credential to a request; implement this method or ``apply(_:to:context:)``, which takes precedence.
    ///
    /// - Throws: An error that keeps the request from being sent. The operation fails with this error.
    func apply(_ credential: Credential, to request: inout HTTPRequest) throws

    /// Gets a new credential, using the client of the request that waits for it.
    ///
    /// Cancelling a request doesn't cancel the refresh. The refresh is limited by the interceptor's timeout, by the
    /// timeouts of the requests that it sends, and by the environment's deadline. By default, this method calls
    /// ``refresh(_:)``, which is meant for an authenticator that sends requests in another way.
    ///
    /// - Parameters:
    ///   - credential: The credential that has expired or was rejected. `nil` means that there is no credential yet,
    ///     and that a login is needed.
    ///   - client: Sends requests that bypass the interceptor and the queue's limit.
    /// - Returns: The new credential.
    /// - Throws: The reason why the refresh failed. All waiting requests fail with the code `authenticationFailed`, and
    ///   with this error as their underlying error.
    func refresh(_ credential: Credential?, using client: RefreshClient) async throws -> Credential

    /// Gets a new credential; implement this method or ``refresh(_:using:)``, which takes precedence.
    ///
    /// This method, and tasks that it starts, may send requests with the client that needs the credential, because the
    /// interceptor doesn't change requests that belong to the refresh. It can't recognize such requests if they are
    /// created elsewhere, for example on a dispatch queue.
    ///
    /// Cancelling a request doesn't cancel the refresh; the interceptor's timeout does.
    ///
    /// - Parameter credential: The credential that has expired or was rejected. `nil` means that there is no credential
    ///   yet, and that a login is needed.
    /// - Returns: The new credential.
    /// - Throws: The reason why the refresh failed. All waiting requests fail with the code `authenticationFailed`, and
    ///   with this error as their underlying error.
    func refresh(_ credential: Credential?) async throws -> Credential

    /// Returns whether a credential has expired, or is about to expire, and therefore shouldn't be sent.
    ///
    /// By default, this method returns `false`, so a credential is refreshed only after a rejection. If a request has
    /// waited for a refresh, this method isn't called again for the new credential.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Returns whether a failure means that the credential was rejected; by default, whether the status is 401.
    ///
    /// This method isn't called for statuses that the request accepts.
    func isRejection(_ error: RequestError) -> Bool

    /// Returns whether a refresh error means that the credential can no longer be renewed; by default, whether the
    /// status is 401 or the content contains the OAuth error `invalid_grant` (RFC 6749, 5.2).
    ///
    /// Other OAuth errors, such as `invalid_client`, concern the application and aren't refusals.
    ///
    /// After a refusal, the interceptor removes the credential, and the next refresh gets `nil`. After any other error,
    /// such as a lost connection, the next request tries to refresh the same credential again.
    func isRefusal(_ error: any Error) -> Bool
}

extension Authenticator {
    /// Calls ``apply(_:to:)``.
    public func apply(_ credential: Credential, to request: inout HTTPRequest, context: InterceptorChain.Context) throws
    {
        try apply(credential, to: &request)
    }

    /// Throws a ``RequestError`` with the code `unsupported`, because neither `apply` method is implemented.
    public func apply(_ credential: Credential, to request: inout HTTPRequest) throws {
        throw RequestError(.unsupported, phase: .building, reason: "\(Self.self) must implement `apply(_:to:)`")
    }

    /// Calls ``refresh(_:)``.
    public func refresh(_ credential: Credential?, using client: RefreshClient) async throws -> Credential {
        try await refresh(credential)
    }

    /// Throws a ``RequestError`` with the code `unsupported`, because neither `refresh` method is implemented.
    public func refresh(_ credential: Credential?) async throws -> Credential {
        throw RequestError(.unsupported, phase: .building, reason: "\(Self.self) must implement `refresh(_:)`")
    }

    /// Returns `false`, so a credential is refreshed only after a rejection.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// Returns whether the status is 401.
    public func isRejection(_ error: RequestError) -> Bool {
        error.code == .unacceptableStatus && error.response?.status == .unauthorized
    }

    /// Returns whether the status is 401, or the OAuth error is `invalid_grant`.
    public func isRefusal(_ error: any Error) -> Bool { (error as? RequestError)?.isRefusalOfCredential ?? false }
}
