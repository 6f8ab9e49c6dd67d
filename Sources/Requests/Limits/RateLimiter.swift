// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Limits the number of requests in an interval, as the terms of use of many servers require.
///
/// ```swift
/// let limiter = RateLimiter(100, per: .seconds(60), burst: 10)
/// ```
///
/// It is a bucket of tokens: full at first, it fills at a steady rate up to the burst, and each request takes one.
/// Requests wait if it is empty. A new token goes to the request whose operation has the highest priority then, and
/// among equals to the one that has waited longest. In a line of more than a hundred, a raised priority may take effect
/// a few turns later. A request that is cancelled while it waits consumes no token.
///
/// Redirects and retries consume tokens as well; an answer from a cache or from a shared transfer doesn't. An operation
/// that waits keeps its place in its queue.
///
/// It is shared by reference: all users of a limiter are limited together.
public final class RateLimiter: Sendable {
    private struct State {
        var limit: RateLimit
        var waiters = Waiters()
        var timer: DelayedAction?

        mutating func handle(_ input: RateLimit.Input, at time: Duration) -> [Effect] {
            var effects = limit.handle(input, at: time).map { effect(of: $0) }
            if case .left(let id) = input { effects.append(.release(waiters.remove(id))) }
            return effects
        }

        private mutating func effect(of action: RateLimit.Action) -> Effect {
            switch action {
            case .ask(let ids): .ask(waiters.find(ids))
            case .grant(let ids): .grant(ids.compactMap { waiters.remove($0) })
            case .sleep(let duration, let number): .sleep(duration, number: number)
            case .stopSleeping: .stop(timer)
            }
        }
    }

    /// The action to perform after unlocking.
    private enum Effect: Sendable {
        case ask([Int: Waiter])
        case grant([Waiter])
        case sleep(Duration, number: Int)
        case stop(DelayedAction?)
        case release(Waiter?)
    }

    private let state: Locked<State>
    private let timing: LimiterClock

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - count: The number of requests in an interval, once the burst is used up; at least 1.
    ///   - interval: The length of the interval. If it is zero, there is no limit; ``pause(for:)`` still counts.
    ///   - burst: The number of requests at once after a rest, at least 1; by default the number in an interval.
    ///   - clock: The clock of the limit; `nil`, the default, is that of the environment that first uses it.
    public init(
        _ count: Int,
        per interval: Duration,
        burst: Int? = nil,
        clock: (any Clock<Duration>)? = nil
    ) {
        state = Locked(State(limit: RateLimit(bucket: TokenBucket(count, per: interval, burst: burst))))
        timing = LimiterClock(clock)
    }

    /// Pauses all requests for a while, because a server said so: 429 or 503 with `Retry-After` (RFC 9110, 10.2.3).
    ///
    /// A present pause is extended, never shortened. It ends without a burst: one request is sent, and the others
    /// follow at the steady rate. Requests that already have a token aren't affected.
    ///
    /// - Parameter duration: The time from now; nothing happens if it isn't positive.
    public func pause(for duration: Duration) {
        guard duration > .zero else { return }
        handle(.paused(duration))
    }

    /// Waits for a token.
    ///
    /// - Parameters:
    ///   - clock: The clock of the environment, for a limiter without one of its own.
    ///   - priority: Returns the present priority, whenever the limiter asks; higher goes first.
    ///   - granted: Called once, now or later, on any thread, when there is a token for this request.
    /// - Returns: A closure that withdraws the request. It doesn't return a token: if both happen at once, `granted`
    ///   may be called although the request seems withdrawn. A request that is withdrawn in time consumes no token.
    func wait(
        on clock: any Clock<Duration> = ContinuousClock(),
        priority: @escaping @Sendable () -> Int,
        granted: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        timing.adopt(clock)
        let initial = priority()
        let waiter = Waiter(priority: priority, granted: granted)
        let id = state.withLock { $0.waiters.add(waiter) }
        handle(.arrived(id, priority: initial))
        return { self.handle(.left(id)) }
    }

    /// The number of waiters.
    var count: Int { state.withLock { $0.limit.count } }

    private func handle(_ input: RateLimit.Input) {
        let time = timing.now()
        let effects = state.withLock { $0.handle(input, at: time) }
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: Effect) {
        switch effect {
        case .ask(let waiters):
            handle(.answered(waiters.mapValues { $0.priority() }))
        case .grant(let waiters):
            for waiter in waiters { waiter.granted() }
        case .sleep(let duration, let number):
            sleep(duration, number: number)
        case .stop(let timer):
            timer?.cancel()
        case .release:
            break
        }
    }

    /// Retains the limiter only while there are waiters, since the last one that leaves ends the sleep.
    private func sleep(_ duration: Duration, number: Int) {
        let timer = DelayedAction(after: duration, on: timing.clock) { self.handle(.woke(number)) }
        // The sleep may be over, or no longer needed, before the timer is stored.
        let isWanted = state.withLock { state in
            guard state.limit.sleep == number else { return false }
            state.timer = timer
            return true
        }
        if !isWanted { timer.cancel() }
    }
}

/// Waits until a rate limit lets the request go.
struct RateLink: Interceptor {
    let limiter: RateLimiter
    let clock: any Clock<Duration>

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        let source = context.source
        try await Suspension.wait { resume in
            limiter.wait(on: clock, priority: { source.urgency }, granted: resume)
        }
        return try await next(request)
    }
}

/// The clock of a limiter: its own if it was given one, else that of the environment that it is first used in.
final class LimiterClock: Sendable {
    private struct Timing: Sendable {
        let clock: any Clock<Duration>
        let time: @Sendable () -> Duration

        init(_ clock: any Clock<Duration>) {
            self.clock = clock
            time = clock.stopwatch()
        }
    }

    private let timing: Locked<Timing?>

    init(_ own: (any Clock<Duration>)?) {
        timing = Locked(own.map(Timing.init))
    }

    /// Adopts the clock of an environment, unless there is a clock already.
    func adopt(_ clock: any Clock<Duration>) {
        guard timing.withLock({ $0 == nil }) else { return }
        let new = Timing(clock)
        timing.withLock { if $0 == nil { $0 = new } }
    }

    /// The clock; the system's until another is known.
    var clock: any Clock<Duration> { settled.clock }

    /// The time since the limiter was made or first used.
    func now() -> Duration { settled.time() }

    private var settled: Timing {
        if let timing = timing.withLock({ $0 }) { return timing }
        adopt(ContinuousClock())
        return timing.withLock { $0 } ?? Timing(ContinuousClock())
    }
}
