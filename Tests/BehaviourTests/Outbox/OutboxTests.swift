// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct OutboxTests {
    @Test func entryIsSentOnceAndRemoved() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open()

        let id = try await outbox.add(SaveNote(note: 1, text: "soup"), in: "notes/1")

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements == [.init(path: "/notes/1", text: "soup", key: id.uuidString)])
        #expect(outbox.entries == [])
    }

    @Test func entryOfAnEarlierProcessIsSent() async throws {
        let trial = OutboxTrial()
        let first = try trial.open { $0.isPaused = true }
        let id = try await first.add(SaveNote(note: 1, text: "soup"), in: "notes/1")
        await first.close()
        #expect(trial.arrivals.count == 0)

        let second = try trial.open()

        #expect(await second.waitUntilDrained())
        #expect(trial.arrivals.elements == [.init(path: "/notes/1", text: "soup", key: id.uuidString)])
        await second.close()
        let third = try trial.open()
        #expect(third.entries == [])
    }

    @Test func failedEntryIsSentAgainWithTheSameKeyAfterARestart() async throws {
        let isWell = Locked(false)
        let trial = OutboxTrial { _ in isWell.withLock { $0 } ? .text("saved") : .status(.serviceUnavailable) }
        let first = try trial.open()
        let id = try await first.add(SaveNote(note: 1), in: "notes/1")
        try await trial.clock.waitForSleepers()
        try await trial.pass(.seconds(1))
        await trial.arrivals.first(2)
        try await trial.clock.waitForSleepers()
        await first.close()
        isWell.withLock { $0 = true }

        let second = try trial.open()
        try await trial.clock.waitForSleepers()
        #expect(second.entries.map(\.attempts) == [2])
        #expect(second.entries.first?.nextAttempt == trial.date.now + 2)
        try await trial.pass(.seconds(2))

        #expect(await second.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.key) == Array(repeating: id.uuidString, count: 3))
    }
}
