// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Holds where there is a network, and waits for one where there isn't.
///
/// ```swift
/// environment.conditions.append(.connected(by: connectivity, within: .seconds(60)))
/// let sync = Post<Void>("notes").condition(.connected(by: connectivity))
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
    ///   - connectivity: What tells whether there is a network.
    ///   - limit: How long to wait for one; nil is as long as it takes, and zero not at all.
    ///   - clock: The clock of the wait.
    public init(
        _ connectivity: Connectivity,
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
    public static func connected(by connectivity: Connectivity, within limit: Duration? = nil) -> ConnectivityCondition
    {
        ConnectivityCondition(connectivity, limit: limit)
    }
}
