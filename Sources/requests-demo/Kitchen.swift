// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The API that the demo uses, which is a local server with a real socket.
struct Kitchen: Sendable {
    private let server: MockServer
    /// The folder for temporary files.
    let folder: URL
    /// A large file that the server provides for download.
    let film: URL

    /// A recipe with a slow response, so that its running request can be cancelled.
    let slowRecipeID = 2
    /// Another recipe with a slow response, so that requests can share a transfer; only that section of the tour
    /// requests it.
    let sharedRecipeID = 3
    /// The number of recipes, which are listed in pages of ten.
    let recipeCount = 25

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Kitchen.\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        film = folder.appendingPathComponent("film.mov")
        let content = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        try content.write(to: film)
        server = try MockServer()
        // Slow enough that the download can be interrupted.
        let speed = StubResponse.Speed(bytesPerSecond: 16_000_000)
        server.route(.get, "/film.mov") { request in
            var headers: HTTPHeaders = [.eTag: "\"1\""]
            // A client that resumes a download requests the range `bytes=<start>-`.
            let start = request.headers[.range].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            guard start > 0, start < content.count else {
                return .data(content, headers: headers).throttled(to: speed)
            }
            headers[.contentRange] = "bytes \(start)-\(content.count - 1)/\(content.count)"
            return .data(content[start...], status: .partialContent, headers: headers).throttled(to: speed)
        }
        server.route(.get, "/recipes/1", .json(#"{"name": "Pancakes", "authorID": 7, "steps": ["Mix", "Fry"]}"#))
        server.route(.get, "/recipes/2", .json(Self.stew).delayed(by: .milliseconds(300)))
        server.route(.get, "/recipes/3", .json(Self.stew).delayed(by: .milliseconds(300)))
        server.route(.get, "/authors/7", .json(#"{"name": "Julia"}"#))
        server.route(.delete, "/recipes/1", .noContent)
        server.route(.put, "/recipes/1", .noContent)
        server.route(
            .get,
            "/orders",
            .webSocket { socket in
                guard let order = socket.receive()?.text else { return }
                try socket.send("\(order): in the pan")
                try socket.send("\(order): on the table")
            }
        )
        server.route(.get, "/favourites") { request in
            request.headers[.authorization] == "Bearer fresh" ? .json(Self.stew) : .status(.unauthorized)
        }
        server.route(.post, "/tokens", .json(#"{"access": "fresh"}"#).delayed(by: .milliseconds(50)))
        server.route(.get, "/recipes/0", .status(.notFound, body: Data(#"{"message": "no such recipe"}"#.utf8)))
        server.route(.get, "/recipes{?page}") { [recipeCount] request in
            let page = max(1, request["page"].flatMap { Int($0) } ?? 1)
            let numbers = (page * 10 - 9)...(page * 10)
            let names = numbers.prefix { $0 <= recipeCount }.map { #""Recipe \#($0)""# }
            let isLast = numbers.upperBound >= recipeCount
            return .json(
                "[\(names.joined(separator: ", "))]",
                headers: isLast ? [] : [.link: #"</recipes?page=\#(page + 1)>; rel="next""#]
            )
        }
    }

    private static let stew = #"{"name": "Stew", "authorID": 7, "steps": ["Wait"]}"#

    var api: URL { server.url }
    var title: String { "a local server, \(api.absoluteString)" }

    /// Returns the number of requests for a path, with a method or with any method.
    func requestCount(of method: HTTPMethod? = nil, _ path: String) -> Int {
        server.requests.count { $0.path == path && $0.method == method ?? $0.method }
    }

    /// Sends a request, and waits until the server has received it.
    func awaitRequest<Operation>(of send: () -> Operation) async throws -> Operation {
        let count = server.requests.count
        let operation = send()
        try await server.awaitRequests(count + 1)
        return operation
    }

    /// Responds to the next requests with 503, as an overloaded server does.
    func simulateOverload(times: Int) {
        for _ in 0..<times { server.enqueue(.status(.serviceUnavailable)) }
    }

    func close() {
        server.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}
