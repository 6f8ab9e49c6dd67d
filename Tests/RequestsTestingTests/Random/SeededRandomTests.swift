// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct SeededRandomTests {
    @Test func seedProducesSplitMix64Sequence() {
        var random = SeededRandom(1_234_567)

        let numbers = (0..<5).map { _ in random.next() }

        #expect(
            numbers == [
                6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
                4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
            ]
        )
    }

    @Test func seededSourceMatchesSeededRandom() {
        var random = SeededRandom(7)
        let source = RandomSource.seeded(7)
        let sameSource = source

        #expect(source.next() == random.next())
        #expect(sameSource.next() == random.next())
    }

    @Test func sequenceIsReproducible() {
        var random = SeededRandom(42)

        let drawn = (0..<6).map { _ in Int.random(in: 0..<100, using: &random) }
        let shuffled = Array(0..<6).shuffled(using: &random)

        #expect(drawn == [74, 15, 27, 34, 3, 86])
        #expect(shuffled.sorted() == Array(0..<6))
    }

    @Test func seededJitterMakesBackoffPredictable() async throws {
        let clock = ManualClock()
        let backoff = RetryPolicy.Backoff.exponential(from: .seconds(1)).jitter(.full)
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.any).respond(with: .status(.serviceUnavailable), .status(.serviceUnavailable), .text("ok"))
        let client = HTTPClient(baseURL: URL(string: "https://a"), transport: stubber) {
            $0.retry = RetryPolicy(limit: 2, backoff: backoff)
            $0.clock = clock
            $0.random = .seeded(7)
        }
        let random = RandomSource.seeded(7)
        let waits = (1...2).map { backoff.delay(before: $0, random: random) }

        async let content = HTTPRequest("/x").fetch(on: client)
        for wait in waits {
            try await clock.waitForSleepers()
            #expect(stubber.requests.count < 3)
            clock.advance(by: wait)
        }

        #expect(try await content == Data("ok".utf8))
    }
}
