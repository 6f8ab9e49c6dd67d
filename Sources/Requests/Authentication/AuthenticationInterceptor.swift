// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Authenticates requests with a credential that expires, and refreshes that once for all requests that need it.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(), credential: saved)
/// environment.interceptors.append(authentication)
/// authentication.setCredential(nil)       // logs out
/// ```
///
/// A refresh begins when the authenticator says that the credential is about to expire, when there is no credential, or
/// when a server rejects it. Requests wait meanwhile, and all continue with the new one. A late rejection of a
/// credential that has already been replaced only sends the request again. If the refresh fails, all waiting requests
/// fail with its error behind a ``RequestError`` of code `authenticationFailed`. So do requests that were sent before
/// that and are rejected after it; the next request tries a new refresh.
///
/// One request causes at most one refresh: if a server rejects the credential that was fetched for it, the rejection is
/// its failure. A request whose body can't be sent again causes a refresh for later requests, and fails itself, with
/// the rejection. The underlying error has the code `bodyNotReplayable`.
///
/// A refresh that the server refuses ends the login: the credential is `nil` from then on, and the authenticator
/// decides with ``Authenticator/isRefusal(_:)`` which errors are refusals. To keep credentials between launches, store
/// the credential in `onChange`.
///
/// A waiting request ends at once when it is cancelled or its deadline passes; the refresh continues for the others.
///
/// The credential is sent to the origin of the environment's base URL, or to those that `origins` names, and to no
/// other. Without a base URL and without `origins`, a request fails before it is sent: an address that a response
/// contains could otherwise lead the credential anywhere. A redirect to another origin drops it, and a 401 of that
/// origin isn't a rejection.
///
/// All members may be used from any thread.
public final class AuthenticationInterceptor<A: Authenticator>: RejectionHandling {
    private let authenticator: A
    let keeper: CredentialKeeper<A.Credential>
    private let origins: Set<Origin>?
    private let applies: @Sendable (HTTPRequest) -> Bool

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies credentials, and refreshes them.
    ///   - credential: The first one, such as a stored one; `nil`, the default, lets the authenticator get it for the
    ///     first request.
    ///   - origins: URLs of the origins that receive the credential; `nil`, the default, stands for that of the base
    ///     URL.
    ///   - window: The limit of refreshes in a time; one more is an error of code `excessiveRefresh`. `nil` sets no
    ///     limit.
    ///   - timeout: The maximum time of one refresh; a longer one is an error of code `refreshTimedOut` for all waiting
    ///     requests. `nil` sets no limit.
    ///   - clock: The clock of the window and the timeout.
    ///   - applies: Whether a request to such an origin is authenticated; by default all are. For example, a login may
    ///     be excluded.
    ///   - onChange: Receives each credential that takes effect, after a login or a refresh, and `nil` after a logout
    ///     or a refused refresh; not the first one, and never the result of a refresh that a logout has overtaken.
    ///     Calls come one after the other, in the order of the changes, and, unless another call is running, before the
    ///     requests that wait for the credential continue. If credentials change faster than it returns, it may skip
    ///     all but the last.
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

    /// The credential of the next request; `nil` before the first one, and after a logout or a refused refresh.
    public var credential: A.Credential? { keeper.credential }

    /// Replaces the present credential, after a login, or removes it, for a logout.
    ///
    /// Requests that wait for a refresh continue with the new one, and the result of that refresh is discarded. A
    /// logout fails them, and requests that were sent before keep their rejection: nothing is sent again as another
    /// user. For the next request, the authenticator gets a credential. That refresh begins after a running one has
    /// ended.
    public func setCredential(_ credential: A.Credential?) {
        keeper.set(credential)
    }

    /// Applies the credential, and waits for one if necessary.
    ///
    /// - Throws: ``RequestError`` of code `authenticationFailed` or `excessiveRefresh`; any error that the
    ///   authenticator throws while it applies the credential.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        guard !keeper.isRefreshed(by: context), applies(request), try isMeant(for: request, in: context) else { return }
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

    /// Whether the origin of a request receives the credential.
    private func isMeant(for request: HTTPRequest, in context: InterceptorChain.Context) throws -> Bool {
        if let origins {
            return request.inherits(from: nil) && request.origin(in: context.baseURL).map(origins.contains) == true
        }
        guard context.baseURL != nil else {
            let reason = "the client has no base URL: pass `origins:` to the AuthenticationInterceptor"
            throw RequestError(.authenticationFailed, phase: .building, reason: reason)
        }
        return request.inherits(from: context.baseURL)
    }

    /// Sends a rejected request again as soon as there is another credential.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        error.followsRedirect(from: context.request) ? .pass : await handleRejection(error, context: context)
    }

    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard !keeper.isRefreshed(by: context), authenticator.isRejection(error) else { return .pass }
        return await keeper.decide(after: error, in: context, refresh: authenticator.refresh(_:using:))
    }
}

extension AuthenticationInterceptor: CustomReflectable {
    /// A mirror of the authenticator's type: its content may be a secret.
    public var customMirror: Mirror { Mirror(self, children: ["authenticator": "\(A.self)"]) }
}
