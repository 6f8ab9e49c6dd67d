// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension RequestCondition where Self == ClosureCondition {
    /// Creates a condition that requires a network, and waits for one if necessary, by default without a limit.
    ///
    /// ```swift
    /// environment.conditions.append(.connected(timeout: .seconds(60)))
    /// let sync = Post<Void>("notes").condition(.connected())
    /// ```
    ///
    /// The condition is checked once, before the operation does anything else. While the operation waits, it occupies
    /// its slot of the queue. So a client with few slots delays all its requests while the device is offline, which is
    /// usually intended. A cancellation or the deadline of the operation ends the wait. If a network may be lost while
    /// a request is running, see ``Interceptor/retryingOffline(by:timeout:maximumRetryCount:clock:)``.
    ///
    /// - Parameters:
    ///   - connectivity: The source of the network state; by default, the system.
    ///   - limit: The timeout; `nil`, the default, means no limit, and zero means not to wait.
    ///   - clock: The clock that measures the timeout.
    /// - Returns: A condition that throws a ``RequestError`` with the code `offline` if no network becomes available in
    ///   time.
    public static func connected(
        by connectivity: Connectivity = .system,
        timeout limit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) -> ClosureCondition {
        ClosureCondition { _ in
            guard await !connectivity.waitUntilConnected(timeout: limit, clock: clock) else { return }
            let reason = limit.map { "no network connection for \($0)" }
            throw RequestError(.offline, phase: .building, reason: reason)
        }
    }
}

extension Interceptor where Self == ClosureInterceptor {
    /// Creates an interceptor that retries requests after a network failure, as soon as a network is available.
    ///
    /// ```swift
    /// environment.interceptors.append(.retryingOffline(timeout: .seconds(30)))
    /// ```
    ///
    /// A request that wasn't sent because no network was available is retried, whatever its method. A request whose
    /// connection was lost, timed out or couldn't be established is retried if the network has become unavailable and
    /// it is safe to send the request twice. That requires an idempotent method or an `Idempotency-Key`. The
    /// ``RetryPolicy`` decides about all other requests, and about every request if no network becomes available in
    /// time.
    ///
    /// - Parameters:
    ///   - connectivity: The source of the network state; by default, the system.
    ///   - limit: The maximum wait for a network before each retry; by default, 5 seconds.
    ///   - maximumRetryCount: The maximum number of retries of a request, including retries for other reasons; by
    ///     default, 2.
    ///   - clock: The clock that measures the wait.
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
