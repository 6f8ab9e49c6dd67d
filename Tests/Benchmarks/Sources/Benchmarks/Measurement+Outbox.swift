// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import CCounting
import Foundation
import Requests
import RequestsOutbox
import RequestsTesting

// An outbox: adding with the disk and without it, the bytes of an entry, and opening one with many entries.
extension Measurement {
    static let outbox: [Measurement] = [
        Measurement(name: "outbox-add") { try adding(to: FileManager.default.temporaryDirectory, width: 1) },
        Measurement(name: "outbox-add-16") { try adding(to: FileManager.default.temporaryDirectory, width: 16) },
        // A file system in memory, to measure everything but the disk.
        Measurement(name: "outbox-add-memory") { try adding(to: URL(fileURLWithPath: "/dev/shm"), width: 1) },
        Measurement(name: "outbox-open-10000") {
            try inFolder(of: FileManager.default.temporaryDirectory) { folder in
                try await add(10_000, to: try open(folder), width: 64)
                let bytes = try Data(contentsOf: folder.appending(path: "journal")).count
                var outbox: Outbox?
                var usage = try Usage.measure { outbox = try open(folder) }
                guard outbox?.entries.count == 10_000 else { throw CocoaError(.fileReadCorruptFile) }
                usage.bytes = bytes / 10_000
                return usage
            }
        },
    ]

    private struct SaveNote: RequestSpec, Codable {
        var note: Int
        var text = "Peel the onions, and cook them in butter until they are brown. Add flour, wine and broth."

        var request: Put<Void> { Put("notes/\(note)").body { text } }
    }

    private static func open(_ folder: URL) throws -> Outbox {
        try Outbox(at: folder, client: HTTPClient(transport: InMemoryTransport.counting())) {
            $0.register(SaveNote.self, as: "save-note")
            $0.isPaused = true
        }
    }

    private static func adding(to folder: URL, width: Int) throws -> Usage {
        try inFolder(of: folder) { folder in
            let outbox = try open(folder)
            try await add(100, to: outbox, width: width)
            let (cpu, start) = (Usage.processorTime(), ContinuousClock.now)
            try await add(1000, to: outbox, width: width)
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            var usage = Usage(seconds: seconds, cpuSeconds: Usage.processorTime() - cpu, count: 1000)
            ccounting_start_allocations()
            try await add(100, to: outbox, width: width)
            usage.allocations = ccounting_stop_allocations() * 10
            ccounting_start_locks()
            try await add(100, to: outbox, width: width)
            usage.locks = ccounting_stop_locks() * 10
            return usage
        }
    }

    private static func add(_ count: Int, to outbox: Outbox, width: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in 0..<width {
                group.addTask {
                    for note in stride(from: place, to: count, by: width) {
                        try await outbox.add(SaveNote(note: note), in: "notes/\(note)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Runs a closure with a new folder.
    private static func inFolder(
        of parent: URL,
        _ body: @escaping @Sendable (URL) async throws -> Usage
    ) throws -> Usage {
        let folder = parent.appending(path: "outbox-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try blocking { try await body(folder) }
    }
}
