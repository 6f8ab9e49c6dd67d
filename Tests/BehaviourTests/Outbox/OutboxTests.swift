// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// The lifecycle of an entry, from `add` to its removal.
@Suite(.bounded) struct OutboxTests {
    @Test func entryIsSentOnceAndRemoved() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open()

        let id = try await outbox.add(SaveNote(note: 1, text: "soup"), in: "notes/1")

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements == [.init(path: "/notes/1", text: "soup", key: id.uuidString)])
        #expect(outbox.entries == [] && outbox.isEmpty)
    }

    @Test func entryFromPreviousProcessIsSent() async throws {
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

    @Test func failedEntryKeepsItsKeyAcrossRestarts() async throws {
        let isWell = Locked(false)
        let trial = OutboxTrial { _ in isWell.withLock { $0 } ? .text("saved") : .status(.serviceUnavailable) }
        let first = try trial.open()
        let id = try await first.add(SaveNote(note: 1), in: "notes/1")
        try await trial.pass(.seconds(1))
        await trial.arrivals.first(2)
        try await trial.clock.waitForSleepers()
        await first.close()
        isWell.withLock { $0 = true }

        let second = try trial.open()
        try await trial.clock.waitForSleepers()
        #expect(second.entries.map(\.attempts) == [2])
        #expect(second.entries.first?.nextAttempt == trial.date.now + 2)
        #expect(second.entries.first?.failure?.contains("503") == true)
        try await trial.pass(.seconds(2))

        #expect(await second.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.key) == Array(repeating: id.uuidString, count: 3))
    }

    @Test func entriesInCategoryAreSentSerially() async throws {
        let gate = Gate()
        let trial = OutboxTrial { $0.text == "1" ? .text("saved").held(by: gate) : .text("saved") }
        let outbox = try trial.open()
        for text in ["1", "2", "3"] { try await outbox.add(SaveNote(note: 1, text: text), in: "notes/1") }
        try await outbox.add(SaveNote(note: 2, text: "other"), in: "notes/2")

        await trial.arrivals.first(2)
        #expect(outbox.states.prefix(3) == [.sending, .pending, .pending])
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["1", "other", "2", "3"])
    }

    @Test(arguments: [1, 3]) func categoriesAreSentConcurrentlyUpToLimit(width: Int) async throws {
        let gate = Gate()
        let trial = OutboxTrial { _ in .text("saved").held(by: gate) }
        let outbox = try trial.open { ($0.maxConcurrentEntries, $0.isPaused) = (width, true) }
        for note in 1...5 { try await outbox.add(SaveNote(note: note), in: note == 5 ? nil : "notes/\(note)") }

        outbox.resume()
        await trial.arrivals.first(width)
        #expect(outbox.states.filter { $0 == .sending }.count == width)
        #expect(trial.client.graph().nodes.count == width)
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.count == 5)
    }

    @Test func failureBlocksOnlyItsCategory() async throws {
        let trial = OutboxTrial { $0.text == "bad" ? .status(.serviceUnavailable) : .text("saved") }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1, text: "bad"), in: "notes/1")
        try await outbox.add(SaveNote(note: 1, text: "later"), in: "notes/1")
        try await outbox.add(SaveNote(note: 2, text: "other"), in: "notes/2")

        // Another timer may be due before that of the next attempt.
        while trial.arrivals.count < 5 { try await trial.pass(.seconds(8)) }

        #expect(trial.arrivals.elements.map(\.text).filter { $0 != "bad" } == ["other"])
        // The other entry is removed once its response has been handled.
        try await eventually { outbox.entries.count == 2 }
    }

    @Test func retryDelaysGrowExponentially() async throws {
        let trial = OutboxTrial { _ in .status(.serviceUnavailable) }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1))

        for (attempt, wait) in [1, 2, 4, 8].enumerated() {
            await trial.arrivals.first(attempt + 1)
            try await trial.clock.waitForSleepers()
            #expect(outbox.entries.first?.nextAttempt == trial.date.now + Double(wait))
            try await trial.pass(.seconds(wait))
        }
        await trial.arrivals.first(5)
    }

    @Test(arguments: [("120", 120.0), ("0", 1), ("Sun, 06 Nov 1994 08:59:37 GMT", 600), ("999999", 86_400)])
    func longerRetryAfterOverridesBackoff(field: String, wait: Double) async throws {
        let trial = OutboxTrial { _ in .status(.tooManyRequests, headers: [.retryAfter: field]) }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1))

        try await trial.clock.waitForSleepers()

        #expect(outbox.entries.first?.nextAttempt == trial.date.now + wait)
    }

    /// The date of a device may be set back between two processes; this must not extend a delay.
    @Test(arguments: [("", 1.0), ("3600", 3600)])
    func dateSetBackBetweenRunsAddsNoDelay(field: String, wait: Double) async throws {
        let headers: HTTPHeaders = field.isEmpty ? [] : [.retryAfter: field]
        let trial = OutboxTrial { _ in .status(.serviceUnavailable, headers: headers) }
        trial.date.advance(by: 1_000_000_000)
        let first = try trial.open()
        try await first.add(SaveNote(note: 1))
        try await trial.clock.waitForSleepers()
        await first.close()

        trial.date.advance(by: -1_000_000_000)
        let second = try trial.open()
        try await trial.clock.waitForSleepers()

        #expect(second.entries.first?.nextAttempt == trial.date.now + wait)
        trial.clock.advance(by: .seconds(wait))
        await trial.arrivals.first(2)
    }

    /// Each process ends before the delay does.
    @Test(arguments: ["", "3600"]) func shortLivedProcessesDoNotRestartDelay(field: String) async throws {
        let isWell = Locked(false)
        let headers: HTTPHeaders = field.isEmpty ? [] : [.retryAfter: field]
        let trial = OutboxTrial { _ in
            isWell.withLock(\.self) ? .text("saved") : .status(.serviceUnavailable, headers: headers)
        }
        func open() throws -> Outbox { try trial.open { $0.backoff = .constant(.seconds(50)).jitter(.none) } }
        let wait = Double(field) ?? 50
        let first = try open()
        try await first.add(SaveNote(note: 1), in: "a")
        try await trial.clock.waitForSleepers()
        await first.close()
        isWell.withLock { $0 = true }
        trial.date.advance(by: -1_000_000_000)

        for opening in 0..<3 {
            let outbox = try open()
            try await trial.clock.waitForSleepers()
            #expect(outbox.entries.first?.nextAttempt == trial.date.now + wait * (1 - Double(opening) * 0.4))
            await outbox.close()
            trial.date.advance(by: wait * 0.4)
        }
        let last = try open()

        #expect(await last.waitUntilDrained())
        #expect(trial.arrivals.count == 2)
    }

    /// The date of a device may be changed while entries wait.
    @Test(arguments: [-31_536_000.0, -30, 30, 31_536_000])
    func dateChangeDoesNotDelayEntries(by change: Double) async throws {
        let isWell = Locked(false)
        let trial = OutboxTrial { _ in isWell.withLock { $0 } ? .text("saved") : .status(.serviceUnavailable) }
        let outbox = try trial.open { $0.backoff = .constant(.seconds(1)).jitter(.none) }
        for note in 1...3 {
            try await outbox.add(SaveNote(note: note), in: "\(note)")
            try await eventually { outbox.entries.allSatisfy { $0.attempts == 1 } }
            // The entries wait for different times.
            trial.date.advance(by: 0.25)
            trial.clock.advance(by: .milliseconds(250))
        }
        isWell.withLock { $0 = true }

        trial.date.advance(by: change)
        try await trial.clock.waitForSleepers()
        trial.clock.advance(by: .seconds(1))

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.count == 6)
    }

    @Test func clientRetriesKeepIdempotencyKey() async throws {
        let answers = Locked([StubResponse.status(.badGateway), .text("saved")])
        let trial = OutboxTrial { _ in answers.withLock { $0.removeFirst() } }
        trial.client.environment.retry = RetryPolicy(limit: 2, backoff: .none)
        trial.client.environment.interceptors.append(.idempotencyKeys())
        let outbox = try trial.open()

        let id = try await outbox.add(SaveNote(note: 1))

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.key) == [id.uuidString, id.uuidString])
    }

    @Test func nothingIsSentWhileOffline() async throws {
        let trial = OutboxTrial()
        trial.connectivity.isConnected = false
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1))
        #expect(outbox.states == [.pending] && trial.arrivals.count == 0)

        trial.connectivity.isConnected = true

        #expect(await outbox.waitUntilDrained())
    }

    @Test func pausedOutboxStartsNoNewEntries() async throws {
        let gate = Gate()
        let trial = OutboxTrial { _ in .text("saved").held(by: gate) }
        let outbox = try trial.open()
        try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        await trial.arrivals.first(1)

        outbox.pause()
        let events = outbox.events
        try await outbox.add(SaveNote(note: 1, text: "2"), in: "a")
        gate.open()
        for await event in events { if case .sent = event { break } }
        #expect(outbox.isPaused && outbox.states == [.pending] && trial.arrivals.count == 1)
        outbox.resume()

        #expect(await outbox.waitUntilDrained())
        #expect(!outbox.isPaused && trial.arrivals.count == 2)
    }

    @Test func responseIsHandledBeforeEntryIsRemoved() async throws {
        let trial = OutboxTrial { .text("saved \($0.text)") }
        let (gate, handled) = (Gate(), Recorder<String>())
        let outbox = try trial.open {
            $0.account = "ada"
        } handling: { sent in
            handled.record("\(sent.entry.account ?? "") \(sent.request.note) \(sent.response.body)")
            try? await gate.wait()
        }
        try await outbox.add(SaveNote(note: 7, text: "soup"), in: "a")
        try await outbox.add(SaveNote(note: 8, text: "tea"), in: "a")

        await handled.first(1)
        #expect(outbox.states == [.sending, .pending] && trial.arrivals.count == 1)
        gate.open()

        #expect(await outbox.waitUntilDrained())
        #expect(handled.elements == ["ada 7 saved soup", "ada 8 saved tea"])
    }

    @Test func unfinishedHandlerRunsAgainAfterReopening() async throws {
        let trial = OutboxTrial()
        let (gate, handled) = (Gate(), Recorder<UUID>())
        let handle: Outbox.Handler<SaveNote> = { sent in
            handled.record(sent.entry.id)
            try? await gate.wait()
        }
        let first = try trial.open(handling: handle)
        let id = try await first.add(SaveNote(note: 1))
        await handled.first(1)
        await first.close()
        gate.open()

        let second = try trial.open(handling: handle)

        #expect(await second.waitUntilDrained())
        #expect(handled.elements == [id, id] && trial.arrivals.elements.map(\.key) == [id.uuidString, id.uuidString])
    }

    @Test func deallocatedOutboxReleasesItsFolder() async throws {
        let trial = OutboxTrial { _ in .never }
        var outbox: Outbox? = try trial.open()
        try await outbox?.add(SaveNote(note: 1))
        await trial.arrivals.first(1)

        outbox = nil

        try await eventually { (try? trial.open { $0.isPaused = true }) != nil }
        try await eventually { trial.client.operations.isEmpty }
    }
}
