// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct HTTPStubberTests {
    private let stubber = HTTPStubber()

    private func client(_ stubber: HTTPStubber? = nil) -> HTTPClient {
        HTTPClient(baseURL: URL(string: "https://api.example.com"), transport: stubber ?? self.stubber)
    }

    private func request(_ path: String, _ method: HTTPMethod = .get, body: HTTPBody = .none) -> HTTPRequest {
        HTTPRequest(url: URL(string: "https://api.example.com\(path)")!, method: method, body: body)
    }

    @Test func templateVariablesReachResponder() async throws {
        stubber.stub(.get, "https://api.example.com/users/{id}") { request in
            .json(User(id: request["id"] ?? ""))
        }

        let user = try await request("/users/7?page=2").fetch(User.self, on: client())

        #expect(user == User(id: "7"))
        #expect(stubber.requests.map(\.path) == ["/users/7"])
    }

    // MARK: Release

    /// An object that uses a stubber, a stub or a server when the last closure that retains it is released.
    private final class Farewell: Sendable {
        private let use: @Sendable () -> Void

        init(_ use: @escaping @Sendable () -> Void) {
            self.use = use
        }

        deinit { use() }
    }

    @Test func releasedResponderCanUseItsOwner() throws {
        let (stub, server, uses) = (stubber.stub(.path("/b")), try MockServer(), Recorder<Void>())
        func respond(_ use: @escaping @Sendable () -> Void) -> @Sendable (ReceivedRequest) -> StubResponse {
            let farewell = Farewell {
                use()
                uses.record(())
            }
            return { _ in withExtendedLifetime(farewell) { .status(.ok) } }
        }

        stubber.stub(.path("/a")).respond(respond { [weak stubber] in _ = stubber?.stubs })
        stub.respond(respond { [weak stub] in stub?.limited(to: 1) })
        stub.respond(with: .status(.ok))
        stubber.removeAllStubs()
        server.route(.get, "/", respond { [weak server] in server?.route(.get, "/a", .status(.ok)) })
        server.route(.get, "/", .status(.ok))

        #expect(uses.count == 3)
    }

    @Test func stubRespondsByDecodedContent() async throws {
        stubber.stub(.post, "https://api.example.com/login") { request in
            guard let user = try? request.decoded(as: User.self) else { return .status(.badRequest) }
            return .text("hello \(user.id)")
        }

        let login = try await request("/login", .post, body: .json(User(id: "ada"))).fetch(on: client())
        let nonsense = await #expect(throws: RequestError.self) {
            try await request("/login", .post, body: .text("nonsense")).fetch(on: client())
        }

        #expect(login == Data("hello ada".utf8))
        #expect(nonsense?.response?.status == .badRequest)
    }

    @Test func firstMatchingStubResponds() async throws {
        stubber.stub(.path("/a")).respond(with: .text("first")).limited(to: 1)
        stubber.stub(.path("/a")).respond(with: .text("second"))
        stubber.stub().respond(with: .text("any"))

        var texts: [String] = []
        for path in ["/a", "/a", "/a", "/b"] {
            texts.append(String(decoding: try await request(path).fetch(on: client()), as: UTF8.self))
        }

        #expect(texts == ["first", "second", "second", "any"])
    }

    @Test func responsesAreReturnedInSequence() async throws {
        let stub = stubber.stub(.any).respond(with: .status(.serviceUnavailable), .text("ok")).expectingCalls(2)

        let error = await #expect(throws: RequestError.self) { try await request("/").fetch(on: client()) }
        let text = try await request("/").fetch(on: client())

        #expect(error?.response?.status == .serviceUnavailable)
        #expect(text == Data("ok".utf8))
        #expect(stub.callCount == 2)
        try stubber.verify()
    }

    @Test func unmatchedRequestFailsWithReasons() async throws {
        stubber.stub(.method(.get), .path("/login"), line: 1)
        stubber.stub(.method(.post), .path("/login"), .jsonBody(containing: ["user": "ada"]), line: 2)
        stubber.stub(.method(.get), .host("other"), .path("/x"), line: 3)
        let stub = stubber.stub(.method(.delete), .host("other"), .path("/x"), .body("x"))

        let error = await #expect(throws: RequestError.self) {
            try await request("/login?token=s3cret", .post, body: .json(["user": "bob"])).fetch(on: client())
        }

        let unhandled = try #require(error?.underlying as? UnhandledRequest)
        #expect(error?.code == .notStubbed)
        #expect(
            unhandled.description == """
                no stub matches POST https://api.example.com/login?token=…
                - stub method GET, path /login (\(#fileID):1): the method is POST
                - stub method POST, path /login, JSON body containing members (\(#fileID):2): \
                the JSON differs: user is "bob", not "ada"
                - stub method GET, host other, path /x (\(#fileID):3): the method is POST; \
                the host is api.example.com, not other; the path is /login, not /x
                """
        )
        #expect(stubber.unhandledRequests.count == 1)
        #expect(stub.callCount == 0)
    }

    @Test func errorReportsMissingStubs() async throws {
        let error = await #expect(throws: RequestError.self) { try await request("/").fetch(on: client()) }

        let text = try "\(#require(error))"
        #expect(text.contains("HTTPStubberTests.swift:") && text.contains(": no stubs"))
        // Said once, also where the error and its cause are both printed.
        #expect(text.components(separatedBy: "no stub matches").count == 2)
    }

    @Test func requestBodiesOfAllKindsAreRecorded() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let long = Data(repeating: 7, count: 300_000)
        stubber.stub(.method(.post)).respond(with: .echo)
        let bodies: [HTTPBody] = [
            .none, .text("text"), .file(file), .stream(HTTPBody.Stream { InputStream(data: long) }),
            .stream(HTTPBody.Stream(InputStream(data: long))),
        ]

        var echoes: [Data] = []
        for body in bodies { echoes.append(try await request("/", .post, body: body).fetch(on: client())) }

        #expect(echoes == [Data(), Data("text".utf8), Data("file".utf8), long, long])
        #expect(stubber.requests.map(\.body) == echoes)
    }

    @Test func unreadableBodyFailsRequest() async throws {
        stubber.stub(.any)
        let body = HTTPBody.file(URL(fileURLWithPath: "/nowhere/x"))

        await #expect(throws: RequestError.self) { try await request("/", .post, body: body).fetch(on: client()) }

        #expect(stubber.requests.isEmpty)
    }

    @Test func clientFollowsRedirects() async throws {
        stubber.stub(.get, "/a").respond(with: .redirect(to: "/b"))
        stubber.stub(.get, "/b").respond(with: .text("b"))

        let response = try await request("/a").send(on: client())

        #expect(String(decoding: response.body, as: UTF8.self) == "b")
        #expect(stubber.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func clientHandlesCookies() async throws {
        stubber.stub(.get, "/a").respond(with: .status(.ok, headers: [.setCookie: "k=v; Path=/"]))
        stubber.stub(.get, "/b", .header(.cookie, "k=v")).respond(with: .text("b"))
        let client = client()

        _ = try await request("/a").fetch(on: client)

        #expect(try await request("/b").fetch(on: client) == Data("b".utf8))
    }

    @Test func errorsHaveNetworkCodesAndPhases() async throws {
        stubber.stub(.get, "/offline").respond(with: .offline)
        stubber.stub(.get, "/dropped").respond(with: .text("hello").reset(after: 2))
        stubber.stub(.get, "/thrown") { _ in throw URLError(.cannotFindHost) }
        stubber.stub(.get, "/nan").respond(with: .json(Double.nan))

        for (path, code, phase) in [
            ("/offline", RequestError.Code.offline, RequestError.Phase.sending),
            ("/dropped", .connectionLost, .receiving),
            ("/thrown", .cannotConnect, .sending),
            ("/nan", .encoding, .building),
        ] {
            let error = await #expect(throws: RequestError.self) { try await request(path).fetch(on: client()) }
            #expect(error?.code == code)
            #expect(error?.phase == phase)
        }
    }

    @Test func delaysUseStubberClock() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        let speed = StubResponse.Speed(bytesPerSecond: 100)
        stubber.stub().respond(with: .text("0123456789").delayed(by: .seconds(5)).throttled(to: speed))
        let task = Task { try await request("/").fetch(on: client(stubber)) }

        for step: Duration in [.seconds(5), .milliseconds(50), .milliseconds(50)] {
            try await clock.waitForSleepers()
            clock.advance(by: step)
        }

        #expect(try await task.value == Data("0123456789".utf8))
        #expect(clock.now.offset == .milliseconds(5100))
    }

    @Test func delayBeyondTimeoutFailsRequest() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.path("/never")).respond(with: .never)
        stubber.stub(.path("/late")).respond(with: .text("late").delayed(by: .seconds(60)))
        stubber.stub(.path("/stalled")).respond(with: .text("late").stalled(after: 1))

        for path in ["/never", "/late", "/stalled"] {
            var request = request(path)
            request.timeout = .seconds(10)
            let sent = request
            let task = Task { try await sent.fetch(on: client(stubber)) }
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(10))
            let error = await #expect(throws: RequestError.self) { try await task.value }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func responseDuringCancelIsNotDelivered() async throws {
        let (reached, responded) = (Gate(), DispatchSemaphore(value: 0))
        let error = Locked<RequestError?>(nil)
        stubber.stub(.get, "/never") { _ in
            await withTaskCancellationHandler {
                reached.open()
                try? await Gate().wait()
            } onCancel: {
                // Time for the response, which would be received on another thread.
                _ = responded.wait(timeout: .now() + .milliseconds(50))
            }
            return .text("too late")
        }
        let transfer = stubber.send(TransportRequest(request("/never"))) { event in
            switch event {
            case .head: responded.signal()
            case .end(let end): error.withLock { $0 = end }
            default: break
            }
        }

        try await reached.wait()
        transfer.cancel()

        #expect(error.withLock { $0 }?.code == .cancelled)
    }

    @Test(arguments: [true, false])
    func hangingResponderTimesOut(isDeaf: Bool) async throws {
        let (reached, gate, cancelled) = (Gate(), Gate(), Gate())
        defer { gate.open() }
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.get, "/never") { _ in
            reached.open()
            if isDeaf { _ = await Task { try await gate.wait() }.result } else { try? await gate.wait() }
            if Task.isCancelled { cancelled.open() }
            return .text("too late")
        }
        var request = request("/never")
        request.timeout = .seconds(10)
        let sent = request

        let task = Task { try await sent.fetch(on: client(stubber)) }
        try await reached.wait()
        clock.advance(by: .seconds(10))

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .timedOut && error?.phase == .sending)
        if isDeaf { gate.open() }
        try await cancelled.wait()
        #expect(cancelled.isOpen)
    }

    @Test func responderTimeoutIsNotCountedAsSleeper() async throws {
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.get, "/") { _ in .text("x").delayed(by: .seconds(5)) }
        var request = request("/")
        request.timeout = .seconds(10)
        let sent = request

        let task = Task { try await sent.fetch(on: client(stubber)) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))

        #expect(try await task.value == Data("x".utf8))
        #expect(clock.now.offset == .seconds(5))
    }

    @Test func stubIsSkippedUntilResponseIsSet() async throws {
        let stub = stubber.stub(.path("/a"))
        stubber.stub().respond(with: .text("other"))

        let before = try await request("/a").fetch(on: client())
        stub.limited(to: 1)
        let limited = try await request("/a").fetch(on: client())
        stub.respond(with: .text("first"))
        let after = try await request("/a").fetch(on: client())
        let last = try await request("/a").fetch(on: client())

        #expect(
            [before, limited, after, last].map { String(decoding: $0, as: UTF8.self) }
                == ["other", "other", "first", "other"]
        )
        #expect(stub.callCount == 1)
    }

    @Test func unmatchedRequestReportsIncompleteStub() async throws {
        stubber.stub(.path("/a"))

        let error = await #expect(throws: RequestError.self) { try await request("/a").fetch(on: client()) }

        let unhandled = try #require(error?.underlying as? UnhandledRequest)
        #expect(unhandled.description.hasSuffix("): its response hasn't been set yet"))
    }

    @Test func requestRacesStubSetup() async throws {
        stubber.unhandledMode = .refuse
        let client = client()

        for round in 0..<Scale.races {
            let path = "/race/\(round)"
            let request = request(path)
            let tasks = (0..<4).map { _ in Task { try await request.fetch(on: client) } }
            stubber.stub(.path(path)).limited(to: 1).respond(with: .text("answer"))
            var answers: [Data] = []
            for task in tasks {
                if case .success(let data) = await task.result { answers.append(data) }
            }
            #expect(answers.count <= 1)
            #expect(answers.allSatisfy { $0 == Data("answer".utf8) })
        }
    }

    @Test func cancellationEndsAllWaits() async throws {
        let (reached, gate) = (Gate(), Gate())
        defer { gate.open() }
        let clock = ManualClock()
        let stubber = HTTPStubber(clock: clock)
        stubber.stub(.get, "/delayed").respond(with: .text("x").delayed(by: .seconds(9)))
        stubber.stub(.get, "/deaf") { _ in
            reached.open()
            // Ignores the cancel of the request: a separate task waits for the gate.
            _ = await Task { try await gate.wait() }.result
            return .text("x")
        }

        let delayed = Task { try await request("/delayed").fetch(on: client(stubber)) }
        try await clock.waitForSleepers()
        delayed.cancel()
        let deaf = Task { try await request("/deaf").fetch(on: client(stubber)) }
        try await reached.wait()
        deaf.cancel()

        for task in [delayed, deaf] {
            let error = await #expect(throws: RequestError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func proxyAuthorizationFollowsNetwork() {
        let session = URLSessionTransport(configuration: .ephemeral)
        let memory = InMemoryTransport { _ in .status(.ok) }

        #expect(HTTPStubber().capabilities.contains(.proxyAuthorization))
        #expect(HTTPStubber(network: memory).capabilities.contains(.proxyAuthorization))
        #expect(!HTTPStubber(network: session).capabilities.contains(.proxyAuthorization))
        let passing = HTTPStubber(unhandledMode: .passThrough).capabilities.contains(.proxyAuthorization)
        #expect(passing == HTTPClient.defaultTransport.capabilities.contains(.proxyAuthorization))
    }

    @Test func passThroughRequestsReachNetwork() async throws {
        let network = InMemoryTransport { request in
            .status(.ok, headers: ["X-Network": "1"], body: request.body)
        }
        let stubber = HTTPStubber(network: network)
        stubber.stub(.host("api.example.com"), .path("/real")).passThrough()
        stubber.remove(stubber.stub(.path("/other")).passThrough())
        stubber.stub().respond(with: .text("stub"))
        let body = HTTPBody.stream(HTTPBody.Stream(InputStream(data: Data("streamed".utf8))))

        let real = try await request("/real", .post, body: body).fetch(on: client(stubber))
        let stubbed = try await request("/other").fetch(on: client(stubber))
        stubber.removeAllStubs()
        stubber.unhandledMode = .passThrough
        let unhandled = try await request("/other", .post, body: .text("x")).fetch(on: client(stubber))

        #expect([real, stubbed, unhandled].map { String(decoding: $0, as: UTF8.self) } == ["streamed", "stub", "x"])
        #expect(network.requests.map(\.url.path) == ["/real", "/other"])
        #expect(stubber.unhandledRequests.isEmpty)
    }

    @Test func cancellationReachesNetwork() async throws {
        let network = InMemoryTransport { _ in .never }
        let stubber = HTTPStubber(unhandledMode: .passThrough, network: network)
        let ended = Gate()
        let transfer = stubber.send(TransportRequest(request("/"))) { event in
            if case .end(let error) = event, error?.code == .cancelled { ended.open() }
        }

        transfer.cancel()

        try await ended.wait()
    }

    @Test func unmetExpectationsAreReported() async throws {
        stubber.stub(.path("/a"), line: 7).expectingCalls(1)
        stubber.stub(.path("/b")).expectingCalls(1...).respond(with: .status(.ok))
        let removed = stubber.stub(.path("/c")).expectingCalls(3)
        stubber.remove(removed)
        _ = try await request("/b").fetch(on: client())

        let error = #expect(throws: UnmetExpectations.self) { try stubber.verify() }

        #expect(error?.description == "\(#fileID):7: the stub path /a was called 0 times, expected 1")
    }

    @Test func unhandledRequestIsReportedOnce() async throws {
        stubber.stub(.path("/a"), line: 7).respond(with: .noContent)
        for _ in 0..<2 { _ = try? await request("/b").fetch(on: client()) }

        let error = #expect(throws: UnmetExpectations.self) { try stubber.verify(line: 9) }

        #expect(
            error?.description == """
                \(#fileID):9: no stub matches GET https://api.example.com/b
                - stub path /a (\(#fileID):7): the path is /b, not /a
                """
        )
    }

    @Test func parallelStubbersAreIndependent() async throws {
        let stubbers = (0..<Scale.pick(16, whole: 64)).map { _ in HTTPStubber() }
        for (index, stubber) in stubbers.enumerated() {
            stubber.stub(.get, "/{n}") { .text("\(index) \($0["n"] ?? "")") }.expectingCalls(10)
        }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, stubber) in stubbers.enumerated() {
                group.addTask {
                    for round in 0..<10 {
                        let text = try await request("/\(round)").fetch(on: client(stubber))
                        #expect(String(decoding: text, as: UTF8.self) == "\(index) \(round)")
                    }
                    try stubber.verify()
                }
            }
            try await group.waitForAll()
        }

        #expect(stubbers.allSatisfy { $0.requests.count == 10 })
    }

    @Test func singleUseStubServesOneOfRacingRequests() async throws {
        for _ in 0..<Scale.races {
            let stubber = HTTPStubber()
            stubber.stub().respond(with: .text("once")).limited(to: 1)
            stubber.stub().respond(with: .text("rest"))
            let client = client(stubber)

            let texts = try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<4 { group.addTask { try await request("/").fetch(on: client) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(texts.count { $0 == Data("once".utf8) } == 1)
        }
    }

    @Test func cancellationRacesDrippingResponse() async throws {
        let stubber = HTTPStubber()
        stubber.stub().respond(with: .text("0123456789").dripping(by: 1))
        for round in 0..<Scale.races {
            let ends = EventCount()
            let transfer = stubber.send(TransportRequest(request("/"))) { event in ends.record(event) }
            if round.isMultiple(of: 2) { await Task.yield() }
            transfer.cancel()
            try await ends.ended.wait()
            #expect(ends.isInOrder)
        }
    }

    @Test func finishedTransferReleasesStubber() async throws {
        weak var stubber: HTTPStubber?
        let gone = Gate()
        do {
            let mine = HTTPStubber()
            mine.install(in: .ephemeral)
            stubber = mine
            let witness = Witness(gone)
            mine.stub().respond { _ in withExtendedLifetime(witness) { StubResponse.never } }
            let ended = Gate()
            let transfer = mine.send(TransportRequest(request("/"))) { event in
                if case .end = event { ended.open() }
            }
            transfer.cancel()
            try await ended.wait()
        }
        // The task that played the response may hold the stubber a moment longer.
        try await gone.wait()

        #expect(stubber == nil)
    }
}

/// A part of a stubber that opens a gate when it is deallocated.
private final class Witness: Sendable {
    private let gone: Gate

    init(_ gone: Gate) { self.gone = gone }

    deinit { gone.open() }
}

/// The events of one transfer.
private final class EventCount: Sendable {
    let ended = Gate()
    private let events = Locked<(count: Int, ends: Int, late: Int, running: Int, overlaps: Int)>((0, 0, 0, 0, 0))

    var isInOrder: Bool { events.withLock { $0.ends == 1 && $0.late == 0 && $0.overlaps == 0 } }

    func record(_ event: TransferEvent) {
        events.withLock { events in
            if events.running > 0 { events.overlaps += 1 }
            if events.ends > 0 { events.late += 1 }
            events.running += 1
        }
        var isEnd = false
        if case .end = event { isEnd = true }
        events.withLock { events in
            events.running -= 1
            if isEnd { events.ends += 1 }
        }
        if isEnd { ended.open() }
    }
}

private struct User: Codable, Sendable, Equatable {
    var id: String
}
