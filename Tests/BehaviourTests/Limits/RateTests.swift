// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The number of requests that a rate allows over time: a token bucket that is full at first.
@Suite(.bounded) struct RateTests {
    private let clock = LeapingClock()

    /// Sends requests one after another, and returns the time at which the last one was sent.
    @discardableResult
    private func send(_ count: Int = 1, through limiter: RateLimiter) async throws -> Duration {
        let traffic = LimitedTraffic { $0.rateLimiter = limiter }
        for id in 0..<count { try await traffic.fetch(id) }
        return clock.elapsed
    }

    struct Row: CustomTestStringConvertible, Sendable {
        /// The arguments of the limiter.
        let (count, interval, burst): (Int, Duration, Int?)
        /// The number of requests, and the time of the last one.
        let (requests, time): (Int, Duration)

        var testDescription: String { "\(count) per \(interval), burst \(burst ?? count): \(requests)" }

        init(_ count: Int, per interval: Duration = .seconds(1), burst: Int? = nil, _ requests: Int, _ time: Duration) {
            (self.count, self.interval, self.burst) = (count, interval, burst)
            (self.requests, self.time) = (requests, time)
        }
    }

    @Test(arguments: [
        // A full bucket gives the burst, and then the rate.
        Row(80, burst: 25, 25, .zero), Row(80, burst: 25, 26, .microseconds(12_500)),
        Row(80, burst: 25, 28, .microseconds(37_500)),
        // The burst defaults to the count.
        Row(7, 7, .zero), Row(7, 14, .seconds(1)),
        // A third of a second isn't rounded away.
        Row(3, burst: 1, Scale.pick(601, whole: 300_001), .seconds(Scale.pick(200, whole: 100_000))),
        Row(7, per: .seconds(11), burst: 1, 1 + 82, .seconds(11) * 82 / 7),
        // Values below one count as one.
        Row(0, 1, .zero), Row(0, 2, .seconds(1)), Row(-5, burst: -5, 1, .zero), Row(-5, burst: -5, 2, .seconds(1)),
        Row(1, burst: 0, 1, .zero), Row(1, burst: 0, 2, .seconds(1)), Row(.min, burst: .min, 1, .zero),
        Row(.min, burst: .min, 2, .seconds(1)),
        // Without an interval, there is no limit.
        Row(1, per: .zero, 100, .zero), Row(1, per: .seconds(-1), 100, .zero),
    ])
    func requestIsSentWhenTokenIsAvailable(_ row: Row) async throws {
        let limiter = RateLimiter(row.count, per: row.interval, burst: row.burst, clock: clock)

        let time = try await send(row.requests, through: limiter)

        // Each wake-up is late by less than an attosecond, and these delays don't accumulate.
        #expect(time >= row.time && time < row.time + .nanoseconds(1), "\(time)")
    }

    @Test func idleTimeFillsBucketUpToBurst() async throws {
        let limiter = RateLimiter(80, per: .seconds(1), burst: 25, clock: clock)
        try await send(25, through: limiter)

        clock.advance(by: .seconds(60))

        #expect(try await send(25, through: limiter) == .seconds(60))
        #expect(try await send(through: limiter) == .seconds(60) + .microseconds(12_500))
    }

    @Test func frequentReadsDoNotAffectRefill() async throws {
        let clock = ManualClock()
        let traffic = LimitedTraffic { $0.rateLimiter = RateLimiter(7, per: .seconds(11), burst: 1, clock: clock) }
        try await traffic.fetch(0)

        for id in 1...100 {
            clock.advance(by: .milliseconds(13))
            traffic.start(id).cancel()
        }
        traffic.start(101)
        try await clock.waitForSleepers()
        clock.advance(to: .init(offset: .seconds(11) / 7))
        #expect(traffic.sent.elements == [0])
        clock.advance(by: .nanoseconds(1))

        #expect(await traffic.sent.first(2) == [0, 101])
    }

    // MARK: Pauses

    @Test func pauseWithholdsTokensAndEndsWithoutBurst() async throws {
        let limiter = RateLimiter(10, per: .seconds(1), clock: clock)
        limiter.pause(for: .seconds(30))
        clock.advance(by: .seconds(29))

        #expect(try await send(through: limiter) == .seconds(30))
        #expect(try await send(through: limiter) == .milliseconds(30_100))
        clock.advance(by: .milliseconds(9900))
        #expect(try await send(10, through: limiter) == .seconds(40))
        #expect(try await send(through: limiter) == .milliseconds(40_100))
    }

    @Test func shortPauseDoesNotAddToken() async throws {
        let limiter = RateLimiter(1, per: .seconds(60), clock: clock)
        try await send(through: limiter)
        clock.advance(by: .seconds(10))

        limiter.pause(for: .seconds(1))

        #expect(try await send(through: limiter) == .seconds(60))
    }

    @Test(arguments: [(2, 10), (20, 21)]) func pauseCanOnlyBeExtended(second: Int, end: Int) async throws {
        let limiter = RateLimiter(1, per: .seconds(1), clock: clock)
        limiter.pause(for: .seconds(10))
        clock.advance(by: .seconds(1))

        limiter.pause(for: .seconds(second))

        #expect(try await send(through: limiter) == .seconds(end))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func zeroIntervalLimitsOnlyDuringPause(_ interval: Duration) async throws {
        let limiter = RateLimiter(1, per: interval, clock: clock)

        #expect(try await send(100, through: limiter) == .zero)
        limiter.pause(for: .seconds(1))

        #expect(try await send(100, through: limiter) == .seconds(1))
    }

    @Test(arguments: [
        (Int.max, Duration.seconds(Int64.max), Int.max), (1, .seconds(Int64.max), Int.max),
        (Int.max, Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
    ])
    func extremeValuesDoNotOverflow(count: Int, interval: Duration, burst: Int) async throws {
        let clock = ManualClock()
        let limiter = RateLimiter(count, per: interval, burst: burst, clock: clock)
        let traffic = LimitedTraffic { $0.rateLimiter = limiter }
        try await traffic.fetch(1)

        clock.advance(by: .seconds(1))
        limiter.pause(for: .seconds(Int64.max))
        let operation = traffic.start(2)
        try await clock.waitForSleepers()
        // Three years later.
        clock.advance(by: .seconds(100_000_000))

        #expect(clock.sleeperCount == 1 && traffic.sent.elements == [1])
        operation.cancel()
        _ = try? await operation.value()
    }

    @Test func randomTrafficNeverExceedsBurstAndRate() async throws {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 20_000) {
            let count = Int.random(in: 1...20, using: &fuzz)
            let interval = Duration.milliseconds(Int.random(in: 1...3000, using: &fuzz))
            let burst = Int.random(in: 1...30, using: &fuzz)
            let clock = LeapingClock()
            let limiter = RateLimiter(count, per: interval, burst: burst, clock: clock)
            let traffic = LimitedTraffic { $0.rateLimiter = limiter }
            for id in 1...100 {
                clock.advance(by: .microseconds(Int.random(in: 0...500_000, using: &fuzz)))
                if Int.random(in: 0..<10, using: &fuzz) == 0 { limiter.pause(for: .milliseconds(100)) }
                for _ in 0..<Int.random(in: 0...5, using: &fuzz) { try await traffic.fetch(id) }
                #expect(interval * (traffic.sent.count - burst) <= clock.elapsed * count, "seed \(Fuzz.seed)")
            }
        }
    }
}
