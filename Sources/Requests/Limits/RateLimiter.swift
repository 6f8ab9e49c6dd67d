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
    private struct State: Sendable {
        var bucket: TokenBucket
        var waiters = Waiters()
        var lastID = 0
        /// The time of the last answers: asking for them may take a while.
        var lastAnswered = Duration.zero
        /// The number of the current sleep until the next token; `nil` without waiters.
        var sleep: Int?
        var sleeps = 0
        var timer: DelayedAction?

        /// Admits waiters, and begins to sleep for those that remain.
        mutating func proceed(at time: Duration) -> Effect {
            guard !waiters.isRefreshing else { return Effect() }
            if time - lastAnswered >= RateLimiter.trustDuration { waiters.requireRefresh() }
            var effect = Effect(step: waiters.next(bucket.available(at: time)))
            switch effect.step {
            case .none: break
            case .refresh: return effect
            case .grant(let granted): bucket.take(granted.count)
            }
            if waiters.isEmpty {
                if sleep != nil { (sleep, effect.former, timer) = (nil, timer, nil) }
            } else if sleep == nil {
                sleeps += 1
                sleep = sleeps
                effect.sleep = (bucket.nextToken(at: time) - time, sleeps)
            }
            return effect
        }
    }

    /// The effects to perform after unlocking.
    private struct Effect: Sendable {
        var step = Waiters.Step.none
        var sleep: (duration: Duration, number: Int)?
        var former: DelayedAction?
    }

    // The time for which priorities are trusted in a long line, whose waiters aren't all asked before each turn.
    private static let trustDuration = Duration.milliseconds(100)

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
        state = Locked(State(bucket: TokenBucket(count, per: interval, burst: burst)))
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
        change { $0.bucket.pause(for: duration, at: $1) }
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
        let id = change { state, _ in
            state.lastID += 1
            state.waiters.add(waiter, as: state.lastID, priority: initial)
            return state.lastID
        }
        return { _ = self.change { state, _ in state.waiters.remove(id) } }
    }

    /// The number of waiters.
    var count: Int { state.withLock { $0.waiters.count } }

    @discardableResult
    private func change<Result: Sendable>(_ change: @Sendable (inout State, _ time: Duration) -> Result) -> Result {
        let time = timing.now()
        let (result, effect) = state.withLock { state in (change(&state, time), state.proceed(at: time)) }
        effect.former?.cancel()
        switch effect.step {
        case .none: break
        case .refresh(let waiters):
            let answers = waiters.mapValues { $0.priority() }
            self.change { state, time in
                state.waiters.update(answers)
                state.lastAnswered = time
            }
        case .grant(let waiters):
            for waiter in waiters { waiter.onGrant() }
        }
        if let (duration, number) = effect.sleep { sleep(duration, number: number) }
        return result
    }

    /// Retains the limiter only while there are waiters, since the last one that leaves ends the sleep.
    private func sleep(_ duration: Duration, number: Int) {
        let timer = DelayedAction(after: duration, on: timing.clock) {
            self.change { state, _ in
                if state.sleep == number { state.sleep = nil }
            }
        }
        // The sleep may be over, or no longer needed, before the timer is stored.
        let isWanted = state.withLock { state in
            guard state.sleep == number else { return false }
            state.timer = timer
            return true
        }
        if !isWanted { timer.cancel() }
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
    var clock: any Clock<Duration> { resolvedTiming.clock }

    /// The time since the limiter was made or first used.
    func now() -> Duration { resolvedTiming.time() }

    private var resolvedTiming: Timing {
        if let timing = timing.withLock({ $0 }) { return timing }
        adopt(ContinuousClock())
        return timing.withLock { $0 } ?? Timing(ContinuousClock())
    }
}
