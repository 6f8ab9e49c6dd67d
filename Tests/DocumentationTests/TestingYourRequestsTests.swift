// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct TestingYourRequestsTests {
    @Test func inMemory() async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes", "authorID": 7}"#) : .status(.notFound)
        }
        let recipe = try await OperationQueue().fetch(RecipeRequest(recipeID: 1), session: transport)

        #expect(recipe.name == "Pancakes")
        #expect(transport.requests.map(\.url.path) == ["/recipes/1"])
    }

    @Test func stepByStep() async throws {
        let transport = ManualTransport()
        let operation = OperationQueue().addRequest(RecipeRequest(recipeID: 1), session: transport)
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))

        operation.cancel()  // between the head and the content
        try await transfer.awaitCancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))

        await #expect(throws: RequestError.self) { try await operation.value() }
    }

    @Test func stubs() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.get, "/recipes/{id}") { request in
            .json(#"{"name": "Recipe \#(request["id"] ?? "")", "authorID": 7}"#)
        }
        .called(times: 1)
        stubber.stub(.method(.get), .path("/menu")).once().respond(with: .status(.serviceUnavailable))
        let client = HTTPClient(baseURL: api, transport: stubber)

        let recipe = try await client.fetch(Get<Recipe>("recipes", "1"))

        #expect(recipe.name == "Recipe 1")
        try stubber.verify()  // all that was expected has come
    }

    @Test func stubsOfASession() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.get, "/recipes/{id}") { _ in .text("hello") }

        let configuration = URLSessionConfiguration.ephemeral
        stubber.install(in: configuration)
        let session = URLSession(configuration: configuration)

        let (data, _) = try await session.data(from: api.appending(path: "recipes/1"))
        #expect(data == Data("hello".utf8))
    }

    @Test func expecting() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.post, "/orders") { _ in .status(.created) }
        let client = HTTPClient(baseURL: api, transport: stubber)

        try await client.fetch(Post<Void>("orders").query(["table": "4"]).body(.json(["eggs": 3])))

        try stubber.requests.expect(.post, path: "/orders", json: ["eggs": 3])
        try stubber.requests[0].expect(
            ExpectedRequest(query: ["table": "4"], absentHeaders: [.authorization], body: .jsonContaining(["eggs": 3]))
        )
        let failure = #expect(throws: ExpectationFailure.self) {
            try stubber.requests.expect(.post, path: "/orders", json: ["eggs": 4])
        }
        #expect(failure?.description.hasSuffix("\n- body.eggs: expected 4, was 3") == true)
    }

    @Test func recording() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).har")
        defer { try? FileManager.default.removeItem(at: file) }
        for isRecording in [true, false] {
            let archive = try ArchiveTransport(file)
            let client = HTTPClient(baseURL: api, transport: archive)

            let recipe = try await client.fetch(Get<Recipe>("recipes", "1"))

            #expect(recipe.name == "Pancakes")
            try archive.save()  // writes what was recorded; does nothing in a replay

            #expect(archive.isRecording == isRecording)
        }
    }

    @Test func replaying() async throws {
        let recorder = ExchangeRecorder()
        _ = try await HTTPClient(baseURL: api, transport: recorder).fetch(Get<Recipe>("recipes", "1"))
        try recorder.exchanges.expect(.get, path: "/recipes/1")

        let stubber = HTTPStubber()
        stubber.stub(.get, "/menu") { _ in .json(#"{"name": "Soup", "authorID": 7}"#) }
        stubber.replay(recorder.archive, ignoring: [.scheme, .host, .port])
        let replayed = HTTPClient(baseURL: URL(string: "https://recipes.example.com"), transport: stubber)

        #expect(try await replayed.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
    }

    @Test func seededNumbersRepeat() {
        let backoff = Backoff.exponential(from: .seconds(1))
        let expected = backoff.delay(before: 1, random: .seeded(7))

        var random = SeededRandom(7)
        let order = ["eggs", "flour", "milk"].shuffled(using: &random)

        #expect(expected == backoff.delay(before: 1, random: .seeded(7)))
        var again = SeededRandom(7)
        #expect(order == ["eggs", "flour", "milk"].shuffled(using: &again))
    }

    @Test func server() async throws {
        let server = try MockServer()
        server.route(.get, "/recipes/{id}") { request in .json(#"{"name": "\#(request["id"] ?? "")", "authorID": 7}"#) }
        server.route(.get, "/menu", .status(.serviceUnavailable), .json(#"{"name": "Soup", "authorID": 7}"#))
        server.route(.get, "/torn", .json(#"{"name": "Soup"}"#).truncated(after: 8))
        server.route(.post, "/photos", .status(.contentTooLarge).early)
        let client = HTTPClient(baseURL: server.url) { $0.retry = RetryPolicy(backoff: .constant(.zero)) }

        let menu = try await client.fetch(Get<Recipe>("menu"))  // the second answer, after a retry

        #expect(menu.name == "Soup")
        #expect(server.requests.map(\.path) == ["/menu", "/menu"])
        #expect(server.log[0].headRead < server.log[1].headRead)

        let torn = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).fetch(Get<Recipe>("torn"))
        }
        #expect(torn?.code == .connectionLost)
        let recipe = try await client.fetch(Get<Recipe>("recipes", "9"))
        #expect(recipe.name == "9")
    }

    @Test func awaiting() async throws {
        let server = try MockServer { _ in .never }
        let fetching = Task { try await HTTPClient(baseURL: server.url).fetch(Get<Recipe>("recipes", "1")) }
        try await server.awaitRequest()  // not before it is on its way
        fetching.cancel()
        try await server.awaitConnections(open: 0)  // and it has closed the connection

        await #expect(throws: RequestError.self) { try await fetching.value }
    }

    @Test func configuration() async throws {
        var configuration = MockServer.Configuration()
        configuration.maximumRequestsPerConnection = 1
        configuration.maximumBodySize = 1_000_000
        let server = try MockServer(configuration: configuration) { _ in .noContent }

        #expect(server.requestCount == 0)
    }

    @Test func folder() async throws {
        let fixtures = FileManager.default.temporaryDirectory

        let files = MockServer.folder(fixtures)
        let server = try MockServer { try files($0).truncated(after: 1_000) }

        let error = await #expect(throws: RequestError.self) {
            try await HTTPClient(baseURL: server.url).fetch(Get<Recipe>("none", "at", "all"))
        }
        #expect(error?.response?.status == .notFound)
    }

    @Test func manualClockMovesOnlyOnDemand() async throws {
        let clock = ManualClock()
        let server = try MockServer()
        server.route(.get, "/menu", .status(.serviceUnavailable), .json(#"{"name": "Soup", "authorID": 7}"#))
        let client = HTTPClient(baseURL: server.url) {
            $0.clock = clock
            $0.random = .seeded(7)  // the same jitter in every run
            $0.retry = RetryPolicy(backoff: .exponential())
        }

        async let menu = client.fetch(Get<Recipe>("menu"))
        try await clock.waitForSleepers()  // the retry waits
        clock.advance(by: .seconds(1))  // and no other task

        #expect(try await menu.name == "Soup")
    }

    #if os(Linux)
    private typealias MyTransport = CurlTransport

    /// Stands for the checks in the snippet below: some, since `ConformanceTests` puts the transport to all of them.
    enum TransportConformance {
        typealias Check = RequestsTesting.TransportConformance.Check

        static let checks = Array(RequestsTesting.TransportConformance.checks.prefix(Scale.pick(3, whole: .max)))
    }

    @Test(arguments: TransportConformance.checks)
    func myTransportConforms(_ check: TransportConformance.Check) async throws {
        try await check.run(on: { MyTransport() })
    }
    #endif

    /// The codes that the table of Troubleshooting begins its rows with.
    @Test func troubleshootingNamesCodesThatExist() throws {
        let url = SnippetTests.root.appending(path: "Sources/Requests/Requests.docc/Articles/Troubleshooting.md")
        let sections = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n## ")
        let text = try #require(sections.first { $0.hasPrefix("By code") })
        let codes = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.allSatisfy(\.isLetter) }
        }
        let known = try String(
            contentsOf: SnippetTests.root.appending(path: "Sources/Requests/Response/RequestError+Code.swift"),
            encoding: .utf8
        )

        #expect(codes.count > 20)
        for code in codes { #expect(known.contains("Code(\"\(code)\")"), "\(code)") }
    }
}
