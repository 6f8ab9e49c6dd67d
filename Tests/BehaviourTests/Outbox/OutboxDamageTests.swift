// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// What an outbox recovers if a part of its journal is lost.
@Suite(.bounded) struct OutboxDamageTests {
    private static let newline = UInt8(ascii: "\n")

    /// A journal, its lines, and the IDs of its entries.
    private struct Journal {
        let trial = OutboxTrial { ["1", "2"].contains($0.text) ? .text("saved") : .status(.serviceUnavailable) }
        var lines: [Data] = []
        var ids: [String: String] = [:]

        /// The index of the record that an entry was sent.
        func end(of text: String) -> Int? {
            lines.indices.last { lines[$0].range(of: Data((ids[text] ?? "").utf8)) != nil }
        }

        /// Opens the outbox with other lines, and returns what the server receives until nothing more is sent.
        func sent(_ lines: [Data]) async throws -> (texts: [String], outbox: Outbox) {
            try lines.reduce(into: Data()) { $0 += $1 }.write(to: trial.journal)
            let texts = Recorder<String>()
            let transport = InMemoryTransport { request in
                texts.record(request.text)
                return .text("saved")
            }
            let client = HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: transport)
            let outbox = try Outbox(at: trial.folder.url, client: client) {
                $0.connectivity = trial.connectivity
                $0.register(SaveNote.self, as: "SaveNote")
            }
            // Retry immediately what would wait for its next attempt.
            for entry in outbox.entries where entry.nextAttempt != nil { try await outbox.retry(entry.id) }
            await outbox.waitUntilDrained()
            return (texts.elements, outbox)
        }
    }

    /// Returns a journal: 1, 2 and 3 of one category, of which 1 and 2 were sent; x of another, which has failed; and
    /// y, which was added last.
    private static func journal() async throws -> Journal {
        var journal = Journal()
        let outbox = try journal.trial.open { $0.isPaused = true }
        func add(_ text: String, in category: String) async throws {
            journal.ids[text] = try await outbox.add(SaveNote(note: 1, text: text), in: category).uuidString
        }
        for text in ["1", "2", "3"] { try await add(text, in: "a") }
        try await add("x", in: "x")
        outbox.resume()
        try await eventually { outbox.entries.map(\.attempts) == [1, 1] }
        outbox.pause()
        try await add("y", in: "y")
        await outbox.close()
        let bytes = try Data(contentsOf: journal.trial.journal)
        journal.lines = bytes.split(separator: newline).map { Data($0 + [newline]) }
        return journal
    }

    @Test func lostSentRecordDoesNotRepeatEntry() async throws {
        let journal = try await Self.journal()
        var lines = journal.lines
        lines.remove(at: try #require(journal.end(of: "1")))

        let (texts, outbox) = try await journal.sent(lines)

        #expect(texts.sorted() == ["3", "x", "y"] && outbox.damage == [])
    }

    @Test(arguments: ["1", "2"]) func corruptedSentRecordDoesNotRepeatEntry(text: String) async throws {
        let journal = try await Self.journal()
        let line = try #require(journal.end(of: text))
        for index in stride(from: 0, to: journal.lines[line].count - 1, by: Scale.pick(7, whole: 1)) {
            var lines = journal.lines
            lines[line][index] ^= 1 << (index % 8)

            let (texts, outbox) = try await journal.sent(lines)

            #expect(!texts.contains("1") && !texts.contains("2"), "bit in byte \(index)")
            #expect(texts.contains("y"))
            // Changing the case of a digit of the checksum isn't damage.
            #expect(outbox.damage.count <= 1)
            #expect(outbox.states.allSatisfy { $0 == .parked(.uncertain) || $0 == .pending })
            try outbox.discardDamage()
            await outbox.close()
        }
    }

    @Test func uncertainEntryStaysParkedUntilRetried() async throws {
        let journal = try await Self.journal()
        let line = try #require(journal.end(of: "2"))
        var lines = journal.lines
        lines[line] = Data(repeating: 0, count: lines[line].count)

        let (texts, first) = try await journal.sent(lines)
        #expect(texts == ["y"] || texts.sorted() == ["x", "y"])
        let uncertain = first.entries.filter { $0.state == .parked(.uncertain) }.map(\.id.uuidString)
        #expect(uncertain.contains(journal.ids["2"] ?? "") && !uncertain.contains(journal.ids["1"] ?? ""))
        let entries = first.entries
        await first.close()

        // Opening has repaired the journal.
        let second = try journal.trial.open { $0.isPaused = true }
        #expect(second.entries == entries)
        for entry in entries where entry.state == .parked(.uncertain) { try await second.retry(entry.id) }
        await second.close()
        let bytes = try Data(contentsOf: journal.trial.journal)
        let (rest, third) = try await journal.sent([bytes])
        #expect(third.isEmpty)
        #expect(rest.filter { ["2", "3"].contains($0) } == ["2", "3"])
    }

    @Test func corruptAddRecordAffectsOnlyItsEntry() async throws {
        let journal = try await Self.journal()
        let line = try #require(journal.lines.firstIndex { $0.range(of: Data((journal.ids["3"] ?? "").utf8)) != nil })
        var lines = journal.lines
        lines[line][lines[line].count / 2] ^= 1

        let (texts, outbox) = try await journal.sent(lines)

        #expect(texts.sorted() == ["x", "y"] && outbox.isEmpty && outbox.damage.count == 1)
    }

    /// The category has continued without this entry, so a later entry doesn't prove that it was sent.
    @Test func skippedEntryWithDamagedRecordIsKept() async throws {
        let trial = OutboxTrial { $0.text == "bad" ? .status(.unprocessableContent) : .text("saved") }
        let first = try trial.open { ($0.decide, $0.isPaused) = ({ _, _ in .skip }, true) }
        let id = try await first.add(SaveNote(note: 1, text: "bad"), in: "a")
        try await first.add(SaveNote(note: 1, text: "later"), in: "a")
        try await first.add(SaveNote(note: 2, text: "kept"), in: "b", expires: trial.date.now)
        first.resume()
        #expect(await !first.waitUntilDrained())
        await first.close()
        let bytes = try Data(contentsOf: trial.journal)
        var lines = bytes.split(separator: Self.newline).map { Data($0 + [Self.newline]) }
        let line = try #require(
            lines.firstIndex { line in
                [#"{"changed":{"#, id.uuidString].allSatisfy { line.range(of: Data($0.utf8)) != nil }
            }
        )

        for index in stride(from: 0, to: lines[line].count - 1, by: Scale.pick(17, whole: 1)) {
            lines[line][index] ^= 1
            try lines.reduce(into: Data()) { $0 += $1 }.write(to: trial.journal)
            lines[line][index] ^= 1

            for _ in 0..<2 {
                let outbox = try trial.open()
                try await outbox.add(SaveNote(note: 1, text: "new"), in: "a")
                // The record of the other entry may be considered damaged, too.
                #expect(await !outbox.waitUntilDrained())
                // Changing the case of a digit of the checksum isn't damage.
                let state = Outbox.Entry.State.parked(outbox.damage.isEmpty ? .refused : .uncertain)
                #expect(outbox.entries.first { $0.id == id }?.state == state, "byte \(index)")
                #expect(!outbox.entries.contains { $0.category == "a" && $0.id != id }, "byte \(index)")
                await outbox.close()
            }
            let last = try trial.open()
            try last.discardDamage()
            await last.close()
        }
        #expect(trial.arrivals.elements.count { $0.text == "bad" } == 1)
    }

    @Test func closedOutboxCannotDiscardDamage() async throws {
        let trial = OutboxTrial()
        try Data("not a record\n".utf8).write(to: trial.journal)
        let first = try trial.open()
        await first.close()

        #expect(throws: Outbox.Error.closed) { try first.discardDamage() }

        let second = try trial.open()
        #expect(second.damage.count == 1)
    }

    @Test func damageIsListedUntilDiscarded() async throws {
        let trial = OutboxTrial()
        try Data("not a record\n".utf8).write(to: trial.journal)
        let first = try trial.open()
        #expect(first.damage.count == 1)
        await first.close()

        let second = try trial.open()
        #expect(second.damage.map(\.file.lastPathComponent) == first.damage.map(\.file.lastPathComponent))
        #expect(second.damage.map(\.code) == [.damaged])
        try second.discardDamage()
        #expect(second.damage == [])
        await second.close()

        let third = try trial.open()
        #expect(third.damage == [])
        #expect(try trial.folder.names() == ["bodies", "journal", "lock"])
    }
}
