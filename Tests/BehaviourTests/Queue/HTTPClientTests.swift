// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct HTTPClientTests {
    private let transport = InMemoryTransport { request in
        .json("{\"id\": 1, \"name\": \"\(request.url.absoluteString)\"}")
    }

    @Test func requestsInheritEnvironment() async throws {
        let client = HTTPClient(baseURL: server, transport: transport) {
            $0.headers[.userAgent] = "Recipes/2.1"
            $0.query = ["lang": "en"]
        }

        let user = try await client.fetch(Get<User>("users", "1"))

        #expect(user.name == "https://api.example.com/v1/users/1?key=k&lang=en")
        #expect(transport.requests.first?.headers[.userAgent] == "Recipes/2.1")
    }

    @Test(arguments: ["users", "https://other.example/users"])
    func clientWithNilBaseURLSendsNothing(address: String) async {
        let text = "https://exa mple.com:port/"
        let client = HTTPClient(baseURL: URL(string: text), transport: transport) {
            $0.headers[.authorization] = "hush"
        }

        for client in [client, client.inheriting { $0.headers["X-A"] = "b" }] {
            let error = await #expect(throws: RequestError.self) {
                try await client.fetch(HTTPRequest("\(raw: address)"))
            }

            #expect(error?.code == .invalidRequest && error?.description.contains("was set to nil") == true)
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func baseURLCanBeSetLater() async throws {
        let client = HTTPClient(baseURL: nil, transport: transport) { $0.baseURL = server }
        let late = HTTPClient(baseURL: nil, transport: transport)
        late.configure { $0.baseURL = server }
        let none = HTTPClient(transport: transport)

        for client in [client, late] { _ = try await client.fetch(Get<User>("users", "1")) }
        _ = try await none.fetch(HTTPRequest("https://other.example/users").decoding(.json(User.self)))

        #expect(transport.requests.count == 3)
    }

    @Test func serviceWithInvalidBaseURLSendsNothing() async {
        struct Broken: NetworkService {
            let client: HTTPClient
            let baseURL = URL(string: "https://exa mple.com:port/")
        }
        let service = Broken(
            client: HTTPClient(baseURL: server, transport: transport) { $0.headers[.authorization] = "a" }
        )

        await #expect(throws: RequestError.self) { try await service.fetch(HTTPRequest("https://other.example/")) }
        #expect(transport.requests.isEmpty)
    }

    @Test func configurationAppliesToLaterRequests() async throws {
        let client = HTTPClient(baseURL: server, transport: transport)
        client.isSuspended = true
        let early = client.addRequest(Get<User>())
        client.configure { $0.headers["X-Late"] = "1" }
        let late = client.addRequest(Get<User>())
        client.isSuspended = false

        _ = try await (early.value(), late.value())

        #expect(try #require(early.transfers.first).request.headers["X-Late"] == nil)
        #expect(try #require(late.transfers.first).request.headers["X-Late"] == "1")
    }

    @Test func configureClosureCanReadClient() {
        let client = HTTPClient(baseURL: server, transport: transport)

        client.configure {
            $0.headers["X-Count"] = "\(client.environment.headers.count) at \(client.baseURL?.host ?? "")"
        }

        let count = HTTPHeaders.default.count
        #expect(client.environment.headers["X-Count"] == "\(count) at api.example.com")
    }

    @Test func concurrentChangesAreAllApplied() {
        let client = HTTPClient(baseURL: server, transport: transport)

        DispatchQueue.concurrentPerform(iterations: 200) { number in
            client.configure { $0.query.append("n", value: number) }
        }

        #expect(Set(client.environment.query.map(\.value)).count == 200)
    }

    @Test func valueReleasedByConfigureCanUseClient() {
        final class Farewell: EventMonitor {
            let client: Locked<HTTPClient?> = Locked(nil)
            let seen: Recorder<Int>
            init(_ seen: Recorder<Int>) { self.seen = seen }
            func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {}
            deinit { if let client = client.withLock({ $0 }) { seen.record(client.environment.monitors.count) } }
        }
        let seen = Recorder<Int>()
        let client = HTTPClient(baseURL: server, transport: transport)
        for change in [{ client.configure { $0.monitors = [] } }, { client.environment.monitors = [] }] {
            do {
                let farewell = Farewell(seen)
                client.configure { $0.monitors = [farewell] }
                farewell.client.withLock { $0 = client }
            }
            change()
        }

        #expect(seen.elements == [0, 0])
    }

    @Test func concurrencyLimitBoundsRequests() async throws {
        let (gate, started) = (Gate(), Recorder<Void>())
        let transport = InMemoryTransport { _ in
            started.record(())
            return .status(.ok).held(by: gate)
        }
        let client = HTTPClient(baseURL: server, maxConcurrentRequests: 3, transport: transport)
        let operations = (0..<20).map { _ in client.addRequest(Get<Data>()) }

        await started.first(3)
        #expect(client.operations.count { $0.isExecuting } == 3 && started.count == 3)
        gate.open()
        for operation in operations { await operation.end() }

        #expect(transport.requests.count == 20)
    }

    @Test(arguments: [0, -2, Int.min]) func concurrencyLimitIsAtLeastOne(width: Int) async throws {
        let (gate, started) = (Gate(), Recorder<Void>())
        let transport = InMemoryTransport { _ in
            started.record(())
            return .status(.ok).held(by: gate)
        }
        let client = HTTPClient(baseURL: server, maxConcurrentRequests: width, transport: transport)
        #expect(client.maxConcurrentRequests == 1)
        client.maxConcurrentRequests = 3
        client.maxConcurrentRequests = width
        let operations = (0..<3).map { _ in client.addRequest(Get<Data>()) }

        await started.first(1)
        #expect(client.maxConcurrentRequests == 1 && client.operations.count { $0.isExecuting } == 1)
        gate.open()
        for operation in operations { _ = try await operation.value() }
    }

    @Test func derivedClientSharesOnlyQueue() async throws {
        let client = HTTPClient(baseURL: server, maxConcurrentRequests: 1, transport: transport)
        let admin = client.inheriting { $0.headers["X-Role"] = "admin" }
        client.isSuspended = true
        let operation = admin.addRequest(Get<User>())

        #expect(client.operations.contains { $0 === operation } && admin.isSuspended)
        #expect(client.environment.headers["X-Role"] == nil)
        client.isSuspended = false
        _ = try await operation.value()
        #expect(transport.requests.last?.headers["X-Role"] == "admin")
    }

    @Test func cancelAllRequestsCancelsAll() async {
        let client = HTTPClient(baseURL: server, transport: InMemoryTransport { _ in .never })
        let operations = (0..<10).map { _ in client.addRequest(Get<Data>()) }

        client.cancelAllRequests()

        for operation in operations {
            await operation.end()
            #expect(operation.result?.error?.code == .cancelled)
        }
    }

    @Test func requestsOutliveReleasedClient() async throws {
        let gate = Gate()
        weak var weakClient: HTTPClient?
        let operation = {
            let client = HTTPClient(
                baseURL: server,
                maxConcurrentRequests: 1,
                transport: InMemoryTransport { _ in .json(#"{"id": 1, "name": "Ada"}"#).held(by: gate) }
            )
            weakClient = client
            client.addRequest(Get<User>())
            return client.addRequest(Get<User>())
        }()
        #expect(weakClient == nil)

        gate.open()

        #expect(try await operation.value() == User())
    }

    @Test func codersAreInherited() async throws {
        struct Stamp: Codable, Sendable, Equatable { var madeAt: Date }
        let stamp = Stamp(madeAt: Date(timeIntervalSince1970: 86_400))
        let transport = InMemoryTransport { _ in .json(#"{"madeAt": "1970-01-02T00:00:00Z"}"#) }
        let client = HTTPClient(baseURL: server, transport: transport) {
            $0.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
            $0.makeEncoder = {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .iso8601
                return encoder
            }
        }

        #expect(try await client.fetch(Post<Stamp>().body { stamp }) == stamp)
        let sent = try #require(transport.requests.first)
        #expect(sent.body == Data(#"{"madeAt":"1970-01-02T00:00:00Z"}"#.utf8))
    }

    @Test(arguments: [false, true])
    func decoderChangeDoesNotAffectRunningRequest(isAwaited: Bool) async throws {
        struct Stamp: Codable, Sendable, Equatable { var madeAt: Date }
        let (gate, started) = (Gate(), Recorder<Void>())
        let transport = InMemoryTransport { _ in
            started.record(())
            return .json(#"{"madeAt": "1970-01-02T00:00:00Z"}"#).held(by: gate)
        }
        let client = HTTPClient(baseURL: server, transport: transport) {
            $0.makeDecoder = {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
        }

        let sending = Task {
            if isAwaited { return try await client.send(Get<Data>("stamp")) }
            return try await withCheckedThrowingContinuation { continuation in
                client.send(Get<Data>("stamp")) { continuation.resume(with: $0) }
            }
        }
        await started.first(1)
        client.configure { $0.makeDecoder = { JSONDecoder() } }
        gate.open()

        #expect(try await sending.value.decodeJSON(Stamp.self).madeAt == Date(timeIntervalSince1970: 86_400))
    }

    @Test func requestCanFetchItself() async throws {
        let client = HTTPClient(baseURL: server, transport: transport)

        let name = try await HTTPRequest("users/1").fetch(User.self, on: client).name
        let response = try await Get<User>("users", "2").send(on: client)

        #expect(name == "https://api.example.com/v1/users/1?key=k")
        #expect(response.status == .ok && response.body.name == "https://api.example.com/v1/users/2?key=k")
    }

    @Test func sharedClientRequiresAbsoluteURLs() async throws {
        await #expect { try await HTTPRequest("users/1").fetch() } throws: { error in
            (error as? RequestError)?.code == .invalidRequest
        }
    }

    @Test func serviceSendsToItsBaseURL() async throws {
        struct Service: NetworkService {
            let client: HTTPClient
            var baseURL: URL?
        }
        let client = HTTPClient(baseURL: server, transport: transport)
        let elsewhere = Service(client: client, baseURL: URL(string: "https://eu.example.com"))

        let here = try await Service(client: client, baseURL: server).send(Get<User>("a")).body.name
        let there = try await elsewhere.fetch(Get<User>("a")).name

        #expect(here == "https://api.example.com/v1/a?key=k" && there == "https://eu.example.com/a")
        #expect(client.baseURL == server)
    }
}
