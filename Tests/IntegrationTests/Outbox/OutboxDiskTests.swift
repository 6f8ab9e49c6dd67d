// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// What an outbox has on the disk when it says so, and what a broken disk leaves.
@Suite(.bounded) struct OutboxDiskTests {
    private struct Write: RequestSpec, Codable {
        var number: Int
        var text = ""

        var request: Post<Void> { Post("writes/\(number)") }
    }

    private let folder = TemporaryFolder()
    private let calls: DiskCalls
    private let client: HTTPClient
    private let paths = Recorder<String>()

    init() {
        calls = DiskCalls(in: folder.url)
        client = HTTPClient(
            baseURL: URL(string: "https://api.example.com"),
            transport: InMemoryTransport { [paths] request in
                paths.record(request.url.path)
                return .status(request.url.path == "/writes/503" ? .serviceUnavailable : .noContent)
            }
        )
    }

    private func open(at url: URL? = nil) throws -> Outbox {
        try Outbox(at: url ?? folder.url, client: client) {
            $0.register(Write.self, as: "write")
            $0.backoff = .constant(.seconds(3600)).jitter(.none)
            ($0.connectivity, $0.isPaused) = (Connectivity(), true)
        }
    }

    private func photo() throws -> (folder: TemporaryFolder, file: URL) {
        let folder = TemporaryFolder()
        try Data("photo".utf8).write(to: folder.file("photo.jpg"))
        return (folder, folder.file("photo.jpg"))
    }

    /// Adds writes until the journal is replaced.
    private func replaceJournal(of outbox: Outbox, _ count: inout Int) async throws {
        let text = String(repeating: "x", count: 8000)
        var isReplaced = false
        while !isReplaced {
            count += 1
            try await outbox.add(Write(number: count, text: text))
            isReplaced = calls.take().contains { if case .rename = $0 { true } else { false } }
        }
    }

    // MARK: The order

    @Test func addedEntryIsSynced() async throws {
        let outbox = try open()
        #expect(calls.take().suffix(2) == [.sync("bodies"), .sync("")])

        for number in 0..<3 {
            try await outbox.add(Write(number: number))
            #expect(calls.take() == [.sync("journal")] && calls.isSynced("journal"))
        }
        try await outbox.remove(outbox.entries[0].id)
        #expect(calls.take() == [.sync("journal")] && calls.isSynced("journal"))
    }

    @Test func fileIsSyncedBeforeEntryAndRemovedAfterIt() async throws {
        let (outbox, photo) = (try open(), try photo())
        _ = calls.take()

        let id = try await outbox.add(Write(number: 1), file: photo.file)
        let body = "bodies/\(id.uuidString).jpg"
        #expect(calls.take() == [.sync(body), .sync("bodies"), .sync(""), .sync("journal")])
        #expect(calls.isSynced(body))
        outbox.resume()
        #expect(await outbox.waitUntilDrained())
        await outbox.close()

        #expect(calls.take() == [.sync("journal"), .unlink(body)])
    }

