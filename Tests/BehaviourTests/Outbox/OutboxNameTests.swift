// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// The names of types in the journal, and the journals of earlier and later versions.
@Suite(.bounded) struct OutboxNameTests {
    private enum Notes {
        struct Save: RequestSpec, Codable {
            var id: Int
            var request: Put<Void> { Put("notes/\(id)") }
        }
    }

    private enum Tags {
        struct Save: RequestSpec, Codable {
            var id: Int
            var request: Put<Void> { Put("tags/\(id)") }
        }
    }

    private static let journals = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "Journals")

    /// Returns an outbox trial with a copy of a journal that the first version wrote.
    private static func trial(of name: String) throws -> OutboxTrial {
        let trial = OutboxTrial()
        try FileManager.default.copyItem(at: journals.appending(path: "\(name).journal"), to: trial.journal)
        return trial
    }

    // MARK: Names

    @Test func typesWithSameShortNameAreDistinguished() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open {
            $0.register(Notes.Save.self, as: "Save")
            $0.register(Tags.Save.self, as: "save-tag")
        }

        try await outbox.add(Notes.Save(id: 1), in: "a")
        try await outbox.add(Tags.Save(id: 2), in: "a")

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.path) == ["/notes/1", "/tags/2"])
    }

    @Test func duplicateTypeNameFails() throws {
        let trial = OutboxTrial()

        #expect(throws: Outbox.Error.repeatedName("save")) {
            try trial.open {
                $0.register(Notes.Save.self, as: "save")
                $0.register(Tags.Save.self, as: "save")
            }
        }
        // One of the handlers would be ignored.
        #expect(throws: Outbox.Error.repeatedName("save")) {
            try trial.open {
                $0.register(Notes.Save.self, as: "save") { _ in throw SampleError() }
                $0.register(Notes.Save.self, from: "save", migrating: { $0 })
            }
        }
    }

    // MARK: Other versions

    /// Other versions of the library must be able to read the journal.
    @Test func journalKeyNamesAreStable() async throws {
        let trial = OutboxTrial { $0.text == "late" ? .status(.serviceUnavailable) : .text("saved") }
        let outbox = try trial.open { $0.isPaused = true }
        try await outbox.add(SaveNote(note: 1, text: "1"), in: "a")
        try await outbox.add(SaveNote(note: 2, text: "late"), in: "a")
        outbox.resume()
        try await trial.clock.waitForSleepers()
        try await outbox.remove(outbox.add(SaveNote(note: 3), in: "a"))
        await outbox.close()

        let text = try String(contentsOf: trial.journal, encoding: .utf8)
        let names = text.matches(of: /"([A-Za-z_]\w*)":/).map { String($0.1) }

        let records = ["added", "_0", "content", "number", "version", "changed", "sent", "line", "before", "discarded"]
        let entry = ["id", "type", "added", "category", "state", "pending", "attempts", "isPassed"]
        let failure = ["nextAttempt", "wait", "failure"]
        #expect(Set(names).subtracting(["note", "text"]) == Set(records + entry + failure))
    }

    @Test func firstVersionJournalIsConvertedOnce() async throws {
        let trial = try Self.trial(of: "states")
        func open() async throws -> Any? {
            let outbox = try trial.open { $0.isPaused = true }
            await outbox.close()
            return try FileManager.default.attributesOfItem(atPath: trial.journal.path)[.systemFileNumber]
        }
        let first = try await open() as? Int
        let bytes = try Data(contentsOf: trial.journal)

        #expect(try await open() as? Int == first && first != nil)
        #expect(try Data(contentsOf: trial.journal) == bytes)
    }

    @Test(arguments: ["states", "replaced"]) func firstVersionJournalKeepsAllEntries(name: String) async throws {
        let trial = try Self.trial(of: name)
        let json = try Data(contentsOf: Self.journals.appending(path: "\(name).entries"))
        let entries = try JSONDecoder().decode([Outbox.Entry].self, from: json)
        func open() throws -> Outbox {
            try trial.open {
                ($0.account, $0.isPaused) = (entries[0].account, true)
                $0.register(SaveNote.self, as: "save-note")
                $0.register(UploadPhoto.self, as: "upload")
            }
        }

        let first = try open()

        #expect(first.entries == entries && first.damage == [])
        try await first.add(SaveNote(note: 9), in: "notes/9")
        let all = first.entries
        await first.close()
        // The journal now has the format of this version.
        let second = try open()
        #expect(second.entries == all && all.count == entries.count + 1)
    }

    @Test func firstVersionEntriesWithDeclaredNamesAreSent() async throws {
        let trial = try Self.trial(of: "states")
        let outbox = try trial.open {
            $0.account = "ada"
            $0.register(SaveNote.self, as: "save-note")
        }
        try await outbox.removeAll { $0.type == "upload" }
        let refused = outbox.entries.filter { $0.state == .parked(.refused) || $0.state == .parked(.expired) }
        for entry in refused { try await outbox.retry(entry.id) }
        try await trial.pass(.seconds(120))

        #expect(await !outbox.waitUntilDrained())

        #expect(outbox.states == [.parked(.otherAccount)])
        let texts = trial.arrivals.elements.map(\.text)
        #expect(Set(texts) == ["busy", "down", "bad", "later \"ü\" \n line", "skip", "late"])
        #expect(texts.filter { $0 == "bad" || $0.hasPrefix("later") }.first == "bad")
    }

    @Test(arguments: [false, true])
    func ambiguousShortNameIsNotResolved(isReplaced: Bool) async throws {
        let trial = try Self.trial(of: "names")
        func open(isPaused: Bool) throws -> Outbox {
            try trial.open {
                $0.isPaused = isPaused
                $0.register(Notes.Save.self, as: "Save")
                $0.register(Tags.Save.self, as: "save-tag")
            }
        }
        if isReplaced { await (try open(isPaused: true)).close() }

        let outbox = try open(isPaused: false)
        try await outbox.add(Notes.Save(id: 3), in: "d")

        #expect(await !outbox.waitUntilDrained())
        #expect(outbox.states == [.parked(.unreadable), .pending])
        #expect(outbox.entries.map(\.type) == ["Save", "Save"])
        #expect(outbox.entries[0].failure?.contains("matches two registered types") == true)
        // A new entry has its registered name.
        #expect(Set(trial.arrivals.elements.map(\.path)) == ["/notes/1", "/notes/2", "/notes/3"])
        #expect(Set(trial.arrivals.elements.map(\.text)) == ["plain", "plain too", ""])
    }

    @Test func shortNameIsSentOnceRegistered() async throws {
        let trial = try Self.trial(of: "names")
        let outbox = try trial.open {
            $0.register(Tags.Save.self, as: "save-tag")
            $0.register(Tags.Save.self, as: "Save")
        }

        #expect(await outbox.waitUntilDrained())

        #expect(trial.arrivals.elements.map(\.path).filter { $0.hasPrefix("/tags") } == ["/tags/1", "/tags/2"])
    }

    /// Lines of an unknown version with the correct length and checksum.
    @Test(arguments: [
        #"00000022 {"#,
        #"{"moved":{"_0":"9BAE1F70-6F6C-42E1-947C-F61C246136FA","to":"b"}}"#,
        #"{"changed":{"_0":{"id":"9BAE1F70-6F6C-42E1-947C-F61C246136FA","state":{"frozen":{}}}}}"#,
    ])
    func unknownRecordKindFails(payload: String) async throws {
        let trial = OutboxTrial()
        let first = try trial.open { $0.isPaused = true }
        try await first.add(SaveNote(note: 1))
        await first.close()
        let known = try Data(contentsOf: trial.journal)
        let line = String(format: "%08x %08x ", payload.utf8.count, Self.checksum(of: payload)) + payload + "\n"
        let isRecord = payload.hasPrefix("{")

        for journal in [known + Data(line.utf8), Data(line.utf8) + known] {
            try journal.write(to: trial.journal)
            if isRecord {
                #expect(throws: Outbox.Error.newerJournal) { try trial.open() }
                // The newer version finds it unchanged.
                #expect(try Data(contentsOf: trial.journal) == journal)
            } else {
                let outbox = try trial.open { $0.isPaused = true }
                #expect(outbox.entries.count == 1)
                try outbox.discardDamage()
                await outbox.close()
            }
        }
    }

    /// CRC-32 (ISO 3309), bit by bit.
    private static func checksum(of text: String) -> UInt32 {
        ~text.utf8.reduce(~0 as UInt32) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
    }
}
