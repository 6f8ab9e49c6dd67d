// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// Writes are never sent with the credentials of another account.
@Suite(.bounded) struct OutboxAccountTests {
    @Test func entriesForOtherAccountsAreParked() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { ($0.account, $0.isPaused) = ("ada", true) }
        try await outbox.add(SaveNote(note: 1, text: "ada's"), in: "a")
        outbox.account = "bob"
        try await outbox.add(SaveNote(note: 1, text: "bob's"), in: "a")
        outbox.account = nil
        try await outbox.add(SaveNote(note: 1, text: "nobody's"), in: "a")
        outbox.resume()

        #expect(await !outbox.waitUntilDrained())
        #expect(outbox.states == [.parked(.otherAccount), .parked(.otherAccount)])
        outbox.account = "bob"
        #expect(await !outbox.waitUntilDrained())
        #expect(outbox.entries.map(\.account) == ["ada"])
        outbox.account = "ada"

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["nobody's", "bob's", "ada's"])
    }

    @Test func reopenedOutboxSendsOnlyForItsAccount() async throws {
        let trial = OutboxTrial()
        let first = try trial.open { ($0.account, $0.isPaused) = ("ada", true) }
        try await first.add(SaveNote(note: 1), in: "a")
        await first.close()

        let second = try trial.open()
        #expect(await !second.waitUntilDrained())
        #expect(second.states == [.parked(.otherAccount)] && trial.arrivals.count == 0)
        second.account = "ada"

        #expect(await second.waitUntilDrained())
    }

    @Test func accountChangeCancelsRequestSynchronously() async throws {
        let trial = OutboxTrial { $0.text == "ada's" ? .never : .text("saved") }
        let outbox = try trial.open { $0.account = "ada" }
        try await outbox.add(SaveNote(note: 1, text: "ada's"), in: "a")
        await trial.arrivals.first(1)
        let operation = try #require(trial.client.requestOperations.first)

        outbox.account = "bob"

        #expect(operation.isCancelled)
        try await eventually { outbox.states == [.parked(.otherAccount)] }
        // Cancellation by an account change isn't a failure.
        #expect(outbox.entries.first?.attempts == 0 && outbox.entries.first?.failure == nil)
    }

    @Test func restoredAccountResendsImmediately() async throws {
        let answers = Locked([StubResponse.never, .text("saved")])
        let trial = OutboxTrial { _ in answers.withLock { $0.removeFirst() } }
        let outbox = try trial.open { $0.account = "ada" }
        let events = outbox.events
        try await outbox.add(SaveNote(note: 1), in: "a")
        // The arrival is recorded before its response is chosen, so wait for the latter.
        try await eventually { answers.withLock { $0.count } == 1 }

        // The cancellation is reported after the account has changed back: the outbox is between two steps.
        outbox.account = "bob"
        outbox.account = "ada"

        // The clock doesn't advance: after a failure, the entry would wait forever.
        #expect(await outbox.waitUntilDrained())
        await outbox.close()
        var failures = 0
        for await event in events { if case .failed = event { failures += 1 } }
        #expect(failures == 0 && trial.arrivals.count == 2)
    }

    @Test func handlerCancelledAfterAccountChangeParksEntry() async throws {
        let (trial, hasBegun, gate) = (OutboxTrial(), Gate(), Gate())
        let outbox = try trial.open {
            $0.account = "ada"
        } handling: { _ in
            hasBegun.open()
            try await gate.wait()
            throw CancellationError()
        }
        try await outbox.add(SaveNote(note: 1), in: "a")
        try await hasBegun.wait()

        outbox.account = "bob"
        gate.open()
        try await eventually { outbox.entries.first?.failure != nil }
        outbox.account = "ada"

        #expect(await !outbox.waitUntilDrained())
        #expect(outbox.states == [.parked(.unhandled)] && trial.arrivals.count == 1)
    }

    /// Its handler would change the data of another user. Here, the account changes between the end of the request and
    /// its report.
    @Test(arguments: ["bob", "ada"]) func responseAfterAccountChangeIsNotHandled(last: String) async throws {
        let (first, second, handled) = (Gate(), Gate(), Recorder<String>())
        let trial = OutboxTrial { arrival in
            arrival.text == "bad"
                ? .status(.serviceUnavailable).held(by: first) : .text("saved").held(by: second)
        }
        let present = Locked<Outbox?>(nil)
        let outbox = try trial.open {
            $0.account = "ada"
            $0.decide = { _, _ in
                second.open()
                while !trial.client.operations.isEmpty { usleep(1000) }
                present.withLock { $0 }?.account = "bob"
                present.withLock { $0 }?.account = last
                return .park
            }
        } handling: {
            handled.record($0.request.text)
        }
        present.withLock { $0 = outbox }
        try await outbox.add(SaveNote(note: 1, text: "bad"), in: "a")
        try await outbox.add(SaveNote(note: 2, text: "good"), in: "b")
        await trial.arrivals.first(2)

        first.open()
        try await eventually { outbox.entries.map(\.category) == ["a"] }
        present.withLock { $0 = nil }

        #expect(handled.elements == [])
        await outbox.close()
        let next = try trial.open { ($0.account, $0.isPaused) = ("ada", true) }
        #expect(next.entries.map(\.category) == ["a"])
    }

    /// The account changes after an entry was selected and before its request is built.
    @Test func accountChangeWhileBuildingSendsNothing() async throws {
        let (trial, present) = (OutboxTrial(), Locked<Outbox?>(nil))
        let first = try trial.open {
            ($0.account, $0.isPaused) = ("ada", true)
            $0.register(UploadPhoto.self, as: "photo")
        }
        try await first.add(UploadPhoto(name: "a"), in: "a")
        await first.close()
        let outbox = try trial.open {
            ($0.account, $0.isPaused) = ("ada", true)
            $0.register(UploadPhoto.self, from: "photo") { content in
                present.withLock { $0 }?.account = "bob"
                return content
            }
        }
        present.withLock { $0 = outbox }

        outbox.resume()
        #expect(await !outbox.waitUntilDrained())
        present.withLock { $0 = nil }

        #expect(outbox.states == [.parked(.otherAccount)] && trial.arrivals.count == 0)
        await outbox.close()
    }

    /// The request ends after the change was reported, so its end must be reported, too.
    @Test func accountChangeEndsWaitUntilDrained() async throws {
        let trial = OutboxTrial { _ in .never }
        let outbox = try trial.open { $0.account = "ada" }
        let events = outbox.events
        try await outbox.add(SaveNote(note: 1), in: "a")
        await trial.arrivals.first(1)

        outbox.account = "bob"

        #expect(await !outbox.waitUntilDrained())
        await outbox.close()
        var states: [Outbox.Entry.State] = []
        for await event in events { if case .parked(let entry, _) = event { states.append(entry.state) } }
        #expect(states == [.parked(.otherAccount)])
    }

    /// The credentials change right after the account, while entries are added and sent.
    @Test func requestsNeverUseOtherAccountsCredentials() async throws {
        let token = Locked("ada")
        let trial = OutboxTrial()
        trial.client.environment.interceptors.append(
            .adapting { $0.headers.set(HTTPField("X-Account", token.withLock { $0 })) }
        )
        let outbox = try trial.open { ($0.account, $0.maxConcurrentEntries) = ("ada", 8) }

        func logIn(_ account: String) {
            outbox.account = nil
            token.withLock { $0 = account }
            outbox.account = account
        }

        for round in 0..<Scale.pick(20, whole: 200) {
            for note in 0..<8 { try await outbox.add(SaveNote(note: note, text: outbox.account ?? ""), in: "\(note)") }
            logIn(round.isMultiple(of: 2) ? "bob" : "ada")
        }

        for account in ["ada", "bob"] {
            logIn(account)
            await outbox.waitUntilDrained()
        }
        let sent = Set(trial.arrivals.elements.map { "\($0.text) \($0.key ?? "")" })
        #expect(outbox.isEmpty && sent.count == Scale.pick(20, whole: 200) * 8)
        #expect(trial.sentUnderAnotherAccount == [])
    }
}
