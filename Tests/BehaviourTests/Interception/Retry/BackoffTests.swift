// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct BackoffTests {
    private static let longest = RandomSource { .max }
    private static let shortest = RandomSource { 0 }

    @Test(
        arguments: [
            (.none, [0, 0, 0]),
            (.constant(.milliseconds(3)), [3, 3, 3]),
            (
                .exponential(from: .milliseconds(500)),
                [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
            ),
            (.exponential(from: .milliseconds(100), factor: 3), [100, 300, 900]),
            (.exponential(from: .milliseconds(100), factor: 0.5), [100, 100]),
            (.exponential(from: .milliseconds(100), factor: .nan), [100, 100]),
            (.fibonacci(), [1_000, 1_000, 2_000, 3_000, 5_000, 8_000, 13_000, 21_000, 34_000, 55_000, 60_000]),
            (.constant(.seconds(-1)), [0]),
            (.exponential(from: .seconds(90)), [60_000]),
        ] as [(RetryPolicy.Backoff, [Int])]
    ) func backoffDelaysFollowTheCurve(_ backoff: RetryPolicy.Backoff, milliseconds: [Int]) {
        let waits = (1...milliseconds.count).map { backoff.jitter(.none).delay(before: $0) }

        #expect(waits == milliseconds.map { .milliseconds($0) })
    }

    @Test func jitterRangesFromZeroToFullDelay() {
        let backoff = RetryPolicy.Backoff.exponential(from: .seconds(1))

        #expect(backoff.delay(before: 3, random: Self.shortest) == .zero)
        #expect(backoff.delay(before: 3, random: Self.longest) > .milliseconds(3_999))
        #expect(backoff.jitter(.half).delay(before: 3, random: Self.shortest) == .seconds(2))
        #expect(backoff.jitter(.half).delay(before: 3, random: Self.longest) <= .seconds(4))
    }

    @Test(arguments: [Int.min, -1, 0, 1, 1_000, 1_000_000, Int.max])
    func extremeRetryCountsDoNotOverflow(retry: Int) {
        for backoff in [RetryPolicy.Backoff.exponential(), .fibonacci(), .constant(.seconds(Int64.max / 2))] {
            let wait = backoff.delay(before: retry)
            #expect(wait >= .zero && wait <= .seconds(60))
        }
    }

    @Test func seededDelaysAreReproducible() {
        func waits() -> [Duration] {
            let random = RandomSource.seeded(7)
            return (1...10).map { RetryPolicy.Backoff.exponential().delay(before: $0, random: random) }
        }

        #expect(waits() == waits())
        #expect(Set(waits()).count == 10)
    }
}
