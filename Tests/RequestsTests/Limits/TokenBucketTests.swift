// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct TokenBucketTests {
    @Test func aFullBucketGivesTheBurstAndThenTheRate() {
        var bucket = TokenBucket(80, per: .seconds(1), burst: 25)

        #expect(bucket.available(at: .zero) == 25)
        bucket.take(25)

        #expect(bucket.available(at: .zero) == 0)
        #expect(bucket.nextToken(at: .zero) == .microseconds(12_500))
        #expect(bucket.available(at: .microseconds(12_499)) == 0)
        #expect(bucket.available(at: .microseconds(12_500)) == 1)
        #expect(bucket.available(at: .seconds(60)) == 25)
    }

    @Test func theBurstIsTheCountWhereNothingElseIsSaid() {
        var bucket = TokenBucket(7, per: .seconds(1))

        #expect(bucket.available(at: .seconds(100)) == 7)
    }

    @Test func aThirdOfASecondIsNotRoundedAway() {
        var bucket = TokenBucket(3, per: .seconds(1), burst: 1)
        var time = Duration.zero
        bucket.take(1)

        let count = Scale.pick(30_000, whole: 3_000_000)
        for _ in 0..<count {
            time = bucket.nextToken(at: time)
            bucket.take(bucket.available(at: time))
        }

        // Every wake-up is late by less than an attosecond, and that lateness isn't lost.
        let exact = Duration.seconds(count / 3)
        #expect(time >= exact && time < exact + .nanoseconds(1))
    }

    @Test func itFillsTheSameHoweverOftenItIsAsked() {
        var asked = TokenBucket(7, per: .seconds(11), burst: 1_000_000)
        var rested = asked
        asked.take(1_000_000)
        rested.take(1_000_000)

        for step in 1...10_000 { _ = asked.available(at: .milliseconds(13 * step)) }

        #expect(asked.available(at: .seconds(130)) == rested.available(at: .seconds(130)))
        #expect(asked.available(at: .seconds(130)) == 82)
        #expect(asked.nextToken(at: .seconds(131)) == rested.nextToken(at: .seconds(131)))
    }

    @Test func timeThatGoesBackCountsAsZero() {
        var bucket = TokenBucket(1, per: .seconds(1))
        bucket.take(1)

        #expect(bucket.available(at: .milliseconds(900)) == 0)
        #expect(bucket.available(at: .milliseconds(100)) == 0)
        #expect(bucket.nextToken(at: .zero) == .seconds(1))
        #expect(bucket.available(at: .seconds(1)) == 1)
    }

    @Test func aPauseHoldsTokensBackAndEndsWithoutABurst() {
        var bucket = TokenBucket(10, per: .seconds(1))

        bucket.pause(for: .seconds(30), at: .zero)

        #expect(bucket.available(at: .seconds(29)) == 0)
        #expect(bucket.nextToken(at: .seconds(29)) == .seconds(30))
        #expect(bucket.available(at: .seconds(30)) == 1)
        bucket.take(1)
        #expect(bucket.nextToken(at: .seconds(30)) == .milliseconds(30_100))
        #expect(bucket.available(at: .seconds(40)) == 10)
    }

    @Test func aPauseShorterThanATokenBringsNone() {
        var bucket = TokenBucket(1, per: .seconds(60))
        bucket.take(1)

        bucket.pause(for: .seconds(1), at: .seconds(10))

        #expect(bucket.available(at: .seconds(11)) == 0)
        #expect(bucket.nextToken(at: .seconds(11)) == .seconds(60))
    }

    @Test func aPauseIsMadeLongerAndNeverShorter() {
        var bucket = TokenBucket(1, per: .seconds(1))

        bucket.pause(for: .seconds(10), at: .zero)
        bucket.pause(for: .seconds(2), at: .seconds(1))
        #expect(bucket.nextToken(at: .seconds(1)) == .seconds(10))
        bucket.pause(for: .seconds(20), at: .seconds(1))

        #expect(bucket.nextToken(at: .seconds(1)) == .seconds(21))
    }

    @Test(
        arguments: [
            (0, Duration.seconds(1), nil), (-5, .seconds(1), -5), (1, .seconds(1), 0), (Int.min, .seconds(1), Int.min),
        ] as [(Int, Duration, Int?)]
    )
    func lessThanOneIsOne(count: Int, interval: Duration, burst: Int?) {
        var bucket = TokenBucket(count, per: interval, burst: burst)

        #expect(bucket.available(at: .zero) == 1)
        bucket.take(1)
        #expect(bucket.nextToken(at: .zero) == .seconds(1))
    }

    @Test(arguments: [
        (Int.max, Duration.seconds(Int64.max), Int.max), (1, .seconds(Int64.max), Int.max),
        (Int.max, Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
    ])
    func nothingIsTooLargeForTheArithmetic(count: Int, interval: Duration, burst: Int) {
        var bucket = TokenBucket(count, per: interval, burst: burst)

        bucket.take(bucket.available(at: .zero))
        bucket.pause(for: .seconds(Int64.max), at: .seconds(1))
        _ = bucket.available(at: .seconds(Int64.max))
        _ = bucket.nextToken(at: .seconds(Int64.max))
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func withoutAnIntervalOnlyAPauseLimits(
        _ interval: Duration
    ) {
        var bucket = TokenBucket(1, per: interval)

        bucket.take(1_000_000)
        #expect(bucket.available(at: .zero) == .max)
        bucket.pause(for: .seconds(1), at: .zero)

        #expect(bucket.available(at: .zero) == 0)
        #expect(bucket.nextToken(at: .zero) == .seconds(1))
        #expect(bucket.available(at: .seconds(1)) == .max)
    }
}

@Suite(.bounded) struct TokenBucketFuzzTests {
    @Test func noTimetableGetsMoreThanBurstAndRateAllow() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 100) {
            let count = Int.random(in: 1...20, using: &fuzz)
            let interval = Duration.milliseconds(Int.random(in: 1...3000, using: &fuzz))
            let burst = Int.random(in: 1...30, using: &fuzz)
            var bucket = TokenBucket(count, per: interval, burst: burst)
            var time = Duration.zero
            var taken = 0

            for _ in 0..<100 {
                time += .microseconds(Int.random(in: 0...500_000, using: &fuzz))
                if Int.random(in: 0..<10, using: &fuzz) == 0 { bucket.pause(for: .milliseconds(100), at: time) }
                let available = bucket.available(at: time)
                let next = bucket.nextToken(at: time)
                #expect((0...burst).contains(available) && (available == 0) == (next > time))
                if available > 0 {
                    let tokens = Int.random(in: 0...available, using: &fuzz)
                    bucket.take(tokens)
                    taken += tokens
                } else {
                    var later = bucket
                    #expect(later.available(at: next) >= 1)
                }
            }

            #expect(interval * (taken - burst) <= time * count, "seed \(Fuzz.seed)")
        }
    }
}
