// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The program of the beginners' article, run against a server.
@Suite(.bounded) struct CookbookTests {
    private static let pancakes = #"{"display_name": "Pancakes", "added_at": "2026-11-23T08:00:00Z"}"#

    /// A server that accepts one password, and whose first token has expired when it is used.
    private func makeServer() throws -> MockServer {
        try MockServer { request in
            let token = request.headers[.authorization]
            switch (request.method, request.path) {
            case (.post, "/v1/session"):
                guard request.text.contains("right") else {
                    return .json(#"{"message": "wrong password"}"#, status: .unauthorized)
                }
                return .json(#"{"access_token": "old", "refresh_token": "r"}"#)
            case (.post, "/v1/session/refresh") where request.text == "refresh_token=r":
                return .json(#"{"access_token": "new", "refresh_token": "r"}"#)
            case _ where token != "Bearer new": return .json(#"{"message": "who?"}"#, status: .unauthorized)
            case (.get, "/v1/dishes"): return .json("[\(Self.pancakes)]")
            case (.get, "/v1/dishes/pan%2Fcakes"): return .json(Self.pancakes)
            case (.post, "/v1/dishes"): return .noContent
            default: return .json(#"{"message": "no such dish"}"#, status: .notFound)
            }
        }
    }

    @Test func fetchesDishAfterLogin() async throws {
        let server = try makeServer()
        let book = try Cookbook(server: server.url("/v1").absoluteString)
        let login = Login(name: "ada", password: "right")

        #expect(await lookUp("pan/cakes", in: book, as: login) == "Pancakes")
        #expect(await lookUp("soup", in: book, as: login) == "refused: no such dish")
        let dishes = try await book.dishes(DishFilter(text: "pan", tags: ["sweet", "fast"]))
        try await book.add(#require(dishes.first))

        #expect(server.requests.contains { $0.target == "/v1/dishes?text=pan&tags%5B%5D=sweet&tags%5B%5D=fast" })
        #expect(server.requests.last?.text.contains(#""added_at":"2026-11-23T08:00:00Z""#) == true)
    }

    @Test func wrongPasswordReportsServersReason() async throws {
        let server = try makeServer()
        let book = try Cookbook(server: server.url("/v1").absoluteString)

        let answer = await lookUp("soup", in: book, as: Login(name: "ada", password: "wrong"))

        // The login neither waited for a credential nor refreshed one, and was sent once.
        #expect(answer == "refused: wrong password" && server.requests.map(\.path) == ["/v1/session"])
    }

    @Test func rejectedRefreshRequiresLogin() async throws {
        let server = try MockServer { request in
            switch request.path {
            case "/v1/session": .json(#"{"access_token": "old", "refresh_token": "r"}"#)
            case "/v1/session/refresh": .json(#"{"message": "expired"}"#, status: .unauthorized)
            default: .json(#"{"message": "who?"}"#, status: .unauthorized)
            }
        }
        let book = try Cookbook(server: server.url("/v1").absoluteString)

        #expect(await lookUp("soup", in: book, as: Login(name: "ada", password: "right")) == "log in again")
    }

    @Test func requestIsNotSentWithoutLogin() async throws {
        let server = try makeServer()
        let book = try Cookbook(server: server.url("/v1").absoluteString)

        let error = await #expect(throws: RequestError.self) { try await book.dish("soup") }

        #expect(error?.code == .authenticationFailed && server.requests.isEmpty)
    }
}
