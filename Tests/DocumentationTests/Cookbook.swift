// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

// The models of the API, in JSON such as {"display_name": "Pancakes", "added_at": "2026-11-23T08:00:00Z"}.
nonisolated struct Dish: Codable, Sendable {
    var displayName: String
    var addedAt: Date
}

nonisolated struct DishFilter: Encodable, Sendable {
    var text: String
    var tags: [String]
}

nonisolated struct Login: Encodable, Sendable {
    var name: String
    var password: String
}

nonisolated struct Session: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
}

/// The error that the API returns when it rejects a request.
nonisolated struct Refusal: Error, Decodable {
    var message: String
}

struct NotLoggedIn: Error {}

/// Adds the session to requests, and refreshes it when it has expired.
struct SessionAuthenticator: Authenticator {
    func apply(_ session: Session, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(session.accessToken)))
    }

    func refresh(_ session: Session?, using client: RefreshClient) async throws -> Session {
        guard let session else { throw NotLoggedIn() }
        let request = Post<Session>("session/refresh").body(.form(["refresh_token": session.refreshToken]))
        return try await client.fetch(request)
    }
}

/// The API, with or without a session.
struct Cookbook: Sendable {
    let client: HTTPClient
    private let sessions = AuthenticationInterceptor(SessionAuthenticator())

    init(server: String) throws {
        client = try HTTPClient(baseURL: server, maxConcurrentRequests: 4) { [sessions] in
            $0.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.keyDecodingStrategy = .convertFromSnakeCase
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
            $0.makeEncoder = {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                encoder.dateEncodingStrategy = .iso8601
                return encoder
            }
            $0.interceptors.append(sessions)
            $0.validators.append(.errors(Refusal.self))
            $0.retry = .default
        }
    }

    func logIn(_ login: Login) async throws(RequestError) {
        // Sent without a token: the login returns the first one.
        let session = try await client.fetch(Post<Session>("session").body { login }.unauthenticated())
        sessions.setCredential(session)
    }

    func dishes(_ filter: DishFilter) async throws(RequestError) -> [Dish] {
        try await client.fetch(Get<[Dish]>("dishes").query(filter))
    }

    func dish(_ name: String) async throws(RequestError) -> Dish {
        try await client.fetch(Get<Dish>("dishes/\(name)"))
    }

    func add(_ dish: Dish) async throws(RequestError) {
        try await client.fetch(Post<Void>("dishes").body { dish })
    }
}

/// Logs in, looks up a dish, and returns its name or an error message.
func lookUp(_ name: String, in book: Cookbook, as login: Login) async -> String {
    do throws(RequestError) {
        try await book.logIn(login)
        return try await book.dish(name).displayName
    } catch {
        // Check this first: after a refused refresh, `failure(as:)` is the error of the refresh.
        if error.code == .authenticationFailed, error.isNotAuthorized { return "log in again" }
        if let refusal = error.failure(as: Refusal.self) { return "refused: \(refusal.message)" }
        return error.isConnectivityError ? "try again later" : "\(error)"
    }
}