    @Test func newJournalIsSyncedBeforeReplacingOld() async throws {
        let outbox = try open()
        _ = calls.take()
        var (number, all) = (0, [DiskCalls.Call]())
        while all.count < 2 {
            number += 1
            try await outbox.add(Write(number: number, text: String(repeating: "x", count: 8000)))
            all = calls.take()
        }
        let names = all.map { call in
            switch call {
            case .sync(let name): name.hasSuffix(".partial") ? "sync new journal" : "sync \(name)"
            case .rename(let name, let other): name.hasSuffix(".partial") ? "rename to \(other)" : "rename"
            case .unlink: "unlink new journal"
            }
        }
        #expect(
            names == [
                "sync journal", "sync new journal", "rename to journal", "sync bodies", "sync ", "unlink new journal",
            ]
        )
        let entries = outbox.entries
        await outbox.close()
        #expect(try open().entries == entries)
    }

    // MARK: A broken disk

    @Test func failedSyncFailsAdd() async throws {
        let outbox = try open()
        try await outbox.add(Write(number: 1))
        calls.refuse { $0 == .sync("journal") }
        await #expect(throws: FileError.self) { try await outbox.add(Write(number: 2)) }
        calls.refuse { _ in false }
        try await outbox.add(Write(number: 3))

        let entries = outbox.entries
        #expect(entries.count == 2)
        await outbox.close()

        // Not even the bytes of the other are left.
        let journal = try String(contentsOf: folder.file("journal"), encoding: .utf8)
        #expect(journal.split(separator: "\n").count == 2)
        #expect(try open().entries == entries)
    }

    /// Otherwise an older version would replace a newer one in the next process.
    @Test func unrecordedCompletionBlocksCategory() async throws {
        let (outbox, photo) = (try open(), try photo())
        // Only an entry with a body ends with a wait for the disk.
        try await outbox.add(Write(number: 1), in: "a", file: photo.file)
        try await outbox.add(Write(number: 2), in: "a")
        let busy = try await outbox.add(Write(number: 503), in: "b")
        calls.refuse { $0 == .sync("journal") }
        outbox.resume()
        try await eventually { paths.elements.contains("/writes/1") && client.operations.isEmpty }

        await #expect(throws: FileError.self) { try await outbox.add(Write(number: 3), in: "c") }
        #expect(!paths.elements.contains("/writes/2"))
        calls.refuse { _ in false }
        try await outbox.add(Write(number: 3), in: "c")
        try await eventually { outbox.entries.map(\.id) == [busy] }
        await outbox.close()

        let next = try open()
        #expect(next.entries.map(\.id) == [busy])
        // Each once; the last two in any order.
        #expect(paths.elements.filter { $0 != "/writes/503" }.sorted() == ["/writes/1", "/writes/2", "/writes/3"])
    }

    @Test func completionIsRecordedOnceDiskRecovers() async throws {
        let clock = ManualClock()
        client.environment.clock = clock
        let (outbox, photo) = (try open(), try photo())
        let ids = [
            try await outbox.add(Write(number: 1), in: "a", file: photo.file),
            try await outbox.add(Write(number: 2), in: "a"),
        ]
        let events = outbox.events
        calls.refuse { $0 == .sync("journal") }
        outbox.resume()
        try await clock.waitForSleepers()
        try await eventually { paths.count == 1 && client.operations.isEmpty }
        #expect(outbox.entries.map(\.state) == [.sending, .pending])

        calls.refuse { _ in false }
        clock.advance(by: .seconds(10))

        #expect(await outbox.waitUntilDrained())
        await outbox.close()
        var sent: [UUID] = []
        for await event in events { if case .sent(let entry, _) = event { sent.append(entry.id) } }
        #expect(sent == ids && paths.elements == ["/writes/1", "/writes/2"])
    }

    @Test func unsyncedFileIsRemoved() async throws {
        let (outbox, photo) = (try open(), try photo())
        calls.refuse { if case .sync(let name) = $0 { name.hasPrefix("bodies/") } else { false } }

        await #expect(throws: FileError.self) { try await outbox.add(Write(number: 1), file: photo.file) }

        #expect(outbox.isEmpty && folder.files.map(\.lastPathComponent) == ["journal", "lock"])
    }

    @Test func journalContinuesIfReplacementFails() async throws {
        let outbox = try open()
        calls.refuse { if case .rename = $0 { true } else { false } }
        var count = 0
        for _ in 0..<2 { try await replaceJournal(of: outbox, &count) }
        try await outbox.add(Write(number: 0))

        let entries = outbox.entries
        await outbox.close()

        #expect(entries.count == count + 1)
        #expect(folder.files.map(\.lastPathComponent) == ["journal", "lock"])
        #expect(try open().entries == entries)
    }

    @Test func unmovableDamageStaysInJournal() async throws {
        try Data("not a record\n".utf8).write(to: folder.file("journal"))
        calls.refuse { if case .rename(_, let name) = $0 { name.hasPrefix("damaged") } else { false } }
        let outbox = try open()
        #expect(outbox.damage.map(\.file.lastPathComponent) == ["journal"])

        try await outbox.remove(outbox.add(Write(number: 1)))
        await outbox.close()

        #expect(outbox.isEmpty)
        #expect(try String(contentsOf: folder.file("journal"), encoding: .utf8).hasPrefix("not a record\n"))
        calls.refuse { _ in false }
        let next = try open()
        try next.discardDamage()
        try await next.remove(next.add(Write(number: 2)))
        await next.close()
        #expect(try open().damage == [] && folder.files.map(\.lastPathComponent) == ["journal", "lock"])
    }

    /// Under its name there may be either journal after a loss of power, so nothing is promised until it is on the disk.
    @Test func unsyncedJournalRejectsEntriesUntilSynced() async throws {
        let clock = ManualClock()
        client.environment.clock = clock
        let outbox = try open()
        _ = calls.take()
        calls.refuse { $0 == .sync("") }
        var count = 0
        try await replaceJournal(of: outbox, &count)

        await #expect(throws: FileError.self) { try await outbox.add(Write(number: 0)) }
        outbox.resume()
        try await clock.waitForSleepers()
        #expect(paths.elements == [])
        calls.refuse { _ in false }
        _ = calls.take()
        let id = try await outbox.add(Write(number: 0))

        #expect(calls.take().prefix(3) == [.sync("bodies"), .sync(""), .sync("journal")])
        #expect(outbox.entries.contains { $0.id == id } || paths.elements.contains("/writes/0"))
        #expect(await outbox.waitUntilDrained())
        #expect(paths.count == count + 1)
    }

    // MARK: A folder that is replaced

    /// Moves the folder away, and opens another outbox with an entry at its path.
    private func replaceFolder(_ folder: URL, by text: String) async throws -> Outbox {
        try FileManager.default.moveItem(at: folder, to: self.folder.file("moved"))
        let next = try open(at: folder)
        try await next.add(Write(number: 7, text: text))
        return next
    }

    @Test func folderReplacedDuringSyncRejectsEntry() async throws {
        let path = folder.file("outbox")
        let outbox = try open(at: path)
        let moved = folder.file("moved")
        calls.refuse { call in
            // The bytes are in the journal, and no check comes before the end of the wait.
            if call == .sync("outbox/journal") { try? FileManager.default.moveItem(at: path, to: moved) }
            return false
        }

        await #expect(throws: FileError.self) { try await outbox.add(Write(number: 1)) }
        calls.refuse { _ in false }

        #expect(outbox.isEmpty)
        #expect(try Data(contentsOf: moved.appending(path: "journal")).isEmpty)
    }

    @Test func nextOwnersJournalIsNotReplaced() async throws {
        let path = folder.file("outbox")
        let first = try open(at: path)
        let next = Locked<Data?>(nil)
        let moved = folder.file("moved")
        calls.refuse { call in
            guard case .rename(_, to: "outbox/journal") = call, next.withLock({ $0 }) == nil else { return false }
            // Another process does this between the check of the folder and the renaming.
            try? FileManager.default.moveItem(at: path, to: moved)
            try? FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
            let bytes = Data("the journal of the next owner".utf8)
            try? bytes.write(to: path.appending(path: "journal"))
            next.withLock { $0 = bytes }
            return false
        }
        var count = 0
        while next.withLock({ $0 }) == nil {
            count += 1
            try await first.add(Write(number: count, text: String(repeating: "x", count: 8000)))
        }

        #expect(try Data(contentsOf: path.appending(path: "journal")) == next.withLock { $0 })
        await #expect(throws: FileError.self) { try await first.add(Write(number: 0)) }
    }

    @Test func replacedFolderStopsOutboxWithError() async throws {
        let path = folder.file("outbox")
        let first = try open(at: path)
        let events = first.events
        try await first.add(Write(number: 1))
        let next = try await replaceFolder(path, by: "next")

        first.resume()

        #expect(await !first.waitUntilDrained())
        var losses: [FileError] = []
        for await event in events { if case .folderLost(let error) = event { losses.append(error) } }
        let loss = try #require(losses.first)
        #expect(losses.count == 1 && loss.code == .cannotWriteFile)
        await #expect(throws: loss) { try await first.add(Write(number: 2)) }
        #expect(throws: loss) { try first.discardDamage() }
        #expect(first.entries.count == 1 && paths.elements == [])
        next.resume()
        #expect(await next.waitUntilDrained())
        #expect(paths.elements == ["/writes/7"])
    }

    /// The copy of a file must not be left in the folder of the next owner either.
    @Test func fileIsNotCopiedIntoNextOwnersFolder() async throws {
        let path = folder.file("outbox")
        let (first, photo) = (try open(at: path), try photo())
        let next = try await replaceFolder(path, by: "next")

        await #expect(throws: FileError.self) { try await first.add(Write(number: 1), file: photo.file) }

        #expect(TemporaryFolder.files(in: path).map(\.lastPathComponent) == ["journal", "lock"])
        await next.close()
    }

    /// Nothing else happens that could end the wait.
    @Test func replacedFolderEndsRetryDelay() async throws {
        let clock = ManualClock()
        client.environment.clock = clock
        let path = folder.file("outbox")
        let first = try open(at: path)
        try await first.add(Write(number: 503))
        first.resume()
        try await clock.waitForSleepers()
        try FileManager.default.removeItem(at: path)

        async let isEmpty = first.waitUntilDrained()
        clock.advance(by: .seconds(3600))

        #expect(await !isEmpty)
        #expect(paths.count == 1)
    }
}
#endif
