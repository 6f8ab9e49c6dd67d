// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// The folder of an outbox, and damage to it.
@Suite(.bounded) struct OutboxJournalTests {
    /// Adds notes to a paused outbox, and returns the journal.
    private static func journal(of trial: OutboxTrial, _ texts: [String]) async throws -> Data {
        let outbox = try trial.open { $0.isPaused = true }
        for text in texts { try await outbox.add(SaveNote(note: 1, text: text), in: "a") }
        await outbox.close()
        return try Data(contentsOf: trial.journal)
    }

    private static func isPrivate(_ url: URL) throws -> Bool {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.posixPermissions] as? Int).map { $0 & 0o077 == 0 } ?? false
    }

    @Test func openingFolderInUseFails() async throws {
        let trial = OutboxTrial()
        let first = try trial.open()
        #expect(throws: Outbox.Error.inUse) { try trial.open() }
        await first.close()

        let second = try trial.open()

        await #expect(throws: Outbox.Error.closed) { try await first.add(SaveNote(note: 1)) }
        try await second.add(SaveNote(note: 1))
        #expect(await second.waitUntilDrained())
        #expect(await first.waitUntilDrained())
    }

    @Test func addFailsAfterFolderIsRemoved() async throws {
        let trial = OutboxTrial()
        let folder = trial.folder.file("outbox")
        func open() throws -> Outbox {
            try Outbox(at: folder, client: trial.client) {
                $0.register(SaveNote.self, as: "note")
                ($0.connectivity, $0.isPaused) = (trial.connectivity, true)
            }
        }
        let first = try open()
        try await first.add(SaveNote(note: 1, text: String(repeating: "x", count: 70_000)), in: "a")
        try FileManager.default.removeItem(at: folder)

        await #expect(throws: FileError.self) { try await first.add(SaveNote(note: 2)) }

        let second = try open()
        let id = try await second.add(SaveNote(note: 3))
        await #expect(throws: FileError.self) { try await first.add(SaveNote(note: 4)) }
        await #expect(throws: FileError.self) { try await first.removeAll { _ in true } }
        first.resume()
        try await second.add(SaveNote(note: 5))
        await first.close()
        await second.close()
        let third = try open()
        #expect(third.entries.first?.id == id && third.entries.count == 2 && trial.arrivals.count == 0)
    }

    @Test func outboxStopsAfterLockFileIsRemoved() async throws {
        let trial = OutboxTrial()
        let first = try trial.open { $0.isPaused = true }
        try await first.add(SaveNote(note: 1, text: "1"), in: "a")
        try FileManager.default.removeItem(at: trial.folder.file("lock"))
        let second = try trial.open()

        await #expect(throws: FileError.self) { try await first.add(SaveNote(note: 2, text: "2"), in: "a") }
        #expect(await second.waitUntilDrained())
        try await second.add(SaveNote(note: 3, text: "3"), in: "a")
        first.resume()
        first.account = "ada"
        first.account = nil

        #expect(await second.waitUntilDrained())
        await first.close()
        #expect(trial.arrivals.elements.map(\.text) == ["1", "3"])
    }

    @Test func openingFailsIfFolderCannotBeCreated() throws {
        let trial = OutboxTrial()
        try Data().write(to: trial.folder.file("file"))
        #expect(throws: FileError.self) {
            try Outbox(at: trial.folder.file("file"), client: trial.client) {
                $0.register(SaveNote.self, as: "SaveNote")
            }
        }
        #expect(throws: FileError.self) {
            try Outbox(at: URL(string: "https://example.com")!, client: trial.client) {
                $0.register(SaveNote.self, as: "SaveNote")
            }
        }
    }

    @Test func filesAreAccessibleOnlyToOwner() async throws {
        let trial = OutboxTrial()
        let photo = trial.folder.file("photo.jpg")
        try Data("photo".utf8).write(to: photo)
        let folder = trial.folder.file("outbox")
        let outbox = try Outbox(at: folder, client: trial.client) {
            $0.register(UploadPhoto.self, as: "UploadPhoto")
            $0.isPaused = true
        }
        try await outbox.add(UploadPhoto(name: "a"), file: photo)

        for file in TemporaryFolder.files(in: folder) + [folder] { #expect(try Self.isPrivate(file), "\(file)") }
        #expect(TemporaryFolder.files(in: folder).count == 3)
    }

    @Test func truncatedJournalOpensWithoutDamage() async throws {
        let trial = OutboxTrial()
        let whole = try await Self.journal(of: trial, ["1", "2", "ü\n3"])
        let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
        #expect(ends.count == 3)

        for count in stride(from: 0, through: whole.count, by: Scale.pick(23, whole: 1)) {
            try whole.prefix(count).write(to: trial.journal)
            let outbox = try trial.open { $0.isPaused = true }
            #expect(outbox.damage == [] && outbox.entries.count == ends.filter { $0 < count }.count, "\(count) bytes")
            // The remains of an interrupted write don't damage an appended line.
            try await outbox.add(SaveNote(note: 9))
            let entries = outbox.entries
            await outbox.close()
            let second = try trial.open { $0.isPaused = true }
            #expect(second.damage == [] && second.entries == entries)
            await second.close()
        }
    }

    @Test(arguments: [0x00, 0x0A, 0x20, 0x30, 0xFF] as [UInt8])
    func corruptedByteLosesAtMostOneRecord(byte: UInt8) async throws {
        let trial = OutboxTrial()
        let whole = try await Self.journal(of: trial, ["1", "2", "3"])
        let lines = whole.split(separator: UInt8(ascii: "\n"))

        for index in stride(from: 0, to: whole.count, by: Scale.pick(97, whole: 1)) where whole[index] != byte {
            var damaged = whole
            damaged[index] = byte
            try damaged.write(to: trial.journal)

            let outbox = try trial.open { $0.isPaused = true }

            let line = whole[..<index].count { $0 == UInt8(ascii: "\n") }
            let isEnd = whole[index] == UInt8(ascii: "\n")
            #expect(outbox.entries.count == (isEnd ? 3 : 2), "byte \(index)")
            #expect(outbox.damage.map(\.code) == (isEnd ? [] : [.damaged]))
            for error in outbox.damage {
                let bytes = try Data(contentsOf: error.file)
                #expect(bytes.count == lines[line].count + 1 && damaged.range(of: bytes) != nil)
                try FileManager.default.removeItem(at: error.file)
            }
            await outbox.close()
            let second = try trial.open { $0.isPaused = true }
            #expect(second.damage == [] && second.entries == outbox.entries)
            await second.close()
        }
    }

    @Test func foreignJournalFileIsSetAside() async throws {
        let trial = OutboxTrial()
        let bytes = Data("00000000 00000000 not a journal\n\n -0000001 00000000 +0000001\n".utf8)
        try bytes.write(to: trial.journal)

        let outbox = try trial.open()

        #expect(try outbox.damage.map { try Data(contentsOf: $0.file) } == [bytes])
        #expect(outbox.isEmpty)
        try await outbox.add(SaveNote(note: 1))
        #expect(await outbox.waitUntilDrained())
    }

    @Test func randomDamageIsRepairedOnOpening() async throws {
        let trial = OutboxTrial()
        let whole = try await Self.journal(of: trial, (0..<6).map(String.init))
        var random = Fuzz()
        for _ in 0..<Scale.pick(20, whole: 3000) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let start = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...40, using: &random))
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes.removeSubrange(start..<end)
                case 1: bytes.insert(contentsOf: Data(bytes[start..<end]), at: start)
                default: bytes[start] = UInt8.random(in: 0...255, using: &random)
                }
                bytes = Data(bytes)
                if bytes.isEmpty { bytes = whole }
            }
            try bytes.write(to: trial.journal)
            let outbox = try trial.open { $0.isPaused = true }
            let entries = outbox.entries
            for error in outbox.damage { try FileManager.default.removeItem(at: error.file) }
            await outbox.close()
            let second = try trial.open { $0.isPaused = true }
            #expect(second.entries == entries && second.damage == [], "seed \(Fuzz.seed)")
            await second.close()
        }
    }

    @Test func journalIsCompacted() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { $0.isPaused = true }
        let text = String(repeating: "x", count: 1000)
        let kept = try await outbox.add(SaveNote(note: 0, text: text), in: "kept")
        for note in 1...Scale.pick(120, whole: 3000) {
            try await outbox.remove(outbox.add(SaveNote(note: note, text: text), in: "a"))
        }
        #expect(try Data(contentsOf: trial.journal).count < 70_000)
        await outbox.close()

        let second = try trial.open { $0.isPaused = true }
        #expect(second.entries.map(\.id) == [kept])
        second.resume()
        #expect(await second.waitUntilDrained())

        try await eventually { try Data(contentsOf: trial.journal).isEmpty }
        #expect(trial.arrivals.elements.map(\.text) == [text])
        #expect(try trial.folder.names() == ["bodies", "journal", "lock"])
    }

    @Test func compactionKeepsParkedEntries() async throws {
        let trial = OutboxTrial { $0.text == "bad" ? .status(.unprocessableContent) : .text("saved") }
        let outbox = try trial.open { $0.decide = { _, entry in entry.category == "a" ? .park : .skip } }
        for category in ["a", "b"] { try await outbox.add(SaveNote(note: 1, text: "bad"), in: category) }
        #expect(await !outbox.waitUntilDrained())
        outbox.pause()

        var length = 0
        while case let now = try Data(contentsOf: trial.journal).count, now >= length {
            length = now
            try await outbox.remove(outbox.add(SaveNote(note: 2, text: String(repeating: "x", count: 8000))))
        }
        let entries = outbox.entries
        await outbox.close()

        let second = try trial.open { $0.isPaused = true }
        #expect(second.entries == entries && second.states == [.parked(.refused), .parked(.refused)])
    }

    @Test func leftoverTemporaryFilesAreRemoved() async throws {
        let trial = OutboxTrial()
        _ = try await Self.journal(of: trial, ["1"])
        let names = [".journal.\(UUID().uuidString).partial", "bodies/\(UUID().uuidString).jpg"]
        for name in names { try Data("rest".utf8).write(to: trial.folder.url.appending(path: name)) }

        let outbox = try trial.open()

        #expect(await outbox.waitUntilDrained())
        #expect(trial.folder.files.map(\.lastPathComponent) == ["journal", "lock"])
    }

    @Test func concurrentAddsAreAllStored() async throws {
        let trial = OutboxTrial()
        let outbox = try trial.open { $0.isPaused = true }
        let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
            for note in 0..<200 { group.addTask { try await outbox.add(SaveNote(note: note), in: "\(note % 7)") } }
            return try await group.reduce(into: Set<UUID>()) { $0.insert($1) }
        }
        await outbox.close()

        let second = try trial.open { $0.isPaused = true }

        #expect(Set(second.entries.map(\.id)) == ids && ids.count == 200)
        second.resume()
        #expect(await second.waitUntilDrained())
        #expect(Set(trial.arrivals.elements.map(\.key)) == Set(ids.map(\.uuidString)) && trial.arrivals.count == 200)
    }

    // MARK: Bodies

    @Test func addedFileIsCopiedIntoFolder() async throws {
        let trial = OutboxTrial { _ in .status(.serviceUnavailable) }
        let photo = trial.folder.file("photo.jpg")
        try Data("photo".utf8).write(to: photo)
        let first = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }
        try await first.add(UploadPhoto(name: "a"), file: photo)
        try await trial.clock.waitForSleepers()
        try FileManager.default.removeItem(at: photo)
        await first.close()
        #expect(trial.folder.files.count == 3)

        let second = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }
        try await trial.pass(.seconds(1))
        await trial.arrivals.first(2)
        #expect(trial.arrivals.elements.map(\.text) == ["photo", "photo"])
        try await trial.clock.waitForSleepers()
        try await second.removeAll { _ in true }

        try await eventually { trial.folder.files.count == 2 }
    }

    @Test func fileCopyIsRemovedAfterSending() async throws {
        let trial = OutboxTrial { _ in .status(.noContent) }
        let photo = trial.folder.file("photo.jpg")
        try Data("photo".utf8).write(to: photo)
        let outbox = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }

        try await outbox.add(UploadPhoto(name: "a"), file: photo)

        #expect(await outbox.waitUntilDrained())
        #expect(trial.arrivals.elements.map(\.text) == ["photo"])
        try await eventually { trial.folder.files.map(\.lastPathComponent) == ["journal", "lock", "photo.jpg"] }
    }

    /// The copy may be all that remains of the entry.
    @Test func corruptEntryKeepsItsFileCopy() async throws {
        let trial = OutboxTrial()
        let photo = trial.folder.file("photo.jpg")
        try Data("photo".utf8).write(to: photo)
        let first = try trial.open {
            $0.register(UploadPhoto.self, as: "UploadPhoto")
            $0.isPaused = true
        }
        let id = try await first.add(UploadPhoto(name: "a"), file: photo)
        await first.close()
        var journal = try Data(contentsOf: trial.journal)
        journal[journal.count / 2] = 0xFF
        try journal.write(to: trial.journal)

        let second = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }

        #expect(second.isEmpty && second.damage.count == 1)
        #expect(trial.folder.files.contains { $0.lastPathComponent == "\(id.uuidString).jpg" })
        let kept = try await second.add(UploadPhoto(name: "b"), in: "b", expires: trial.date.now, file: photo)
        #expect(await !second.waitUntilDrained())

        try second.discardDamage()

        let names = trial.folder.files.map(\.lastPathComponent).filter { $0.hasSuffix(".jpg") }
        #expect(names.sorted() == ["\(kept.uuidString).jpg", "photo.jpg"].sorted())
    }

    @Test func invalidFileBodiesAreRejected() async throws {
        let trial = OutboxTrial()
        let photo = trial.folder.file("photo.jpg")
        let outbox = try trial.open { $0.register(UploadPhoto.self, as: "UploadPhoto") }

        await #expect(throws: Outbox.Error.fileBody) { try await outbox.add(UploadPhoto(name: "a", file: photo)) }
        let error = await #expect(throws: FileError.self) {
            try await outbox.add(UploadPhoto(name: "a"), file: photo)
        }
        #expect(error?.code == .cannotReadFile && error?.file.lastPathComponent == "photo.jpg")
        await #expect(throws: FileError.self) { try await outbox.add(UploadPhoto(name: "a"), file: trial.folder.url) }

        #expect(outbox.isEmpty && trial.folder.files.count == 2)
    }
}
