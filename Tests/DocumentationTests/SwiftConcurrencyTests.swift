// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

nonisolated struct Song: Codable, Sendable {
    var title: String
    var plays: Int
}

@MainActor final class Player {
    private let client: HTTPClient
    private(set) var song: Song?
    private(set) var progress = 0.0

    init(client: HTTPClient) {
        self.client = client
    }

    func load(_ id: Int) async {
        do throws(RequestError) {
            song = try await client.fetch(Get<Song>("songs/\(id)")) { progress = $0.fraction ?? 0 }
        } catch {
            song = nil
        }
    }

    func count(_ song: Song) {
        client.addRequest(Post<Song>("plays").body(song), completionQueue: .main) { [weak self] result in
            self?.song = try? result.get()
        }
    }
}

@MainActor func titles(of ids: [Int], from client: HTTPClient) async throws -> [String] {
    async let newest = client.fetch(Get<Song>("songs/newest"))
    var titles: [String] = []
    for id in ids { titles.append(try await client.fetch(Get<Song>("songs/\(id)")).title) }
    return try await [newest.title] + titles
}

@Suite(.bounded) struct SwiftConcurrencyTests {
    private static let songs = InMemoryTransport { request in
        .json(#"{"title": "\#(request.url.lastPathComponent)", "plays": 1}"#)
    }

    @Test @MainActor func valuesAreReturnedOnMainActor() async {
        let player = Player(client: HTTPClient(baseURL: api, transport: Self.songs))

        await player.load(7)

        #expect(player.song?.title == "7" && player.progress == 1)
    }

    @Test @MainActor func severalRequestsRunInOneTask() async throws {
        let client = HTTPClient(baseURL: api, transport: Self.songs)

        #expect(try await titles(of: [1, 2], from: client) == ["newest", "1", "2"])
    }
}
