// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ManualClockTests {
    @Test func aTaskSleepsUntilTheClockIsAdvanced() async throws {
        let clock = ManualClock()
        let task = Task {
            try await clock.sleep(for: .seconds(60))
            return clock.now
        }

        try await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        #expect(clock.sleeperCount == 1)
        clock.advance(to: .init(offset: .seconds(60)))

        #expect(try await task.value == .init(offset: .seconds(60)))
        #expect(clock.sleeperCount == 0)
    }

    @Test func onlyThoseWhoseDeadlineIsReachedWake() async throws {
        let clock = ManualClock()
        let tasks = (1...3).map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                return seconds
            }
        }
        try await clock.waitForSleepers(3)

        for (index, task) in tasks.enumerated() {
            #expect(clock.sleeperCount == 3 - index)
            clock.advance(by: .seconds(1))
            #expect(try await task.value == index + 1)
        }
    }

    @Test func aSleepThatIsOverReturnsAtOnce() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(5)))

        try await clock.sleep(until: .init(offset: .seconds(5)))
        try await clock.sleep(for: .zero)

        #expect(clock.now == .init(offset: .seconds(5)) && clock.sleeperCount == 0)
    }

    @Test func cancellationEndsASleepAtOnce() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func cancellationEndsTheWaitForSleepers() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.waitForSleepers() }

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancelThatRacesAnAdvanceEndsTheSleepOnceAndForAll() async throws {
        for _ in 0..<Scale.races {
            let clock = ManualClock()
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            try await clock.waitForSleepers()

            async let cancelled: Void = task.cancel()
            async let advanced: Void = clock.advance(by: .seconds(1))
            _ = await (cancelled, advanced)

            // Either end is right; none would hang, and two would trap.
            let error = await task.result.error
            #expect(error == nil || error is CancellationError)
            #expect(clock.sleeperCount == 0)
        }
    }
}
