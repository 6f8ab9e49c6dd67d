// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Authenticates requests with a credential that expires, and refreshes that once for all requests that need it.
///
/// ```swift
/// let authentication = AuthenticationInterceptor(TokenAuthenticator(), credential: saved)
/// environment.interceptors.append(authentication)
/// authentication.setCredential(nil)       // logs out
/// ```
///
/// A refresh begins when the authenticator says that the credential is about to expire, when there is none, or when a
/// server rejects it. Requests that come meanwhile wait, and all go on with the new one. A rejection that comes late,
/// of a credential that has been replaced since, only sends the request again. If the refresh fails, all that wait fail
/// with its error behind a ``RequestError`` of code `authenticationFailed`, and so do requests that were sent before
/// that and are rejected after it; the next one tries anew.
///
/// One request is worth one refresh: where a server rejects what was fetched for it, the rejection is its failure. A
/// request whose body can't be sent again has the credential refreshed for those that follow, and fails itself, with the
/// rejection. The underlying error has the code `bodyNotReplayable`.
///
/// A request that waits ends at once when it is cancelled or its deadline passes; the refresh goes on for the others.
///
/// The credential goes to the origin of the environment's base URL; where there is none, to wherever a request goes,
/// unless `applies` says otherwise. A redirect to another origin drops it, and a 401 of that origin isn't a rejection.
///
/// All members may be used from any thread.
public final class AuthenticationInterceptor<A: Authenticator>: ChallengeAnswering {
    private let authenticator: A
    let keeper: CredentialKeeper<A.Credential>
    private let applies: @Sendable (HTTPRequest) -> Bool

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: Applies credentials, and refreshes them.
    ///   - credential: The first one; nil, the default, has the authenticator get it for the first request.
    ///   - window: How often it may be refreshed; one more is an error of code `excessiveRefresh`. Nil is no limit.
    ///   - timeout: How long one refresh may take; longer is an error of code `refreshTimedOut` for all that wait. Nil
    ///     is as long as it needs.
    ///   - clock: The clock of the window and the timeout.
    ///   - applies: Which requests are authenticated, among those that go to the origin of the base URL; by default all
    ///     of them. The login may be one that isn't.
    public init(
        _ authenticator: A,
        credential: A.Credential? = nil,
        window: RefreshWindow? = .default,
        timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        applies: @escaping @Sendable (HTTPRequest) -> Bool = { _ in true }
    ) {
        self.authenticator = authenticator
        self.applies = applies
        keeper = CredentialKeeper(credential, window: window, timeout: timeout, clock: clock)
    }

    /// The credential that the next request is sent with; nil before the first one, and after a logout.
    public var credential: A.Credential? { keeper.credential }

    /// Puts a credential in the place of the present one, after a login, or takes it away, for a logout.
    ///
    /// Requests that wait for a refresh go on with it, and whatever comes of that refresh is forgotten. A logout fails
    /// them, and lets the rejection stand of what was sent before: nothing is sent again as somebody else. The next
    /// request has the authenticator get a credential. A refresh that is due then begins when the one has ended that
    /// was under way.
    public func setCredential(_ credential: A.Credential?) {
        keeper.set(credential)
    }

    /// Applies the credential, and waits for one where that is needed.
    ///
    /// - Throws: ``RequestError`` of code `authenticationFailed` or `excessiveRefresh`; what the authenticator throws
    ///   while it applies the credential.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        guard !keeper.isRefreshed(by: context), request.inherits(from: context.baseURL), applies(request) else {
            return
        }
        let grant = try await keeper.grant(
            in: context,
            isStale: authenticator.needsRefresh,
            refresh: authenticator.refresh(_:using:)
        )
        let headers = request.headers
        try authenticator.apply(grant.credential, to: &request)
        request.headers.markSecrets(addedTo: headers)
        keeper.mark(&request, grant.generation)
    }

    /// Sends a rejected request again as soon as there is another credential.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        error.followsRedirect(from: context.request) ? .pass : await answer(error, context: context)
    }

    func answer(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        guard !keeper.isRefreshed(by: context), authenticator.isRejection(error) else { return .pass }
        return await keeper.decide(after: error, in: context, refresh: authenticator.refresh(_:using:))
    }
}

extension AuthenticationInterceptor: CustomReflectable {
    /// A mirror of the authenticator's type: what it knows may be a secret.
    public var customMirror: Mirror { Mirror(self, children: ["authenticator": "\(A.self)"]) }
}
