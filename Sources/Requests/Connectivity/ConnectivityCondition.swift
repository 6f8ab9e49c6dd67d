// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Holds where there is a network, and waits for one where there isn't.
///
/// ```swift
/// environment.conditions.append(.connected(within: .seconds(60)))
/// let sync = Post<Void>("notes").condition(.connected())
/// ```
///
/// It is checked once, before the operation does anything. The operation keeps its place in the queue meanwhile: a client
/// with few places that has gone offline holds all its requests up, which is what is wanted mostly. A cancel and the
/// deadline of the operation end the wait. For a network that goes away while a request is under way, see
/// ``OfflineRetry``.
public struct ConnectivityCondition: RequestCondition {
    private let connectivity: Connectivity
    private let limit: Duration?
    private let clock: any Clock<Duration>

    /// Makes a condition.
    ///
    /// - Parameters:
    ///   - connectivity: What tells whether there is a network; the system by default.
    ///   - limit: How long to wait for one; nil is as long as it takes, and zero not at all.
    ///   - clock: The clock of the wait.
    public init(
        _ connectivity: Connectivity = .system,
        limit: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.connectivity = connectivity
        self.limit = limit
        self.clock = clock
    }

    /// Returns as soon as there is a network.
    ///
    /// - Throws: ``RequestError`` of code `offline` where there is none in time.
    public func check(_ context: InterceptorContext) async throws {
        guard await !connectivity.wait(atMost: limit, clock: clock) else { return }
        let reason = limit.map { "there has been no network for \($0)" }
        throw RequestError(.offline, phase: .building, reason: reason)
    }
}

extension RequestCondition where Self == ConnectivityCondition {
    /// Holds where there is a network, and waits for one: for a while, or by default for as long as it takes.
    public static func connected(
        by connectivity: Connectivity = .system,
        within limit: Duration? = nil
    ) -> ConnectivityCondition {
        ConnectivityCondition(connectivity, limit: limit)
    }
}

/// Tries requests again that failed for want of a network, as soon as there is one.
///
/// ```swift
/// environment.interceptors.append(.retryingOffline(within: .seconds(30)))
/// ```
///
/// A request that wasn't sent, since there was no network, is tried again whatever its method. One whose connection
/// broke, timed out or couldn't be made while there is none any more, is where it may be sent twice: its method is
/// idempotent, or it has an `Idempotency-Key`. Others are left to the ``RetryPolicy``, and so is everything where no
/// network comes in time.
public struct OfflineRetry: Interceptor {
    private let connectivity: Connectivity
    private let limit: Duration
    private let retries: Int
    private let clock: any Clock<Duration>

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - connectivity: What tells whether there is a network; the system by default.
    ///   - limit: How long to wait for one, each time.
    ///   - retries: How often a request is tried again at most, retries for other reasons included.
    ///   - clock: The clock of the wait.
    public init(
        _ connectivity: Connectivity = .system,
        limit: Duration = .seconds(5),
        retries: Int = 2,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.connectivity = connectivity
        self.limit = limit
        self.retries = retries
        self.clock = clock
    }

    /// Waits for a network, where it was that which was missing.
    public func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
        guard context.attempt <= retries, mayTryAgain(after: error, context) else { return .pass }
        return await connectivity.wait(atMost: limit, clock: clock) ? .retry : .pass
    }

    private func mayTryAgain(after error: RequestError, _ context: InterceptorContext) -> Bool {
        guard
            error.code == .offline
                || [.connectionLost, .cannotConnect, .timedOut].contains(error.code) && !connectivity.isConnected,
            let request = context.request ?? error.request
        else { return false }
        return error.wasNotSent || request.method.isIdempotent || request.headers.contains(.idempotencyKey)
    }
}

extension Interceptor where Self == OfflineRetry {
    /// Tries requests again that failed for want of a network, if there is one within a while; 5 seconds by default.
    public static func retryingOffline(
        by connectivity: Connectivity = .system,
        within limit: Duration = .seconds(5)
    ) -> OfflineRetry {
        OfflineRetry(connectivity, limit: limit)
    }
}
