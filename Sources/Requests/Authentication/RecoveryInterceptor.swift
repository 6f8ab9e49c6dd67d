// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Does something about a failure, once for all requests that have it at the same time, and then sends them again.
///
/// ```swift
/// environment.interceptors.append(.recover(on: [.unauthorized]) { _ in try await session.logIn() })
/// ```
///
/// For a silent login whose result is a cookie, for a licence to be renewed, for a gateway to be woken. Requests that
/// fail while the task runs wait for it, and those that were sent before it ended and fail after it are only sent
/// again. Each request is worth one run of the task; the failure after it stands. If the task throws, all that wait
/// fail with its error behind a ``RequestError`` of code `authenticationFailed`.
///
/// Requests that are made in the task may go over the very client that waits for it: they pass the interceptor
/// untouched. A task with a second parameter is handed a ``RefreshClient`` for that, and needs to know no other.
/// Failures at another origin, where a redirect led, aren't asked about.
public final class RecoveryInterceptor: ChallengeAnswering {
    private let keeper: CredentialKeeper<Void>
    private let recovers: @Sendable (RequestError) -> Bool
    private let recover: @Sendable (RequestError, RefreshClient) async throws -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - recovers: Whether something can be done about a failure.
    ///   - window: How often that may be; one more is an error of code `excessiveRefresh`. Nil is no limit.
    ///   - timeout: How long one run of the task may take; longer is an error of code `refreshTimedOut` for all that
    ///     wait. Nil is as long as it needs.
    ///   - clock: The clock of the window and the timeout.
    ///   - recover: Does it. It gets the first of the failures.
    public convenience init(
        where recovers: @escaping @Sendable (RequestError) -> Bool,
        window: RefreshWindow? = .default,
        timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        _ recover: @escaping @Sendable (RequestError) async throws -> Void
    ) {
        self.init(where: recovers, window: window, timeout: timeout, clock: clock) { error, _ in
            try await recover(error)
        }
    }

    /// Makes an interceptor that is handed what it sends its requests with.
    ///
    /// - Parameters:
    ///   - recovers: Whether something can be done about a failure.
    ///   - window: How often that may be; one more is an error of code `excessiveRefresh`. Nil is no limit.
    ///   - timeout: How long one run of the task may take; longer is an error of code `refreshTimedOut` for all that
    ///     wait. Nil is as long as it needs.
    ///   - clock: The clock of the window and the timeout.
    ///   - recover: Does it. It gets the first of the failures, and a client that sends past this interceptor and the
    ///     bound of the queue.
    public init(
        where recovers: @escaping @Sendable (RequestError) -> Bool,
        window: RefreshWindow? = .default,
        timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        _ recover: @escaping @Sendable (RequestError, RefreshClient) async throws -> Void
    ) {
        self.recovers = recovers
        self.recover = recover
        keeper = CredentialKeeper((), window: window, timeout: timeout, clock: clock)
    }

    /// Notes whether the request is sent before a recovery or after it; changes nothing in it.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorContext) async throws {
        if !keeper.isRefreshed(by: context) { keeper.mark(&request) }
    }

    /// Sends the request again when something was done about its failure.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        error.followsRedirect(from: context.request) ? .pass : await answer(error, context: context)
    }

    func answer(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        guard !keeper.isRefreshed(by: context), recovers(error) else { return .pass }
        return await keeper.decide(after: error, in: context) { [recover] _, client in try await recover(error, client)
        }
    }
}

extension Interceptor where Self == RecoveryInterceptor {
    /// Does something about unacceptable statuses, once for all requests that have one at the same time.
    ///
    /// - Parameters:
    ///   - statuses: The statuses; 401 and 403 by default.
    ///   - recover: Does something about it. It gets the first of the failures; what it throws fails all that wait.
    /// - Returns: The interceptor.
    public static func recover(
        on statuses: Set<HTTPStatus> = [.unauthorized, .forbidden],
        _ recover: @escaping @Sendable (RequestError) async throws -> Void
    ) -> RecoveryInterceptor {
        Self.recover(on: statuses) { error, _ in try await recover(error) }
    }

    /// Does something about unacceptable statuses, with a client to send requests with; otherwise the same.
    public static func recover(
        on statuses: Set<HTTPStatus> = [.unauthorized, .forbidden],
        _ recover: @escaping @Sendable (RequestError, RefreshClient) async throws -> Void
    ) -> RecoveryInterceptor {
        RecoveryInterceptor(
            where: { error in
                guard error.code == .unacceptableStatus, let status = error.response?.status else { return false }
                return statuses.contains(status)
            },
            recover
        )
    }
}
