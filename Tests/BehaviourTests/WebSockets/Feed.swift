// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsWebSockets

/// Collects the text messages of a feed.
struct Feed: WebSocketRequest {
    typealias Success = [String]
    typealias Failure = RequestError

    var path = "feed"
    var options = RequestOptions()
    var body: @Sendable (WebSocket) async throws -> [String] = { socket in
        try await socket.messages.reduce(into: []) { $0.append($1.text ?? "") }
    }

    var identifier: String { path }

    func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
        preconditionFailure("replaced by the other function")
    }

    func makeHTTPRequest(
        in environment: RequestEnvironment,
        completion: @escaping @Sendable (Result<HTTPRequest, any Error>) -> Void
    ) {
        completion(.success(HTTPRequest("\(raw: path)")))
    }

    func process(_ socket: WebSocket) async throws -> [String] { try await body(socket) }
}
