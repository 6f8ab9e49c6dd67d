// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Runs a recovery task once for all requests that fail at the same time, and then sends them again.
///
/// ```swift
/// environment.interceptors.append(.recover(on: [.unauthorized]) { _ in try await session.logIn() })
/// ```
///
/// Use a recovery for a silent login that sets a cookie, to renew a license, or to wake a gateway. If a request fails
/// while the task is running, it waits for the task. Requests that were sent before the task ended, and fail afterward,
/// are sent again without another run. Each request causes at most one run of the task; if the request fails again, the
/// failure is final. If the task throws an error, all waiting requests fail with a ``RequestError`` with the code
/// `authenticationFailed`, and the task's error is the underlying error.
///
/// The task may send requests with the same client, because the interceptor ignores requests that belong to the task.
/// If the task has a second parameter, it receives a ``RefreshClient``, and needs no other client. Failures at another
/// origin, reached by a redirect, are ignored.
public final class RecoveryInterceptor: RejectionHandling {
    private let keeper: CredentialKeeper<Void>
    private let recovers: @Sendable (RequestError) -> Bool
    private let recover: @Sendable (RequestError, RefreshClient) async throws -> Void

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - recovers: Returns whether the task can handle a failure.
    ///   - window: The maximum number of runs in a period. A further run in that period fails with the code
    ///     `excessiveRefresh`. `nil` sets no limit.
    ///   - timeout: The maximum duration of one run. After that, all waiting requests fail with the code
    ///     `refreshTimedOut`. `nil` sets no limit.
    ///   - clock: The clock of the window and the timeout.
    ///   - recover: The task. It receives the first failure, and a client that bypasses this interceptor and the
    ///     queue's limit.
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

    /// Records whether the request is sent before or after a recovery, without changing what is sent.
    public func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        if !keeper.isRefreshed(by: context) { keeper.mark(&request) }
    }

    /// Decides whether to send a failed request again, after waiting for the recovery.
    public func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        error.followsRedirect(from: context.request) ? .pass : await handleRejection(error, context: context)
    }

    func handleRejection(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        guard !keeper.isRefreshed(by: context), recovers(error) else { return .pass }
        return await keeper.decide(after: error, in: context) { [recover] in try await recover(error, $1) }
    }
}

extension Interceptor where Self == RecoveryInterceptor {
    /// Returns an interceptor that handles unacceptable statuses, once for all requests that fail at the same time.
    ///
    /// - Parameters:
    ///   - statuses: The statuses; 401 and 403 by default.
    ///   - recover: The task. It receives the first failure. If it throws an error, all waiting requests fail.
    /// - Returns: The interceptor.
    public static func recover(
        on statuses: Set<HTTPStatus> = [.unauthorized, .forbidden],
        _ recover: @escaping @Sendable (RequestError) async throws -> Void
    ) -> RecoveryInterceptor {
        Self.recover(on: statuses) { error, _ in try await recover(error) }
    }

    /// Returns an interceptor that handles unacceptable statuses with a task that receives a client.
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
