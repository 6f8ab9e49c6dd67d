// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets about outboxes in *Caching and working offline*.
@Suite(.bounded) struct OutboxArticleTests {
    struct Note: Codable, Sendable {
        let id: Int
        var text: String
        var isSaved = false
    }

    struct SaveNote: RequestSpec, Codable {
        let note: Note
        var request: Put<Void> { Put("notes/\(note.id)").body { note } }
    }

    struct DeleteNote: RequestSpec, Codable {
        let id: Int
        var request: Delete<Void> { Delete("notes/\(id)") }
    }

    actor Notebook {
        private var notes: [Int: Note] = [:]
        private var outbox: Outbox?

        var all: [Note] { notes.values.sorted { $0.id < $1.id } }

        /// Called when the application starts, and after each login.
        func open(in folder: URL, client: HTTPClient, user: String) throws {
            if let outbox {
                outbox.account = user
                return
            }
            outbox = try Outbox(at: folder.appending(path: "outbox"), client: client) {
                $0.account = user
                $0.register(SaveNote.self, as: "save-note") { [weak self] sent in
                    await self?.markSaved(sent.request.note)
                }
                $0.register(DeleteNote.self, as: "delete-note")
            }
        }

        func save(_ note: Note) async throws {
            // First, because the entry may be sent and marked as saved before `add` returns.
            notes[note.id] = note
            try await outbox?.add(SaveNote(note: note), in: "notes/\(note.id)")
        }

        func delete(_ id: Int) async throws {
            // Unsent changes no longer matter.
            try await outbox?.removeAll(in: "notes/\(id)")
            try await outbox?.add(DeleteNote(id: id), in: "notes/\(id)")
            notes[id] = nil
        }

        /// The changes that the server has rejected, for a list with the buttons “Try again” and “Discard”.
        var refused: [Outbox.Entry] { outbox?.entries.filter { $0.state == .parked(.refused) } ?? [] }

        func tryAgain(_ id: UUID) async throws { try await outbox?.retry(id) }

        func discard(_ id: UUID) async throws { try await outbox?.remove(id) }

        /// Called before the credentials are removed.
        func logOut() { outbox?.account = nil }

        private func markSaved(_ note: Note) {
            // The note may have changed again in the meantime.
            if notes[note.id]?.text == note.text { notes[note.id]?.isSaved = true }
        }
    }

    struct AddTag: RequestSpec, Codable {
        let note: Int
        let tags: [String]
        var request: Post<Void> { Post("notes/\(note)/tags").body { tags } }
    }

    @Test func notesAreSavedRejectedAndDiscarded() async throws {
        let folder = TemporaryFolder()
        let server = try MockServer()
        server.route(.put, "/notes/1", .status(.noContent))
        server.route(.put, "/notes/2", .status(.conflict))
        server.route(.delete, "/notes/1", .status(.noContent))
        let client = HTTPClient(baseURL: server.url)
        let notebook = Notebook()
        try await notebook.open(in: folder.url, client: client, user: "ada")

        try await notebook.save(Note(id: 1, text: "soup"))
        try await notebook.save(Note(id: 2, text: "tea"))

        // With the loopback alone, the outbox finds no network, and sends nothing.
        guard Connectivity.system.isConnected else { return }
        try await eventually { await notebook.refused.count == 1 }
        try await eventually { await notebook.all.map(\.isSaved) == [true, false] }
        let id = try #require(await notebook.refused.first?.id)
        try await notebook.tryAgain(id)
        try await eventually { await notebook.refused.count == 1 }
        try await notebook.discard(id)
        try await notebook.delete(1)
        try await eventually { server.requestCount >= 4 }
        await notebook.logOut()
    }

    @Test func olderContentIsMigrated() async throws {
        let folder = TemporaryFolder()
        let client = HTTPClient(baseURL: URL(string: "https://api.example.com"))

        let outbox = try Outbox(at: folder.url, client: client) {
            $0.register(AddTag.self, as: "add-tags")
            $0.register(AddTag.self, from: "add-tag") { old in
                ["note": old["note"] ?? 0, "tags": [old["tag"] ?? ""]]
            }
        }

        #expect(outbox.isEmpty)
        await outbox.close()
    }

    @Test func backgroundTaskWaitsUntilDrained() async throws {
        let folder = TemporaryFolder()
        let outbox = try Outbox(at: folder.url, client: HTTPClient()) {
            $0.register(DeleteNote.self, as: "delete-note")
        }

        let isEmpty = await outbox.waitUntilDrained()

        #expect(isEmpty)
    }
}
