// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct ManualClockTests {
    @Test func sleepsUntilClockIsAdvanced() async throws {
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

    @Test func advanceWakesOnlyExpiredSleepers() async throws {
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

    @Test func sleepersWakeByDeadlineThenArrival() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let (clock, executor, woken) = (ManualClock(), OneQueueExecutor(), Locked<[String]>([]))
        let sleeps = [("late", 2), ("early", 1), ("early, but second", 1), ("never", 3)]
        var tasks: [Task<Void, any Error>] = []
        for (index, (name, seconds)) in sleeps.enumerated() {
            let task = Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                woken.withLock { $0.append(name) }
            }
            tasks.append(task)
            try await clock.waitForSleepers(index + 1)
        }

        clock.advance(to: .init(offset: .seconds(2)))

        for task in tasks.dropLast() { try await task.value }
        #expect(woken.withLock { $0 } == ["early", "early, but second", "late"])
        #expect(clock.sleeperCount == 1)
        tasks.last?.cancel()
    }

    @Test func uncountedTimeoutIsNotASleeper() async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return }
        let (clock, executor) = (ManualClock(), OneQueueExecutor())
        let deadline = ManualClock.Instant(offset: .seconds(1))
        let timeout = Task(executorPreference: executor) { try await clock.sleep(until: deadline, isCounted: false) }
        let sleep = Task(executorPreference: executor) { try await clock.sleep(until: deadline) }

        // The timeout was first in the queue, so it already sleeps by then.
        try await clock.waitForSleepers()
        #expect(clock.sleeperCount == 1)

        clock.advance(to: deadline)
        try await timeout.value
        try await sleep.value
    }

    @Test func clockNeverRunsBackwards() {
        let clock = ManualClock(now: .init(offset: .seconds(5)))

        clock.advance(to: .init(offset: .seconds(1)))
        clock.advance(by: .seconds(-1))

        #expect(clock.now == .init(offset: .seconds(5)))
    }

    @Test func expiredSleepReturnsImmediately() async throws {
        let clock = ManualClock(now: .init(offset: .seconds(5)))

        try await clock.sleep(until: .init(offset: .seconds(5)))
        try await clock.sleep(for: .zero)

        #expect(clock.now == .init(offset: .seconds(5)) && clock.sleeperCount == 0)
    }

    @Test func cancellationEndsSleep() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test func cancellationEndsWaitForSleepers() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.waitForSleepers() }

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancellationRacesClockAdvance() async throws {
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

/// Runs the jobs of its tasks in the order in which they are resumed.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OneQueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "ManualClockTests")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
