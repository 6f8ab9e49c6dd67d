// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

// The server of the snippets: one for all of them, which lives as long as the process.
enum Kitchen {
    static let server: MockServer? = {
        guard let server = try? MockServer() else { return nil }
        server.route(.get, "/recipes/1", .json(#"{"name": "Pancakes", "authorID": 7}"#))
        server.route(.get, "/recipes/0", .status(.notFound, body: Data("no such recipe".utf8)))
        server.route(.get, "/authors/7", .json(#"{"name": "Julia"}"#))
        server.route(.get, "/menus", .json(#"{"title": "Pancakes by Julia"}"#))
        server.route(.delete, "/recipes/1", .noContent)
        server.route(.get, "/order", .status(.serviceUnavailable))
        server.route(.post, "/orders", .noContent)
        server.route(.get, "/recipes/13", .json(#"{"message": "bad luck"}"#, status: .notFound))
        server.route(.get, "/envelopes/1", .json(#"{"data": {"name": "Pancakes", "authorID": 7}}"#))
        server.route(.get, "/envelopes/2", .json(#"{"error": "out of eggs"}"#))
        server.route(.post, "/tokens", .json(#"{"access": "new", "refresh": "more"}"#))
        server.route(.post, "/login", .json(#"{"access": "new", "refresh": "more"}"#))
        server.route(.post, "/sessions", .json(#"{"access": "new"}"#))
        server.route(.get, "/favourites") { request in
            guard request.headers[.authorization] == "Bearer new" else { return .status(.unauthorized) }
            return .json(#"{"name": "Pancakes", "authorID": 7}"#)
        }
        server.route(.get, "/cellar") { request in
            guard request.headers[.authorization] == nil else { return .text("wine") }
            return .status(.unauthorized, headers: [HTTPField(.wwwAuthenticate, "Basic realm=\"cellar\"")])
        }
        server.route(.get, "/films/7", .data(film))
        server.route(.put, "/reports/7", .noContent)
        server.route(.post, "/photos", .noContent)
        server.route(.get, "/log", .text("open\nclosed\n"))
        server.route(.get, "/feed") { request in
            let isFirst = request.headers[.lastEventID] == nil
            let events = isFirst ? "retry: 1\nid: 1\ndata: more\n\n" : "id: 2\ndata: enough\n\n"
            return .data(Data(events.utf8), type: "text/event-stream")
        }
        return server
    }()

    static let film = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
}

let api = Kitchen.server?.url ?? URL(string: "http://localhost:1")!

struct Author: Decodable, Equatable {
    let name: String
}

struct AuthorRequest: DecodableRequest {
    typealias Success = Author
    let authorID: Int
    var identifier: String { "\(authorID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "authors/\(authorID)"))))
    }
}

/// A recipe, for snippets that don't declare one.
struct Recipe: Decodable, Equatable {
    let name: String
    let authorID: Int
}

/// A recipe's request, for snippets that don't declare one.
struct RecipeRequest: DecodableRequest {
    typealias Success = Recipe
    let recipeID: Int
    var identifier: String { "\(recipeID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "recipes/\(recipeID)"))))
    }
}
