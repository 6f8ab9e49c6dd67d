// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Knows how credentials are shown to a server, and where new ones come from.
///
/// Choose it for credentials that expire: tokens of OAuth, sessions behind a login. For those that don't, an
/// ``AuthenticationProvider`` is enough.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     func apply(_ token: Token, to request: inout HTTPRequest) {
///         request.headers.set(.authorization(.bearer(token.access)))
///     }
///     func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
///         guard let token else { throw NotLoggedIn() }
///         let form = HTTPRequest(method: .post, "token", body: .form(["refresh_token": token.refresh]))
///         return try await client.fetch(Token.self, from: form)
///     }
/// }
/// environment.interceptors.append(AuthenticationInterceptor(TokenAuthenticator(), credential: saved))
/// ```
///
/// A client holds its environment, and that the authenticator. So it doesn't hold the client that it is for: what it
/// needs of it for a refresh, it is handed as a ``RefreshClient``.
///
/// Its methods are called from several threads at once, apart from ``refresh(_:using:)``, of which an
/// ``AuthenticationInterceptor`` makes one call at a time.
public protocol Authenticator<Credential>: Sendable {
    /// What a request is authenticated with: a token, a pair of them, a session.
    associatedtype Credential: Sendable

    /// Shows the credential to the server: in a header field, in the query, or by a signature.
    ///
    /// Header fields that it changes are secrets from then on: no description shows them, and no other origin receives
    /// them.
    ///
    /// - Throws: What keeps the request from being sent. It becomes the failure of the operation.
    func apply(_ credential: Credential, to request: inout HTTPRequest) throws

    /// Gets a new credential, over the client that the request which waits for it runs on.
    ///
    /// No cancelled request cancels it: what ends it are the timeout of the interceptor, that of its requests, and the
    /// deadline of the environment. By default, ``refresh(_:)`` is called, for an authenticator that brings its own way
    /// to send requests.
    ///
    /// - Parameters:
    ///   - credential: The one that has expired or was rejected; nil where there is none yet, which asks for a login.
    ///   - client: Sends requests, past the interceptor and the bound of the queue.
    /// - Returns: The new one.
    /// - Throws: Why there is none. It is the underlying error of all requests that wait, which fail with the code
    ///   `authenticationFailed`.
    func refresh(_ credential: Credential?, using client: RefreshClient) async throws -> Credential

    /// Gets a new credential; implement this one or ``refresh(_:using:)``, which goes before it.
    ///
    /// Requests that are made in it, and in tasks that it starts, may go over the very client that waits for it: they
    /// pass the interceptor untouched. What is made elsewhere, on a dispatch queue say, doesn't.
    ///
    /// No cancelled request cancels it; the timeout of the interceptor does.
    ///
    /// - Parameter credential: The one that has expired or was rejected; nil where there is none yet, which asks for a
    ///   login.
    /// - Returns: The new one.
    /// - Throws: Why there is none. It is the underlying error of all requests that wait, which fail with the code
    ///   `authenticationFailed`.
    func refresh(_ credential: Credential?) async throws -> Credential

    /// Whether a credential has expired, or is about to, and isn't worth being sent.
    ///
    /// False by default: it is refreshed when it is rejected. A fresh credential isn't asked about by the requests that
    /// waited for it.
    func needsRefresh(_ credential: Credential) -> Bool

    /// Whether a failure says that the credential was rejected; by default, whether the status is 401.
    ///
    /// Not asked about statuses that the request accepts.
    func isRejection(_ error: RequestError) -> Bool
}

extension Authenticator {
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
}
