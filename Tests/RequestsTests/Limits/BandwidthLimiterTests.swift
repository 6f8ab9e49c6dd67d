// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct BandwidthLimiterTests {
    private let clock = TestClock()

    @Test func aBurstGoesAtOnceAndMoreIsOwed() {
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 100, clock: clock)

        #expect(limiter.take(99) == nil)
        #expect(limiter.take(500) == .milliseconds(500))
        clock.advance(by: .milliseconds(500))
        #expect(limiter.take(1) == nil)
    }

    @Test(arguments: [1, 17, 4096, 100_000]) func theRateIsExactInTheLongRun(chunk: Int) {
        let limiter = BandwidthLimiter(bytesPerSecond: 50_000, burst: 1, clock: clock)
        var sent = 0

        for _ in 0..<5000 {
            sent += chunk
            if let pause = limiter.take(chunk) { clock.advance(by: pause) }
        }

        // The debt of a last chunk is missing, if it is too small for a pause.
        let exact = Duration.seconds(Double(sent) / 50_000)
        #expect(clock.now.offset > exact - .milliseconds(6) && clock.now.offset < exact + .milliseconds(1))
    }

    @Test func transfersShareTheRate() {
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, burst: 1, clock: clock)

        #expect(limiter.take(500) == .milliseconds(500))
        #expect(limiter.take(500) == .seconds(1))
    }

    @Test func aRestGivesNoMoreThanTheBurst() {
        let limiter = BandwidthLimiter(bytesPerSecond: 1000, clock: clock)
        clock.advance(by: .seconds(3600))

        #expect(limiter.take(250) == nil)
        #expect(limiter.take(250) == .milliseconds(251))
    }

    @Test func valuesThatMakeNoSenseDoNoHarm() {
        #expect(BandwidthLimiter(bytesPerSecond: 0, clock: clock).bytesPerSecond == 1)
        #expect(BandwidthLimiter(bytesPerSecond: .max, burst: .max, clock: clock).take(1) == nil)
        let limiter = BandwidthLimiter(bytesPerSecond: 1, burst: -1, clock: clock)

        #expect(limiter.take(0) == nil && limiter.take(-5) == nil)
        for _ in 0..<1000 { _ = limiter.take(.max) }
        #expect(limiter.take(1).map { $0 > .seconds(1 << 40) } == true)
    }
}
