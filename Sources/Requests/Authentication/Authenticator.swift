// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Applies credentials to requests, and gets new ones.
///
/// Use it for credentials that expire: tokens of OAuth, sessions behind a login. For others, an
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
/// A client retains its environment, and that the authenticator. Therefore the authenticator doesn't retain its client:
/// for a refresh, it receives a ``RefreshClient``.
///
/// Its methods are called from several threads at once, except ``refresh(_:using:)``, of which an
/// ``AuthenticationInterceptor`` makes one call at a time.
public protocol Authenticator<Credential>: Sendable {
    /// The value that authenticates a request: a token, a pair of them, a session.
    associatedtype Credential: Sendable

    /// Applies the credential to a request: in a header field, in the query, or by a signature.
    ///
    /// Header fields that it changes become secrets: no description shows them, and no other origin receives them. By
    /// default, ``apply(_:to:)`` is called, for an authenticator that needs nothing but the request.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - request: The request.
    ///   - context: The facts about the operation, such as its ``InterceptorChain/Context/userInfo``.
    /// - Throws: An error that keeps the request from being sent, such as a missing permission. It becomes the failure
    ///   of the operation.
    func apply(_ credential: Credential, to request: inout HTTPRequest, context: InterceptorChain.Context) throws

    /// Applies the credential to a request; implement this one or ``apply(_:to:context:)``, which takes precedence.
    ///
    /// - Throws: An error that keeps the request from being sent. It becomes the failure of the operation.
    func apply(_ credential: Credential, to request: inout HTTPRequest) throws

    /// Gets a new credential, over the client of the request that waits for it.
    ///
    /// The cancellation of a request doesn't cancel it; it is ended by the timeout of the interceptor, that of its own
    /// requests, and the deadline of the environment. By default, ``refresh(_:)`` is called, for an authenticator that
    /// sends requests in its own way.
    ///
    /// - Parameters:
    ///   - credential: The one that has expired or was rejected; `nil` asks for a login, because there is no credential
    ///     yet.
    ///   - client: Sends requests, past the interceptor and the limit of the queue.
    /// - Returns: The new one.
    /// - Throws: The reason why it failed. It is the underlying error of all waiting requests, which fail with the code
    ///   `authenticationFailed`.
    func refresh(_ credential: Credential?, using client: RefreshClient) async throws -> Credential

    /// Gets a new credential; implement this one or ``refresh(_:using:)``, which takes precedence.
    ///
    /// Requests that are made in it, and in tasks that it starts, may use the client that waits for it: the interceptor
    /// doesn't change them. This doesn't apply to requests that are made elsewhere, for example on a dispatch queue.
    ///
    /// The cancellation of a request doesn't cancel it; the timeout of the interceptor does.
    ///
    /// - Parameter credential: The one that has expired or was rejected; `nil` asks for a login, because there is no
    ///   credential yet.
    /// - Returns: The new one.
    /// - Throws: The reason why it failed. It is the underlying error of all waiting requests, which fail with the code
    ///   `authenticationFailed`.
    func refresh(_ credential: Credential?) async throws -> Credential

    /// Whether a credential has expired, or is about to, so that it shouldn't be sent.
    ///
    /// False by default: it is refreshed when it is rejected. It isn't called for a fresh credential by the requests
    /// that waited for it.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether a failure means that the credential was rejected; by default, whether the status is 401.
    ///
    /// It isn't called for statuses that the request accepts.
    func isRejection(_ error: RequestError) -> Bool

    /// Whether the error of a refresh means that the credential can't be renewed any more; by default, whether the
    /// status is 401, or the content has the error `invalid_grant` of OAuth (RFC 6749, 5.2).
    ///
    /// Another error of OAuth, such as `invalid_client`, is about the application, and no refusal.
    ///
    /// The interceptor then forgets the credential, and the next refresh gets `nil`. After any other error, such as a
    /// lost connection, the next request tries to refresh the same credential again.
    func isRefusal(_ error: any Error) -> Bool
}

extension Authenticator {
    /// Calls ``apply(_:to:)``.
    public func apply(_ credential: Credential, to request: inout HTTPRequest, context: InterceptorChain.Context) throws
    {
        try apply(credential, to: &request)
    }

    /// Throws a ``RequestError`` of code `unsupported`: neither way to apply a credential is implemented.
    public func apply(_ credential: Credential, to request: inout HTTPRequest) throws {
        throw RequestError(.unsupported, phase: .building, reason: "\(Self.self) doesn't say how to apply a credential")
    }

    /// Calls ``refresh(_:)``.
    public func refresh(_ credential: Credential?, using client: RefreshClient) async throws -> Credential {
        try await refresh(credential)
    }

    /// Throws a ``RequestError`` of code `unsupported`: neither way to refresh is implemented.
    public func refresh(_ credential: Credential?) async throws -> Credential {
        throw RequestError(.unsupported, phase: .building, reason: "\(Self.self) doesn't say how to refresh")
    }

    /// False: a credential is refreshed when it is rejected.
    public func needsRefresh(_ credential: Credential) -> Bool { false }

    /// Whether the status is 401.
    public func isRejection(_ error: RequestError) -> Bool {
        error.code == .unacceptableStatus && error.response?.status == .unauthorized
    }

    /// Whether the status is 401, or the error of OAuth is `invalid_grant`.
    public func isRefusal(_ error: any Error) -> Bool { (error as? RequestError)?.isRefusalOfCredential ?? false }
}
