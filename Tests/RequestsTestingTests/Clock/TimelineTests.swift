// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct TimelineTests {
    private func at(_ seconds: Int) -> ManualClock.Instant { .init(offset: .seconds(seconds)) }

    @Test func sleepersWakeInTheOrderOfTheirDeadlinesThenOfTheirComing() {
        var timeline = Timeline<String>(now: at(0))

        #expect(timeline.sleep(1, until: at(2), "late") == [])
        #expect(timeline.sleep(2, until: at(1), "early") == [])
        #expect(timeline.sleep(3, until: at(1), "early, but second") == [])
        #expect(timeline.sleep(4, until: at(3), "never") == [])

        #expect(timeline.advance(to: at(2)) == ["early", "early, but second", "late"])
        #expect(timeline.advance(to: at(2)) == [])
        #expect(timeline.sleepers.map(\.waiter) == ["never"])
    }

    @Test func aDeadlineThatIsReachedIsNotSleptFor() {
        var timeline = Timeline<String>(now: at(5))

        #expect(timeline.sleep(1, until: at(5), "now") == ["now"])
        #expect(timeline.sleep(2, until: at(4), "past") == ["past"])
        #expect(timeline.sleepers.isEmpty)
    }

    @Test func timeNeverGoesBack() {
        var timeline = Timeline<String>(now: at(5))
        _ = timeline.sleep(1, until: at(6), "a")

        #expect(timeline.advance(to: at(1)) == [])
        #expect(timeline.now == at(5))
    }

    @Test func watchersResumeOnceEnoughTasksSleep() {
        var timeline = Timeline<String>(now: at(0))

        #expect(timeline.watch(1, for: 0, "none") == ["none"])
        #expect(timeline.watch(2, for: 2, "two") == [])
        #expect(timeline.watch(3, for: 1, "one") == [])
        #expect(timeline.sleep(4, until: at(1), "a") == ["one"])
        #expect(timeline.sleep(5, until: at(1), "b") == ["two"])
        #expect(timeline.watch(6, for: 2, "still two") == ["still two"])
    }

    @Test func someSleepWithoutBeingCounted() {
        var timeline = Timeline<String>(now: at(0))

        #expect(timeline.watch(1, for: 1, "one") == [])
        #expect(timeline.sleep(2, until: at(1), "uncounted", isCounted: false) == [])
        #expect(timeline.sleeperCount == 0)
        #expect(timeline.watch(3, for: 1, "still one") == [])
        #expect(timeline.sleep(4, until: at(2), "counted") == ["one", "still one"])
        #expect(timeline.advance(to: at(1)) == ["uncounted"])
    }

    @Test func removedWaiterIsReturnedOnceAndNotWoken() {
        var timeline = Timeline<String>(now: at(0))
        _ = timeline.sleep(1, until: at(1), "sleeper")
        _ = timeline.watch(2, for: 5, "watcher")

        #expect(timeline.remove(1) == "sleeper")
        #expect(timeline.remove(1) == nil)
        #expect(timeline.remove(2) == "watcher")
        #expect(timeline.remove(3) == nil)
        #expect(timeline.advance(to: at(1)) == [])
    }
}
