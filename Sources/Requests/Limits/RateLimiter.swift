// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Lets only so many requests through in a while: what a server's terms of use ask for.
///
/// ```swift
/// let limiter = RateLimiter(100, per: .seconds(60), burst: 10)
/// ```
///
/// It is a bucket of tokens: full at first, it fills at a steady rate up to the burst, and each request takes one. Those
/// that find it empty wait; a token goes to the one whose operation has the highest priority when it comes, and among
/// equals to the one that has waited longest. In a line of more than a hundred, a priority that is raised may count
/// only after a few turns more. A request that is cancelled while it waits takes none.
///
/// Redirects and retries take tokens as well; what a cache answers, or a shared transfer brings, takes none. An
/// operation that waits keeps its place in its queue.
///
/// It is shared by reference: all that are given the same limiter are limited together.
public final class RateLimiter: Sendable {
    private struct State {
        var limit: RateLimit
        var waiters = Waiters()
        var timer: DelayedAction?

        mutating func handle(_ input: RateLimit.Input, at time: Duration) -> [Effect] {
            var effects = limit.handle(input, at: time).map { effect(of: $0) }
            if case .left(let id) = input { effects.append(.letGo(waiters.remove(id))) }
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

    /// What to do when the lock is free again.
    private enum Effect: Sendable {
        case ask([Int: Waiter])
        case grant([Waiter])
        case sleep(Duration, number: Int)
        case stop(DelayedAction?)
        case letGo(Waiter?)
    }

    private let state: Locked<State>
    private let timing: LimiterClock

    /// Makes a limiter.
    ///
    /// - Parameters:
    ///   - count: How many requests go through in an interval, once the burst is used up; at least 1.
    ///   - interval: The length of the interval. Without one, zero, there is no limit; ``pause(for:)`` still counts.
    ///   - burst: How many may go at once after a rest, at least 1; by default as many as in an interval.
    ///   - clock: The clock of the limit; nil, the default, is that of the environment that first uses it.
    public init(
        _ count: Int,
        per interval: Duration,
        burst: Int? = nil,
        clock: (any Clock<Duration>)? = nil
    ) {
        state = Locked(State(limit: RateLimit(bucket: TokenBucket(count, per: interval, burst: burst))))
        timing = LimiterClock(clock)
    }

    /// Holds everybody back for a while, because a server said so: 429 or 503 with `Retry-After` (RFC 9110, 10.2.3).
    ///
    /// A pause that is under way is made longer, never shorter. It ends without a burst: one request goes, and the
    /// others follow at the steady rate. Requests that are through already aren't concerned.
    ///
    /// - Parameter duration: How long, from now; nothing happens where it isn't positive.
    public func pause(for duration: Duration) {
        guard duration > .zero else { return }
        handle(.paused(duration))
    }

    /// Waits for a token.
    ///
    /// - Parameters:
    ///   - clock: The clock of the environment, for a limiter without one of its own.
    ///   - priority: Tells how urgent it is, whenever the limiter wants to know; higher goes first.
    ///   - granted: Called once, now or later, on any thread, when there is a token for this wish.
    /// - Returns: What takes the wish back. It never takes back a token: where both come at once, `granted` may be
    ///   called although the wish seems to have been taken back, but a wish that was taken back in time costs nothing.
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

    /// How many wait.
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
        case .letGo:
            break
        }
    }

    /// Holds on to the limiter only as long as somebody waits, since the last one who leaves ends the sleep.
    private func sleep(_ duration: Duration, number: Int) {
        let timer = DelayedAction(after: duration, on: timing.clock) { self.handle(.woke(number)) }
        // It may be over, or no longer wanted, before it can be kept.
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

    /// Takes over the clock of an environment, unless there is one already.
    func adopt(_ clock: any Clock<Duration>) {
        guard timing.withLock({ $0 == nil }) else { return }
        let new = Timing(clock)
        timing.withLock { if $0 == nil { $0 = new } }
    }

    /// The clock; the system's before anything else is known.
    var clock: any Clock<Duration> { settled.clock }

    /// The time since the limiter was made or first used.
    func now() -> Duration { settled.time() }

    private var settled: Timing {
        if let timing = timing.withLock({ $0 }) { return timing }
        adopt(ContinuousClock())
        return timing.withLock { $0 } ?? Timing(ContinuousClock())
    }
}
