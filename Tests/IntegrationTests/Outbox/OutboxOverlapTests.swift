// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsTestSupport
import RequestsTesting
import Testing

/// Requests of a category never overlap at the server, which can't be stopped once it has a request.
@Suite(.bounded) struct OutboxOverlapTests {
    private struct SaveNote: RequestSpec, Codable {
        var id = 1
        var request: Put<Void> { Put("notes/\(id)") }
    }

    private struct DeleteNote: RequestSpec, Codable {
        var id = 1
        var request: Delete<Void> { Delete("notes/\(id)") }
    }

    /// The server saves the note half a second after it has got the request, or as soon as it is overtaken.
    @Test func noteDeletedDuringSlowSaveStaysDeleted() async throws {
        let (changes, isOvertaken) = (Recorder<HTTPMethod>(), DispatchSemaphore(value: 0))
        let server = try MockServer { request in
            if request.method == .put {
                _ = isOvertaken.wait(timeout: .now() + 0.5)
            } else {
                isOvertaken.signal()
            }
            changes.record(request.method)
            return .noContent
        }
        let folder = TemporaryFolder()
        let outbox = try Outbox(at: folder.url, client: HTTPClient(baseURL: server.url)) {
            $0.connectivity = Connectivity()
            $0.register(SaveNote.self, as: "save")
            $0.register(DeleteNote.self, as: "delete")
        }
        try await outbox.add(SaveNote(), in: "notes/1")
        try await server.awaitRequest()

        try await outbox.removeAll(in: "notes/1")
        try await outbox.add(DeleteNote(), in: "notes/1")

        #expect(await outbox.waitUntilDrained())
        #expect(changes.elements == [.put, .delete])
    }
}
