// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The API that the demo talks to: one on this machine, with a real socket, or any other.
struct Kitchen: Sendable {
    let api: URL
    private let server: MockServer?
    /// A large file that the server gives; nil where it isn't the demo's own.
    let film: URL?

    /// A recipe that takes its time, so that it can be cancelled while it is under way.
    let slowRecipeID: Int
    /// Another, so that it can be shared while it is under way, and nobody else asks for it.
    let sharedRecipeID: Int

    init(url: URL?) throws {
        if let url {
            api = url
            server = nil
            film = nil
            slowRecipeID = 1
            sharedRecipeID = 1
        } else {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Kitchen.\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let film = folder.appendingPathComponent("film.mov")
            try Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }).write(to: film)
            let server = try MockServer(MockServer.folder(folder))
            server.route(.get, "/recipes/1", .json(#"{"name": "Pancakes", "authorID": 7, "steps": ["Mix", "Fry"]}"#))
            server.route(.get, "/recipes/2", .json(Self.stew).delayed(by: .milliseconds(300)))
            server.route(.get, "/recipes/3", .json(Self.stew).delayed(by: .milliseconds(300)))
            server.route(.get, "/authors/7", .json(#"{"name": "Julia"}"#))
            server.route(.delete, "/recipes/1", .noContent)
            server.route(.get, "/favourites") { request in
                request.headers[.authorization] == "Bearer fresh" ? .json(Self.stew) : .status(.unauthorized)
            }
            server.route(.post, "/tokens", .json(#"{"access": "fresh"}"#).delayed(by: .milliseconds(50)))
            server.route(.get, "/recipes/0", .status(.notFound, body: Data(#"{"message": "no such recipe"}"#.utf8)))
            api = server.url
            self.server = server
            self.film = film
            slowRecipeID = 2
            sharedRecipeID = 3
        }
    }

    private static let stew = #"{"name": "Stew", "authorID": 7, "steps": ["Wait"]}"#

    var title: String {
        server == nil ? api.absoluteString : "a server on this machine, \(api.absoluteString)"
    }

    /// How often a path was asked for; nil where that can't be known.
    func requestCount(_ path: String) -> Int? {
        server?.requests.count { $0.path == path }
    }

    /// Has the server be too busy for the next requests, whatever they ask for; does nothing where that can't be done.
    func beBusy(times: Int) {
        for _ in 0..<times { server?.enqueue(.status(.serviceUnavailable)) }
    }

    /// Whether the server is the demo's own, which knows of tokens.
    var isOwn: Bool { server != nil }

    func close() {
        server?.stop()
        if let film { try? FileManager.default.removeItem(at: film.deletingLastPathComponent()) }
    }
}
