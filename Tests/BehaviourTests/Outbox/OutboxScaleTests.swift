// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// An outbox with many entries.
@Suite(.bounded) struct OutboxScaleTests {
    private static let count = Scale.pick(500, whole: 10_000)

    /// Fills the folder with the entries of a previous process, by default three per category.
    private static func fill(_ trial: OutboxTrial, perCategory: Int = 3) async throws {
        let outbox = try trial.open { $0.isPaused = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for note in 0..<count {
                group.addTask { try await outbox.add(SaveNote(note: note, text: "soup"), in: "\(note / perCategory)") }
            }
            try await group.waitForAll()
        }
        await outbox.close()
    }

    @Test func entriesAreDeliveredOnceDespiteFailures() async throws {
        let seen = Locked<[String: Int]>([:])
        let random = Locked(SeededRandom(7))
        let trial = OutboxTrial { arrival in
            let isWell = random.withLock { Bool.random(using: &$0) }
            if isWell { seen.withLock { $0[arrival.key ?? "", default: 0] += 1 } }
            return isWell ? .text("saved") : .status(.serviceUnavailable)
        }
        try await Self.fill(trial)
        let outbox = try trial.open { $0.maxConcurrentEntries = 16 }
        let time = Task { [clock = trial.clock, date = trial.date] in
            while !Task.isCancelled {
                // On a busy machine, the first attempts may take long.
                guard (try? await clock.waitForSleepers()) != nil else { continue }
                date.advance(by: 1)
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }

        #expect(await outbox.waitUntilDrained())
        time.cancel()

        let counts = seen.withLock { $0 }
        #expect(counts.count == Self.count && counts.values.allSatisfy { $0 == 1 })
        // About one failure per entry, and no attempt ahead of schedule.
        #expect(trial.arrivals.count < 3 * Self.count)
    }

    @Test(.tags(.alone)) func openingTakesUnderOneSecond() async throws {
        let trial = OutboxTrial()
        try await Self.fill(trial)

        let start = ProcessorTime.ofProcess
        let outbox = try trial.open { $0.isPaused = true }
        let time = ProcessorTime.ofProcess - start

        #expect(outbox.entries.count == Self.count)
        #expect(time < .seconds(1))
    }

    /// The setter may be called on the main thread.
    @Test(.tags(.alone)) func accountChangeIsFast() async throws {
        let trial = OutboxTrial()
        try await Self.fill(trial, perCategory: 1)
        let outbox = try trial.open { $0.isPaused = true }

        let time = ProcessorTime.shortest { outbox.account = "ada" }

        #expect(time < .milliseconds(100))
    }

    @Test(.tags(.alone)) func waitingUsesNoProcessorTime() async throws {
        let trial = OutboxTrial { _ in .status(.serviceUnavailable) }
        try await Self.fill(trial)
        let outbox = try trial.open { $0.backoff = .constant(.seconds(60)).jitter(.none) }
        let categories = (Self.count + 2) / 3
        await trial.arrivals.first(categories)
        try await eventually { outbox.entries.count { $0.nextAttempt != nil } == categories }

        let start = ProcessorTime.ofProcess
        try await Task.sleep(for: .milliseconds(200))

        #expect(ProcessorTime.ofProcess - start < .milliseconds(100))
        #expect(trial.arrivals.count == categories)
    }
}
