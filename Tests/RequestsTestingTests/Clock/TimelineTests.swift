// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct TimelineTests {
    private func at(_ seconds: Int) -> ManualClock.Instant { .init(offset: .seconds(seconds)) }

    @Test func sleepersWakeInTheOrderOfTheirDeadlinesThenOfTheirComing() {
        var timeline = Timeline<String>(now: at(0))

        #expect(timeline.sleep(1, until: at(2), "late") == true)
        #expect(timeline.sleep(2, until: at(1), "early") == true)
        #expect(timeline.sleep(3, until: at(1), "early, but second") == true)
        #expect(timeline.sleep(4, until: at(3), "never") == true)

        #expect(timeline.advance(to: at(2)) == ["early", "early, but second", "late"])
        #expect(timeline.advance(to: at(2)) == [])
        #expect(timeline.sleepers.map(\.waiter) == ["never"])
    }

    @Test func aDeadlineThatIsReachedIsNotSleptFor() {
        var timeline = Timeline<String>(now: at(5))

        #expect(timeline.sleep(1, until: at(5), "now") == false)
        #expect(timeline.sleep(2, until: at(4), "past") == false)
        #expect(timeline.sleepers.isEmpty)
    }

    @Test func timeNeverGoesBack() {
        var timeline = Timeline<String>(now: at(5))
        _ = timeline.sleep(1, until: at(6), "a")

        #expect(timeline.advance(to: at(1)) == [])
        #expect(timeline.now == at(5))
    }

    @Test func someSleepWithoutBeingCounted() {
        var timeline = Timeline<String>(now: at(0))

        #expect(timeline.sleep(1, until: at(1), "uncounted", isCounted: false) == true)
        #expect(timeline.sleeperCount == 0)
        #expect(timeline.sleep(2, until: at(2), "counted") == true)
        #expect(timeline.sleeperCount == 1)
        #expect(timeline.advance(to: at(1)) == ["uncounted"])
    }

    @Test func removedWaiterIsReturnedOnceAndNotWoken() {
        var timeline = Timeline<String>(now: at(0))
        _ = timeline.sleep(1, until: at(1), "sleeper")

        #expect(timeline.remove(1) == "sleeper")
        #expect(timeline.remove(1) == nil)
        #expect(timeline.remove(3) == nil)
        #expect(timeline.advance(to: at(1)) == [])
    }
}
