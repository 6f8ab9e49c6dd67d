// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Authenticates requests with a credential that expires, and refreshes it once for all requests that need it.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(), credential: saved)
/// environment.interceptors.append(authentication)
/// authentication.setCredential(nil)       // logs out
/// ```
///
/// A refresh starts when there is no credential, when the authenticator reports that the credential is about to expire,
/// or when a server rejects the credential. Requests wait for the refresh, and then continue with the new credential.
/// If a server rejects a credential that has already been replaced, the request is sent again without another refresh.
///
/// If the refresh fails, all waiting requests fail with a ``RequestError`` with the code `authenticationFailed`, whose
/// underlying error is the refresh error. A request that was sent before the failure, and is rejected afterward,
/// fails in the same way. The next request starts a new refresh.
///
/// A request causes at most one refresh. If a server rejects the credential that was fetched for the request, the
/// request fails with that rejection. If the body of a rejected request can't be sent again, only later requests
/// benefit from the refresh. The request itself fails with the rejection, and the underlying error has the code
/// `bodyNotReplayable`.
///
/// If the server refuses a refresh, the login ends and the credential becomes `nil`. The authenticator decides with
/// ``Authenticator/isRefusal(_:)`` which errors are refusals. To keep credentials between launches, store them in
/// `onChange`.
///
/// A waiting request ends immediately when it is cancelled or its deadline passes. The refresh continues for the other
/// requests.
///
/// The credential is sent only to the origin of the environment's base URL, or to the `origins` that you specify. If
/// you specify neither, a request fails before it is sent, because a URL from a response could otherwise direct the
/// credential to any server. A redirect to another origin drops the credential, and a 401 from that origin isn't a
/// rejection.
///
/// All members may be used from any thread.
public final class AuthenticationInterceptor<A: Authenticator>: RejectionHandling {
    private let authenticator: A
    let keeper: CredentialKeeper<A.Credential>
    private let origins: Set<Origin>?
    private let applies: @Sendable (HTTPRequest) -> Bool

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies credentials, and refreshes them.
    ///   - credential: The initial credential, such as a stored one. If this is `nil`, the default, the authenticator
    ///     gets a credential for the first request.
    ///   - origins: URLs of the origins that receive the credential. If this is `nil`, the default, only the origin of
    ///     the base URL receives it.
    ///   - window: The maximum number of refreshes in a period. A further refresh in that period fails with the code
    ///     `excessiveRefresh`. `nil` sets no limit.
    ///   - timeout: The maximum duration of one refresh. After that, all waiting requests fail with the code
    ///     `refreshTimedOut`. `nil` sets no limit.
    ///   - clock: The clock of the window and the timeout.
    ///   - applies: Returns whether a request to one of these origins is authenticated; by default, all requests are.
    ///     For example, exclude the login request.
    ///   - onChange: Called with each new credential after a login or a refresh, and with `nil` after a logout or a
    ///     refused refresh. It isn't called with the initial credential, nor with the result of a refresh that finishes
    ///     after a logout. Calls never overlap, and arrive in the order of the changes. Requests that wait for the
    ///     credential continue after the call, unless another call is still running. If several credentials are set
    ///     during a call, only the last of them may be reported.
    public init(
        _ authenticator: A,
        credential: A.Credential? = nil,
        origins: [URL]? = nil,
        window: RefreshClient.Window? = .default,
        timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true },
        onChange: (@Sendable (A.Credential?) -> Void)? = nil
    ) {
        self.authenticator = authenticator
        self.origins = origins.map { Set($0.map { Origin($0) }) }
        self.applies = applies
        keeper = CredentialKeeper(credential, window: window, timeout: timeout, clock: clock, onChange: onChange) {
            authenticator.isRefusal($0)
        }
    }

    /// The current credential; `nil` if there is none yet, and after a logout or a refused refresh.
    public var credential: A.Credential? { keeper.credential }

    /// Replaces the current credential after a login, or removes it for a logout.
    ///
    /// Requests that wait for a refresh continue with the new credential, and the result of that refresh is discarded.
    /// After a logout, waiting requests fail, and requests that were already sent fail if they are rejected. No request
    /// is sent again as another user. For the next request, the authenticator gets a new credential as soon as any
    /// running refresh has ended.
    public func setCredential(_ credential: A.Credential?) {
        keeper.set(credential)
    }

    /// Applies the credential, and waits for a refresh if necessary.
    ///
    /// - Throws: A ``RequestError`` with the code `authenticationFailed`, `excessiveRefresh` or `refreshTimedOut`, or
    ///   any error that the authenticator throws when it applies the credential.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        guard !keeper.isRefreshed(by: context), applies(request), try allowsCredential(for: request, in: context) else {
            return
        }
        let grant = try await keeper.grant(
            in: context,
            isStale: authenticator.needsRefresh,
            refresh: authenticator.refresh(_:using:)
        )
        let headers = request.headers
        try authenticator.apply(grant.credential, to: &request, context: context)
        request.headers.markSecrets(addedTo: headers)
        keeper.mark(&request, grant.generation)
    }

    /// Returns whether a request may carry the credential, that is, whether its origin is allowed.
    private func allowsCredential(for request: HTTPRequest, in context: InterceptorChain.Context) throws -> Bool {
        if let origins {
            return request.inherits(from: nil) && request.origin(in: context.baseURL).map(origins.contains) == true
        }
        guard context.baseURL != nil else {
            let reason = "the client has no base URL: pass `origins:` to the AuthenticationInterceptor"
            throw RequestError(.authenticationFailed, phase: .building, reason: reason)
        }
        return request.inherits(from: context.baseURL)
    }

    /// Decides whether to send a rejected request again, after waiting for another credential.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        error.followsRedirect(from: context.request) ? .pass : await handleRejection(error, context: context)
    }

    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard !keeper.isRefreshed(by: context), authenticator.isRejection(error) else { return .pass }
        return await keeper.decide(after: error, in: context, refresh: authenticator.refresh(_:using:))
    }
}

extension AuthenticationInterceptor: CustomReflectable {
    /// A mirror that shows only the authenticator's type, because its content may be secret.
    public var customMirror: Mirror { Mirror(self, children: ["authenticator": "\(A.self)"]) }
}
