// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestCondition where Self == ClosureCondition {
    /// Holds if there is a network, and waits for one otherwise: for a while, or by default without a limit.
    ///
    /// ```swift
    /// environment.conditions.append(.connected(timeout: .seconds(60)))
    /// let sync = Post<Void>("notes").condition(.connected())
    /// ```
    ///
    /// The condition is checked once, before the operation does anything. The operation keeps its place in the queue
    /// meanwhile, so a client with few places that is offline delays all its requests, which is mostly wanted. A
    /// cancellation and the deadline of the operation end the wait. For a network that is lost while a request is under
    /// way, see ``Interceptor/retryingOffline(by:timeout:maximumRetryCount:clock:)``.
    ///
    /// - Parameters:
    ///   - connectivity: What knows whether there is a network; the system by default.
    ///   - limit: The maximum wait; `nil` waits without a limit, and zero doesn't wait.
    ///   - clock: The clock of the wait.
    /// - Returns: A condition that throws ``RequestError`` of code `offline` if there is no network in time.
    public static func connected(
        by connectivity: Connectivity = .system,
        timeout limit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ClosureCondition {
        ClosureCondition { _ in
            guard await !connectivity.waitUntilConnected(timeout: limit, clock: clock) else { return }
            let reason = limit.map { "there has been no network for \($0)" }
            throw RequestError(.offline, phase: .building, reason: reason)
        }
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Retries requests that failed because there was no network, as soon as there is one.
    ///
    /// ```swift
    /// environment.interceptors.append(.retryingOffline(timeout: .seconds(30)))
    /// ```
    ///
    /// A request that wasn't sent because there was no network is retried whatever its method. A request whose
    /// connection was lost, timed out or couldn't be made is retried if there is no network any more and it may be sent
    /// twice: its method is idempotent, or it has an `Idempotency-Key`. Other requests are left to the ``RetryPolicy``,
    /// and so is every request if no network comes in time.
    ///
    /// - Parameters:
    ///   - connectivity: What knows whether there is a network; the system by default.
    ///   - limit: The maximum wait for a network before each retry; 5 seconds by default.
    ///   - maximumRetryCount: The maximum number of retries of a request, those for other reasons included.
    ///   - clock: The clock of the wait.
    /// - Returns: The interceptor.
    public static func retryingOffline(
        by connectivity: Connectivity = .system,
        timeout limit: Duration = .seconds(5),
        maximumRetryCount: Int = 2,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ClosureInterceptor {
        ClosureInterceptor(retry: { error, context in
            guard context.attempt <= maximumRetryCount,
                error.isRetriedOffline(of: context.request, isConnected: connectivity.isConnected)
            else { return .pass }
            return await connectivity.waitUntilConnected(timeout: limit, clock: clock) ? .retry : .pass
        })
    }
}

extension RequestError {
    fileprivate func isRetriedOffline(of request: HTTPRequest?, isConnected: Bool) -> Bool {
        let isOffline = code == .offline || code.kind == .transient && !isConnected
        guard isOffline, let request = request ?? self.request else { return false }
        return wasNotSent || request.method.isIdempotent || request.headers.contains(.idempotencyKey)
    }
}
