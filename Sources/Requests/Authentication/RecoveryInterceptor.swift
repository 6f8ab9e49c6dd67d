// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Handles a failure with a task, once for all requests that fail at the same time, and then sends them again.
///
/// ```swift
/// environment.interceptors.append(.recover(on: [.unauthorized]) { _ in try await session.logIn() })
/// ```
///
/// It is meant for a silent login whose result is a cookie, for renewing a licence, for waking a gateway. Requests that
/// fail while the task runs wait for it. Those that were sent before it ended and fail after it are only sent again.
/// Each request causes at most one run of the task; a failure after it stays. If the task throws, all waiting requests
/// fail with its error behind a ``RequestError`` of code `authenticationFailed`.
///
/// Requests that are made in the task may use the client that waits for it: the interceptor doesn't change them. A task
/// with a second parameter gets a ``RefreshClient`` for that, and needs no other. Failures at another origin, to which
/// a redirect led, are ignored.
public final class RecoveryInterceptor: RejectionHandling {
    private let keeper: CredentialKeeper<Void>
    private let recovers: @Sendable (RequestError) -> Bool
    private let recover: @Sendable (RequestError, RefreshClient) async throws -> Void

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - recovers: Whether the task can handle a failure.
    ///   - window: The limit of runs in a time; one more is an error of code `excessiveRefresh`. `nil` sets no limit.
    ///   - timeout: The maximum time of one run; a longer one is an error of code `refreshTimedOut` for all waiting
    ///     requests. `nil` sets no limit.
    ///   - clock: The clock of the window and the timeout.
    ///   - recover: The task. It gets the first of the failures, and a client that bypasses this interceptor and the
    ///     limit of the queue.
    public init(
        where recovers: @escaping @Sendable (RequestError) -> Bool,
        window: RefreshClient.Window? = .default,
        timeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        _ recover: @escaping @Sendable (RequestError, RefreshClient) async throws -> Void
    ) {
        self.recovers = recovers
        self.recover = recover
        keeper = CredentialKeeper((), window: window, timeout: timeout, clock: clock)
    }

    /// Records whether the request is sent before or after a recovery, without changing it.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        if !keeper.isRefreshed(by: context) { keeper.mark(&request) }
    }

    /// Sends the request again after its failure was handled.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        error.followsRedirect(from: context.request) ? .pass : await handleRejection(error, context: context)
    }

    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard !keeper.isRefreshed(by: context), recovers(error) else { return .pass }
        return await keeper.decide(after: error, in: context) { [recover] in try await recover(error, $1) }
    }
}

extension Interceptor where Self == RecoveryInterceptor {
    /// Handles unacceptable statuses, once for all requests that fail at the same time.
    ///
    /// - Parameters:
    ///   - statuses: The statuses; 401 and 403 by default.
    ///   - recover: The task. It gets the first of the failures; an error that it throws fails all waiting requests.
    /// - Returns: The interceptor.
    public static func recover(
        on statuses: Set<HTTPStatus> = [.unauthorized, .forbidden],
        _ recover: @escaping @Sendable (RequestError) async throws -> Void
    ) -> RecoveryInterceptor {
        Self.recover(on: statuses) { error, _ in try await recover(error) }
    }

    /// Handles unacceptable statuses like the other method, with a client for the task's requests.
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
