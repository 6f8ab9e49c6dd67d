// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsConformance
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing
import XCTest

@Suite(.bounded) struct TestingYourRequestsTests {
    struct Menu: Decodable { let name: String }

    @Test func retriesWithoutWaiting() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.get, "/menu").respond(with: .status(.serviceUnavailable), .reset, .json(["name": "Soup"]))
        let client = HTTPClient(baseURL: api, transport: stubber) { $0.retry = RetryPolicy(limit: 2, backoff: .none) }

        #expect(try await client.fetch(Get<Menu>("menu")).name == "Soup")
        #expect(stubber.requests.count == 3)
    }

    struct MenuStore {
        let client: HTTPClient

        func dish() async throws -> String { try await client.fetch(Get<Menu>("menu")).name }
    }

    @Test func storeReadsTheMenu() async throws {
        let transport = InMemoryTransport { _ in .json(["name": "Soup"]) }
        let store = MenuStore(client: HTTPClient(baseURL: api, transport: transport))

        #expect(try await store.dish() == "Soup")
        #expect(transport.requests.map(\.path) == ["/menu"])
    }

    @Test func clockIsAdvancedForEachRetry() async throws {
        let (stubber, clock) = (HTTPStubber(), ManualClock())
        stubber.stub().respond(
            with: .status(.serviceUnavailable),
            .status(.serviceUnavailable),
            .json(["name": "Soup"])
        )
        let client = HTTPClient(baseURL: api, transport: stubber) {
            $0.clock = clock
            $0.retry = RetryPolicy(limit: 2, backoff: .constant(.seconds(60)))
        }

        async let menu = client.fetch(Get<Menu>("menu"))
        for _ in 1...2 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
        }
        #expect(try await menu.name == "Soup")
    }

    @Test func conditionsSelectRequests() async throws {
        let stubber = HTTPStubber()

        let dish = "Soup"
        let list = StubResponse.json([["name": .value(dish), "prices": [7, 8.5]], ["name": "Pie", "prices": []]])
        let text = StubResponse.json(#"[{"name": "Soup"}, {"name": "Pie"}]"#)
        let events = StubResponse.events([#"{"text": "Hel"}"#, ServerSentEvent(event: "usage", data: "7"), "[DONE]"])
        let table = StubResponse.text("Soup,7", type: "text/csv")

        stubber.stub(.post, "/login", .formBody(["user": "ada"]), .header(.accept)).respond(with: .noContent)
        stubber.stub(.get, "/menus", .query(["page": 2])).respond(with: list)

        stubber.stub(.get, "/menus").respond(with: text)
        stubber.stub(.post, "/chat").respond(with: events)
        stubber.stub(.get, "/table").respond(with: table)
        let client = HTTPClient(baseURL: api, transport: stubber)
        try await client.fetch(Post<Void>("login").body(.form(["user": "ada"])).header(.accept, "*/*"))
        for page in 1...2 {
            let menus = try await client.fetch(Get<[Menu]>("menus").query(["page": page]))
            #expect(menus.map(\.name) == ["Soup", "Pie"])
        }
        let stream = try await client.stream(Post<Data>("chat"))
        let answer = try await stream.serverSentEvents.reduce(into: []) { $0.append($1.data) }
        #expect(answer == [#"{"text": "Hel"}"#, "7", "[DONE]"])
        #expect(try await client.fetch(Get<String>("table")) == "Soup,7")
        #expect(stubber.stubs.map(\.callCount) == [1, 1, 1, 1, 1])
    }

    #if os(Linux)
    @Test func serverScriptsEachSocket() async throws {
        let server = try MockServer()
        let chat = StubResponse.webSocket { socket in
            while let message = socket.receive() {
                if message.text == "bye" { return }  // closes the socket
                try socket.send("echo: \(message.text ?? "")")
            }
        }
        server.route(.get, "/rooms/{room}", chat)

        let socket = try await HTTPClient(baseURL: server.url).webSocket("rooms/1")
        try await socket.send("hello")
        try await socket.send("bye")
        var texts: [String] = []
        for try await message in socket.messages { texts.append(message.text ?? "") }
        #expect(texts == ["echo: hello"])
    }
    #endif

    @Test func jitterIsReproducible() async throws {
        let clock = ManualClock()
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }

        let backoff = RetryPolicy.Backoff.exponential(from: .seconds(1))
        let client = HTTPClient(baseURL: api, transport: transport) {
            $0.clock = clock
            $0.random = .seeded(7)
            $0.retry = RetryPolicy(backoff: backoff)
        }
        let delay = backoff.delay(before: 1, random: .seeded(7))  // of the first retry of this client

        let fetching = Task { try await client.fetch(Get<Menu>("menu")) }
        try await clock.waitForSleepers()
        clock.advance(by: delay - .nanoseconds(1))
        #expect(transport.requests.count == 1)
        clock.advance(by: .nanoseconds(1))
        try await clock.waitForSleepers()
        #expect(transport.requests.count == 2)
        fetching.cancel()
    }

    struct Token: Decodable { let access: String }

    struct TokenAuthenticator: Authenticator {
        func apply(_ token: String, to request: inout HTTPRequest) {
            request.headers.set(.authorization(.bearer(token)))
        }

        func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
            try await client.fetch(Post<Token>("tokens")).access
        }
    }

    @Test func refreshesTheTokenOnce() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.post, "/tokens").expectingCalls(1).respond(with: .json(["access": "new"]))
        stubber.stub(.get, "/menu", .header(.authorization, "Bearer new")).respond(with: .json(["name": "Soup"]))
        stubber.stub().respond(with: .status(.unauthorized))
        let client = HTTPClient(baseURL: api, transport: stubber) {
            $0.interceptors = [AuthenticationInterceptor(TokenAuthenticator(), credential: "old")]
        }

        async let first = client.fetch(Get<Menu>("menu"))
        async let second = client.fetch(Get<Menu>("menu"))

        #expect(try await [first.name, second.name] == ["Soup", "Soup"])
        try stubber.verify()  // there was one refresh
        try stubber.requests.expect(.get, "/menu", .header(.authorization, "Bearer old"))
    }

    @Test func concurrentRequestsShareTokenRefresh() async throws {
        let gate = Gate()
        let server = try MockServer()
        server.route(.post, "/tokens", .json(["access": "new"]))
        server.route(.get, "/menu") { request in
            let isNew = request.headers[.authorization] == "Bearer new"
            return isNew ? .json(["name": "Soup"]) : .status(.unauthorized).held(by: gate)
        }
        let client = HTTPClient(baseURL: server.url) {
            $0.interceptors = [AuthenticationInterceptor(TokenAuthenticator(), credential: "old")]
        }

        async let first = client.fetch(Get<Menu>("menu"))
        async let second = client.fetch(Get<Menu>("menu"))
        try await server.awaitRequests(2)  // both have arrived with the old token
        gate.open()

        #expect(try await [first.name, second.name] == ["Soup", "Soup"])
        #expect(server.requests.filter { $0.path == "/tokens" }.count == 1)
    }

    @Test func stubReceivesTemplateVariables() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.get, "/recipes/{id}") { request in .json(["name": "Recipe \(request["id"] ?? "")"]) }
        let client = HTTPClient(baseURL: api, transport: stubber)

        #expect(try await client.fetch(Get<Menu>("recipes", "1")).name == "Recipe 1")
    }

    @Test func interruptsDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }

        let film = Data(repeating: 7, count: 100_000)
        let server = try MockServer()
        server.route(.get, "/films/1", .data(film, headers: [.eTag: "\"1\""]).truncated(after: 40_000))
        let client = HTTPClient(baseURL: server.url)
        let file = folder.appending(path: "1.mov")

        let error = await #expect(throws: RequestError.self) {
            try await client.fetch(Download("films/1", to: .file(file)))
        }

        #expect(error?.code == .connectionLost)
        #expect(!FileManager.default.fileExists(atPath: file.path))

        server.route(.get, "/films/1") { request in
            guard request.headers[.range] != nil else {
                return .data(film, headers: [.eTag: "\"1\""]).truncated(after: 40_000)
            }
            let range: HTTPHeaders = [.eTag: "\"1\"", .contentRange: "bytes 40000-99999/100000"]
            return .data(film.suffix(60_000), status: .partialContent, headers: range)
        }

        let retrying = HTTPClient(baseURL: server.url) { $0.retry = RetryPolicy(backoff: .none) }
        _ = try await retrying.fetch(Download("films/1", to: .file(file)))
        #expect(try Data(contentsOf: file) == film)
    }

    @Test func waitsForSlowServer() async throws {
        let gate = Gate()
        let server = try MockServer { _ in .json(["name": "Soup"]).held(by: gate) }
        let operation = HTTPClient(baseURL: server.url).addRequest(Get<Menu>("menu"))
        try await server.awaitRequest()  // it has arrived, but has no response yet
        #expect(operation.isExecuting)
        gate.open()
        #expect(try await operation.value().name == "Soup")
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

        let stubber = HTTPStubber()
        stubber.stub(.get, "/menu").respond(with: .json(["name": "Soup"]))
        stubber.replay(recorder.archive, ignoring: [.scheme, .host, .port])
        let replayed = HTTPClient(baseURL: URL(string: "https://recipes.example.com"), transport: stubber)

        #expect(try await replayed.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
    }

    @Test func advancesTime() async throws {
        let clock = ManualClock()
        let transport = InMemoryTransport(clock: clock) { _ in .json(["name": "Soup"]).delayed(by: .seconds(60)) }
        let client = HTTPClient(baseURL: api, transport: transport) { $0.clock = clock }

        async let menu = client.fetch(Get<Menu>("menu"))
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(60))

        #expect(try await menu.name == "Soup")
    }

    @Test func stubsURLSession() async throws {
        let stubber = HTTPStubber()
        stubber.stub(.get, "/recipes/{id}") { _ in .text("hello") }

        let configuration = URLSessionConfiguration.ephemeral
        stubber.install(in: configuration)
        let session = URLSession(configuration: configuration)

        let (data, _) = try await session.data(from: api.appending(path: "recipes/1"))
        #expect(data == Data("hello".utf8))
    }

    #if os(Linux)
    private typealias MyTransport = CurlTransport

    /// Stands for the checks in the snippet below: some, since `ConformanceTests` puts the transport to all of them.
    enum TransportConformance {
        typealias Check = RequestsConformance.TransportConformance.Check

        static let checks = Array(RequestsConformance.TransportConformance.checks.prefix(Scale.pick(3, whole: .max)))
    }

    @Test(arguments: TransportConformance.checks)
    func myTransportConforms(_ check: TransportConformance.Check) async throws {
        try await check.run(on: { MyTransport() })
    }
    #endif

    /// The codes that the table of Troubleshooting begins its rows with.
    @Test func troubleshootingNamesExistingErrorCodes() throws {
        let url = SnippetTests.root.appending(path: "Sources/Requests/Requests.docc/Articles/Troubleshooting.md")
        let sections = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n## ")
        let text = try #require(sections.first { $0.hasPrefix("By code") })
        let codes = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.allSatisfy(\.isLetter) }
        }
        let sources = ["Requests/Response/RequestError+Code.swift", "RequestsTesting/Stubs/StubUsage.swift"]
        let known = try sources.map {
            try String(contentsOf: SnippetTests.root.appending(path: "Sources/\($0)"), encoding: .utf8)
        }.joined()

        #expect(codes.count > 20)
        for code in codes { #expect(known.contains("Code(\"\(code)\","), "\(code)") }
    }
}

final class TestingWithXCTestTests: XCTestCase {
    func testLostConnection() async throws {
        let server = try MockServer { _ in .closed }
        let client = HTTPClient(baseURL: server.url)

        do {
            _ = try await client.fetch(Get<Recipe>("recipes", "1"))
            XCTFail("the request succeeded")
        } catch {
            XCTAssertEqual(error.code, .connectionLost)
        }
    }
}
