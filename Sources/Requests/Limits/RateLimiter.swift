// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Limits the number of requests in an interval, as the terms of use of many servers require.
///
/// ```swift
/// let limiter = RateLimiter(100, per: .seconds(60), burst: 10)
/// ```
///
/// The limiter is a token bucket: it starts with a full burst of tokens, is refilled at a steady rate, and each request
/// takes one token. Requests wait while the bucket is empty. A new token goes to the request whose operation then has
/// the highest priority. Among requests of equal priority, the one that has waited longest goes first. If more than a
/// hundred requests are waiting, a raised priority may take effect a few grants later. A request that is cancelled
/// while it waits consumes no token.
///
/// Redirects and retries consume tokens as well; a response from a cache or from a shared transfer doesn't. A waiting
/// operation still occupies its slot of the operation queue.
///
/// A limiter is a reference type: all requests that use the same limiter are limited together.
public final class RateLimiter: Sendable {
    private struct State: Sendable {
        var bucket: TokenBucket
        var waiters = Waiters()
        var lastID = 0
        /// The time at which the priorities were last refreshed, measured after they were read, because that may be
        /// slow.
        var lastPriorityRefresh = Duration.zero
        /// The ID of the current sleep until the next token; `nil` if the limiter isn't sleeping.
        var sleepID: Int?
        var lastSleepID = 0
        var timer: DelayedAction?

        /// Admits waiters, and starts a sleep until the next token if some waiters remain.
        mutating func proceed(at time: Duration) -> Effect {
            guard !waiters.isRefreshing else { return Effect() }
            if time - lastPriorityRefresh >= RateLimiter.priorityLifetime { waiters.requireRefresh() }
            var effect = Effect(step: waiters.next(bucket.available(at: time)))
            switch effect.step {
            case .none: break
            case .refresh: return effect
            case .grant(let granted): bucket.take(granted.count)
            }
            if waiters.isEmpty {
                if sleepID != nil { (sleepID, effect.cancelledTimer, timer) = (nil, timer, nil) }
            } else if sleepID == nil {
                lastSleepID += 1
                sleepID = lastSleepID
                effect.sleep = (bucket.nextToken(at: time) - time, lastSleepID)
            }
            return effect
        }
    }

    /// The effects to perform after the lock is released.
    private struct Effect: Sendable {
        var step = Waiters.Step.none
        var sleep: (duration: Duration, id: Int)?
        var cancelledTimer: DelayedAction?
    }

    // How long known priorities are reused in a long queue, where refreshing them before every grant would be too slow.
    private static let priorityLifetime = Duration.milliseconds(100)

    private let state: Locked<State>
    private let timing: LimiterClock

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - count: The number of requests per interval, once the burst is used up; at least 1.
    ///   - interval: The length of the interval. Zero means no limit, except for ``pause(for:)``.
    ///   - burst: The number of requests that can be sent immediately after a period without requests; at least 1. By
    ///     default, it is `count`.
    ///   - clock: The clock of the limiter; by default, the clock of the environment that first uses the limiter.
    public init(
        _ count: Int,
        per interval: Duration,
        burst: Int? = nil,
        clock: (any Clock<Duration>)? = nil
    ) {
        state = Locked(State(bucket: TokenBucket(count, per: interval, burst: burst)))
        timing = LimiterClock(clock)
    }

    /// Pauses all requests for a while, for example after a 429 or 503 with `Retry-After` (RFC 9110, 10.2.3).
    ///
    /// If the limiter is already paused, the pause may be extended, but is never shortened. A pause isn't followed by a
    /// burst: one request is sent first, and the others follow at the steady rate. Requests that already have a token
    /// aren't affected.
    ///
    /// - Parameter duration: The length of the pause, starting now. If it isn't positive, the call has no effect.
    public func pause(for duration: Duration) {
        guard duration > .zero else { return }
        change { $0.bucket.pause(for: duration, at: $1) }
    }

    /// Waits for a token.
    ///
    /// - Parameters:
    ///   - clock: The clock of the environment; used unless the limiter already has a clock.
    ///   - priority: Returns the current priority each time it is called; higher priorities go first.
    ///   - onGrant: Called once, now or later, on any thread, when the request gets a token.
    /// - Returns: A closure that cancels the request, so that it consumes no token. The closure can't return a token.
    ///   If the token is granted at the same moment, `onGrant` may still be called after the cancellation.
    func wait(
        on clock: any Clock<Duration> = ContinuousClock(),
        priority: @escaping @Sendable () -> Int,
        onGrant: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        timing.adopt(clock)
        let initial = priority()
        let waiter = Waiter(priority: priority, onGrant: onGrant)
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
        effect.cancelledTimer?.cancel()
        switch effect.step {
        case .none: break
        case .refresh(let waiters):
            let priorities = waiters.mapValues { $0.priority() }
            self.change { state, time in
                state.waiters.update(priorities)
                state.lastPriorityRefresh = time
            }
        case .grant(let waiters):
            for waiter in waiters { waiter.onGrant() }
        }
        if let (duration, id) = effect.sleep { sleep(duration, id: id) }
        return result
    }

    /// Sleeps, and then admits waiters.
    ///
    /// The timer retains the limiter only while there are waiters, because the sleep ends when the last waiter leaves.
    private func sleep(_ duration: Duration, id: Int) {
        let timer = DelayedAction(after: duration, on: timing.clock) {
            self.change { state, _ in
                if state.sleepID == id { state.sleepID = nil }
            }
        }
        // The sleep may already be over, or no longer needed.
        let isCurrent = state.withLock { state in
            guard state.sleepID == id else { return false }
            state.timer = timer
            return true
        }
        if !isCurrent { timer.cancel() }
    }
}

/// The clock of a limiter, which may be set by the environment that first uses the limiter.
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

    init(_ clock: (any Clock<Duration>)?) {
        timing = Locked(clock.map(Timing.init))
    }

    /// Uses the clock of an environment from now on, unless the limiter already has a clock.
    func adopt(_ clock: any Clock<Duration>) {
        guard timing.withLock({ $0 == nil }) else { return }
        let new = Timing(clock)
        timing.withLock { if $0 == nil { $0 = new } }
    }

    /// The clock of the limiter; a limiter without a clock adopts the system's continuous clock.
    var clock: any Clock<Duration> { resolvedTiming.clock }

    /// Returns the time since the clock was set.
    func now() -> Duration { resolvedTiming.time() }

    private var resolvedTiming: Timing {
        if let timing = timing.withLock({ $0 }) { return timing }
        adopt(ContinuousClock())
        return timing.withLock { $0 } ?? Timing(ContinuousClock())
    }
}
