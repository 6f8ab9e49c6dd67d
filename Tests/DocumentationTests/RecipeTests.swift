// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

struct RecipeTests {
    struct Recipe: Decodable { let name: String }
    let api = URL(string: "https://api.example.com")!

    @Test func decodesTheRecipe() async throws {  // a closure instead of the network
        let transport = InMemoryTransport { _ in .json(["name": "Pancakes"]) }
        let client = HTTPClient(baseURL: api, transport: transport)
        #expect(try await client.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
    }

    @Test func sendsTheOrder() async throws {  // stubs: responses for the requests you expect
        let stubber = HTTPStubber()
        stubber.stub(.post, "/orders", .jsonBody(["eggs": 3])).expectingCalls(1).respond(with: .status(.created))
        let client = HTTPClient(baseURL: api, transport: stubber)
        try await client.fetch(Post<Void>("orders").body(.json(["eggs": 3])))
        try stubber.verify()
    }

    @Test func reportsALostConnection() async throws {  // a server with a real socket
        let server = try MockServer { _ in .json(["name": "Pancakes"]).truncated(after: 8) }
        let client = HTTPClient(baseURL: server.url)
        let error = await #expect(throws: RequestError.self) { try await client.fetch(Get<Recipe>("recipes", "1")) }
        #expect(error?.code == .connectionLost)
    }

    @Test func retriesAfterAMinute() async throws {  // a clock that the test advances
        let (stubber, clock) = (HTTPStubber(), ManualClock())
        stubber.stub().respond(with: .status(.serviceUnavailable), .json(["name": "Pancakes"]))
        let client = HTTPClient(baseURL: api, transport: stubber) {
            $0.clock = clock
            $0.retry = RetryPolicy(backoff: .constant(.seconds(60)))
        }
        async let recipe = client.fetch(Get<Recipe>("recipes", "1"))
        try await clock.waitForSleepers()  // the retry waits
        clock.advance(by: .seconds(60))
        #expect(try await recipe.name == "Pancakes")
    }
}
