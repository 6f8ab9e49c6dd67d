// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// The snippets of the article *SwiftConcurrency*, word for word.

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
