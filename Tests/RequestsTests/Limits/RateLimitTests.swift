// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RateLimitTests {
    typealias Step = (Duration, RateLimit.Input, [RateLimit.Action])

    /// Checks a transcript: the inputs with their times, and the expected actions.
    private func play(
        _ count: Int,
        per interval: Duration = .seconds(1),
        burst: Int? = nil,
        _ steps: [Step],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var limit = RateLimit(bucket: TokenBucket(count, per: interval, burst: burst))
        for (time, input, actions) in steps {
            let actual = limit.handle(input, at: time).map { action in
                if case .ask(let ids) = action { RateLimit.Action.ask(ids.sorted()) } else { action }
            }
            #expect(actual == actions, "\(input) at \(time)", sourceLocation: sourceLocation)
        }
    }

    @Test func theBurstGoesAtOnceAndTheOthersAtTheRate() {
        play(
            2,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.grant([2])]),
                (.zero, .arrived(3, priority: 0), [.sleep(.milliseconds(500), number: 1)]),
                (.milliseconds(100), .arrived(4, priority: 0), []),
                (.milliseconds(500), .woke(1), [.ask([3, 4])]),
                (.milliseconds(500), .answered([3: 0, 4: 0]), [.grant([3]), .sleep(.milliseconds(500), number: 2)]),
                (.milliseconds(1000), .woke(2), [.grant([4])]),
            ]
        )
    }

    @Test func thePriorityIsThatOfTheMomentOfTheGrant() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 8), [.sleep(.seconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 0), []),
                (.seconds(1), .woke(1), [.ask([2, 3])]),
                (.seconds(1), .answered([2: 0, 3: 4]), [.grant([3]), .sleep(.seconds(1), number: 2)]),
            ]
        )
    }

    @Test func cancelledWaiterConsumesNoToken() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.sleep(.seconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 0), []),
                (.zero, .left(2), []),
                (.zero, .left(2), []),
                (.seconds(1), .woke(1), [.grant([3])]),
                (.seconds(1), .left(3), []),
            ]
        )
    }

    @Test func theLastOneToLeaveEndsTheSleep() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.sleep(.seconds(1), number: 1)]),
                (.milliseconds(200), .left(2), [.stopSleeping]),
                (.milliseconds(300), .arrived(3, priority: 0), [.sleep(.milliseconds(700), number: 2)]),
                (.milliseconds(400), .woke(1), []),
                (.seconds(1), .woke(2), [.grant([3])]),
            ]
        )
    }

    @Test func waiterAddedDuringTheQueryOfPrioritiesIsCompared() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.sleep(.seconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 0), []),
                (.seconds(1), .woke(1), [.ask([2, 3])]),
                (.seconds(1), .arrived(4, priority: 8), []),
                (.seconds(1), .left(2), []),
                (.seconds(1), .answered([2: 9, 3: 0]), [.grant([4]), .sleep(.seconds(1), number: 2)]),
            ]
        )
    }

    @Test func noTokenIsTakenIfAllLeaveDuringTheQueryOfPriorities() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.sleep(.seconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 0), []),
                (.seconds(1), .woke(1), [.ask([2, 3])]),
                (.seconds(1), .left(2), []),
                (.seconds(1), .left(3), []),
                (.seconds(1), .answered([2: 0, 3: 0]), []),
                (.seconds(1), .arrived(4, priority: 0), [.grant([4])]),
            ]
        )
    }

    @Test func pauseHoldsAllBackAndReleasesThemOneByOne() {
        play(
            10,
            [
                (.zero, .paused(.seconds(30)), []),
                (.zero, .arrived(1, priority: 0), [.sleep(.seconds(30), number: 1)]),
                (.zero, .arrived(2, priority: 0), []),
                (.seconds(10), .paused(.seconds(30)), []),
                (.seconds(30), .woke(1), [.sleep(.seconds(10), number: 2)]),
                (.seconds(40), .woke(2), [.ask([1, 2])]),
                (.seconds(40), .answered([1: 0, 2: 0]), [.grant([1]), .sleep(.milliseconds(100), number: 3)]),
                (.milliseconds(40_100), .woke(3), [.grant([2])]),
            ]
        )
    }

    @Test func aPauseWhilePrioritiesAreAskedForComesInTime() {
        play(
            1,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .arrived(2, priority: 0), [.sleep(.seconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 0), []),
                (.seconds(1), .woke(1), [.ask([2, 3])]),
                (.seconds(1), .paused(.seconds(5)), []),
                (.seconds(1), .answered([2: 0, 3: 0]), [.sleep(.seconds(5), number: 2)]),
            ]
        )
    }

    @Test func aLateWakeUpGrantsWhatHasCollected() {
        play(
            10,
            burst: 5,
            [
                (.zero, .arrived(1, priority: 0), [.grant([1])]),
                (.zero, .paused(.milliseconds(1)), []),
                (.zero, .arrived(2, priority: 0), [.sleep(.milliseconds(1), number: 1)]),
                (.zero, .arrived(3, priority: 4), []),
                (.zero, .arrived(4, priority: 0), []),
                (.seconds(9), .woke(1), [.grant([3, 2, 4])]),
            ]
        )
    }

    @Test func aLongLineAsksABoundedNumberOfQuestions() {
        var limit = RateLimit(bucket: TokenBucket(10_000, per: .seconds(1), burst: 1))
        let ids = 1...Scale.pick(1000, whole: 10_000)
        for id in ids { _ = limit.handle(.arrived(id, priority: id % 5), at: .zero) }
        var time = Duration.zero
        var (questions, granted) = (0, [1])

        while granted.count < ids.count {
            time += .microseconds(100)
            var actions = limit.handle(.woke(limit.sleep ?? 0), at: time)
            if case .ask(let asked)? = actions.first {
                questions += asked.count
                actions = limit.handle(.answered([:]), at: time)
            }
            if case .grant(let ids)? = actions.first { granted += ids }
        }

        #expect(Array(granted.dropFirst()) == ids.dropFirst().sorted { ($1 % 5, $0) < ($0 % 5, $1) })
        #expect(questions < 100 * ids.count)
    }
}
