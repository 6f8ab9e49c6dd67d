// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The examples of RealHTTP's manual about its stubber, with the same purpose and this library's API.
@Suite(.bounded, .tags(.behaviour)) struct RealHTTPStubberTests {
    struct Member: Codable, Sendable {
        var id = 34
        var name = "Ada"
    }

    private let stubber = HTTPStubber()
    private var client: HTTPClient {
        HTTPClient(baseURL: URL(string: "https://club.example"), transport: stubber)
    }

    @Test func aStubAnswersEachMethodInItsWay() async throws {
        stubber.stub(.method(.post), .url(matching: "club.example/.+")).respond(with: .json(#"{"id": 1}"#))
        stubber.stub(.method(.put), .url(matching: "club.example/.+")).respond(with: .offline)

        #expect(try await client.fetch(Post<String>("a")) == #"{"id": 1}"#)
        await #expect { try await self.client.fetch(Put<String>("a")) } throws: {
            ($0 as? RequestError)?.code == .offline
        }
    }

    @Test func aResponseHasStatusTypeFieldsAndADelay() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.any).respond(
            with: .data(Data("BM".utf8), type: "image/bmp", status: .created, headers: ["X-A": "1"])
                .delayed(by: .seconds(5))
        )
        let client = HTTPClient(baseURL: URL(string: "https://club.example"), transport: stubber)

        async let response = client.send(Post<Data>("a"))
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))

        #expect(try await response.status == .created)
    }

    @Test func anEchoSaysWhatWasSent() async throws {
        stubber.stub(.any).respond(with: .echo)

        #expect(try await client.fetch(Post<String>("a").body(.text("hello"))).contains("hello"))
    }

    @Test func theAnswerIsMadeOfTheRequest() async throws {
        struct Credentials: Codable { let user: String }
        stubber.stub(.post, "https://club.example/login") { request in
            guard let credentials = try? request.decoded(as: Credentials.self) else { return .status(.unauthorized) }
            return .text(credentials.user == "mark" ? "admin" : "guest")
        }

        let login = Post<String>("login")

        #expect(try await client.fetch(login.body(.json(Credentials(user: "mark")))) == "admin")
        #expect(try await client.fetch(login.body(.json(Credentials(user: "ada")))) == "guest")
        await #expect(throws: RequestError.self) { try await self.client.fetch(login) }
    }

    @Test func aTemplateMatchesAddresses() async throws {
        stubber.stub(.get, "https://club.example/kylef/{repository}") { .text($0["repository"] ?? "") }

        #expect(try await client.fetch(Get<String>("kylef", "URITemplate.swift")) == "URITemplate.swift")
    }

    @Test func contentMatchesJSONAndBytes() async throws {
        stubber.stub(.jsonBody(encoding: Member())).respond(with: .text("member"))
        stubber.stub(.body(Data("raw".utf8))).respond(with: .text("bytes"))

        #expect(try await client.fetch(Post<String>("a").body(.json(Member()))) == "member")
        #expect(try await client.fetch(Post<String>("a").body(.data(Data("raw".utf8)))) == "bytes")
    }

    @Test func partsOfTheAddressAreIgnored() async throws {
        stubber.stub(.url("https://club.example/login", ignoring: .query)).respond(with: .text("in"))

        #expect(try await client.fetch(Get<String>("login").query(["username": "x", "lock": 1])) == "in")
    }

    @Test func aConditionIsOnesOwn() async throws {
        stubber.stub(.where("the agent is ours") { $0.headers[.userAgent] == "Club/1" }).respond(with: .text("ours"))

        #expect(try await client.fetch(Get<String>("a").headers([.userAgent: "Club/1"])) == "ours")
        await #expect(throws: RequestError.self) { try await self.client.fetch(Get<String>("a")) }
    }

    @Test func ignoredOrUnknownRequestGoesToTheNetwork() async throws {
        let network = InMemoryTransport { _ in .status(.ok, body: Data("network".utf8)) }
        let stubber = HTTPStubber(network: network)
        let client = HTTPClient(baseURL: URL(string: "https://club.example"), transport: stubber)
        stubber.stub(.any).respond(with: .text("stub"))
        stubber.ignore(.host("apple.example"))

        #expect(try await client.fetch(Get<String>("a")) == "stub")
        #expect(try await client.fetch(HTTPRequest("https://apple.example/").decoding(.text)) == "network")
        stubber.removeAllStubs()
        stubber.unhandledMode = .passThrough
        #expect(try await client.fetch(Get<String>("a")) == "network")
    }

    @Test func theNetworkIsSlowOrGone() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.path("/slow")).respond(with: .data(Data(count: 2000)).throttled(to: .gprs))
        stubber.stub(.path("/gone")).respond(with: .failure(.notConnectedToInternet))
        let client = HTTPClient(baseURL: URL(string: "https://club.example"), transport: stubber)

        await #expect { try await client.fetch(Get<Data>("gone")) } throws: {
            ($0 as? RequestError)?.code == .offline
        }
        let operation = client.addRequest(Get<Data>("slow"))
        try await clock.waitForSleepers()
        #expect(operation.result == nil)
        operation.cancel()
    }
}
