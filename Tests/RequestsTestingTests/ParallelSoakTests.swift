// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Parallel tests, each with its own server, stubbers and session: two rounds of 16 by default, fifty of 64 in
/// `Scripts/soak`.
@Suite(.serialized, .bounded) struct ParallelSoakTests {
    private static let tests = Scale.pick(16, whole: 64)

    private struct Answer: Codable, Equatable, Sendable {
        var test: Int
        var step: Int
    }

    private struct Mixup: Error {
        var test: Int
        var what: String
    }

    /// The objects that must not outlive a test.
    private struct Remains: Sendable {
        weak var server: MockServer?
        weak var stubber: HTTPStubber?
        weak var passing: HTTPStubber?
        weak var transport: Transport?

        var names: [String] {
            [
                server.map { _ in "a server" }, stubber.map { _ in "a stubber" },
                passing.map { _ in "one that lets pass" },
                transport.map { _ in "a transport" },
            ].compactMap { $0 }
        }
    }

    @Test(.tags(.alone)) func parallelTestsAreIsolatedAndLeakFree() async throws {
        try await Self.round()
        let before = Descriptors.open

        for _ in 1..<Scale.pick(2, whole: 50) { try await Self.round() }

        // A session closes its descriptors after it was deallocated.
        let left = try await Descriptors.left(since: before, atMost: Self.slack)
        #expect(left.count <= Self.slack, "\(left)")
    }

    /// The number of descriptors that the system's libraries may open after the first round and keep, whatever the
    /// number of rounds and tests.
    private static let slack = 3

    private static func round() async throws {
        let remains = try await withThrowingTaskGroup(of: Remains.self) { group in
            for test in 0..<tests { group.addTask { try await run(test) } }
            return try await group.reduce(into: [Remains]()) { $0.append($1) }
        }
        // A thread that is about to end may be the last to hold a transfer.
        let isGone = await comesTrue { remains.allSatisfy(\.names.isEmpty) }
        #expect(isGone, "what is left: \(remains.flatMap(\.names))")
    }

    /// Waits for a condition, for as long as a loaded machine may need; returns whether it became true.
    private static func comesTrue(_ condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < end else { return false }
            await Task.yield()
        }
        return true
    }

    /// The work of one test: it sends requests to its server, which fails at first, then to its stubs, as a transport
    /// and in a session, and through them to the server again.
    private static func run(_ test: Int) async throws -> Remains {
        let server = try MockServer()
        server.route(.get, "/answers/0", .closed, .json(Answer(test: test, step: 0)))
        server.route(.get, "/answers/{step}") { request in
            .json(Answer(test: test, step: Int(request["step"] ?? "") ?? -1))
        }
        let stubber = HTTPStubber()
        stubber.stub(.get, "/answers/{step}") { request in
            .json(Answer(test: test, step: 100 + (Int(request["step"] ?? "") ?? -1)))
        }
        .expectingCalls(8)
        let transport = makeTransport()
        defer { close(transport) }
        let client = HTTPClient(baseURL: server.url, transport: transport)
        let stubbed = HTTPClient(baseURL: server.url, transport: stubber)

        let refused = try? await client.fetch(Get<Answer>("answers", "0"))
        guard refused == nil else { throw Mixup(test: test, what: "the first answer") }
        for step in 0..<4 {
            let answer = try await client.fetch(Get<Answer>("answers", "\(step)"))
            guard answer == Answer(test: test, step: step) else { throw Mixup(test: test, what: "\(answer)") }
            let stub = try await stubbed.fetch(Get<Answer>("answers", "\(step)"))
            guard stub == Answer(test: test, step: 100 + step) else { throw Mixup(test: test, what: "\(stub)") }
        }
        try await ask(stubber, at: server.url, test)
        try stubber.verify()
        let passing = HTTPStubber(unhandledMode: .passThrough, network: transport)
        passing.stub(.path("/answers/9")).respond(with: .json(Answer(test: test, step: 9)))
        for step in [9, 4] {
            let answer = try await HTTPClient(baseURL: server.url, transport: passing).fetch(
                Get<Answer>("answers", "\(step)")
            )
            guard answer == Answer(test: test, step: step) else { throw Mixup(test: test, what: "\(answer)") }
        }
        let targets = try await server.awaitRequests(6).map(\.target)
        let expected = ["/answers/0"] + (0..<5).map { "/answers/\($0)" }
        guard targets == expected, server.requestCount == 6, stubber.requests.count == 8 else {
            throw Mixup(test: test, what: "\(targets)")
        }
        server.stop()
        guard server.openConnections == 0 else { throw Mixup(test: test, what: "an open connection") }
        return Remains(server: server, stubber: stubber, passing: passing, transport: transport)
    }

    /// Sends requests to the stubs in a separate session.
    private static func ask(_ stubber: HTTPStubber, at url: URL, _ test: Int) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        stubber.install(in: configuration)
        let session = URLSession(configuration: configuration)
        defer { session.finishTasksAndInvalidate() }
        for step in 0..<4 {
            let (data, _) = try await session.data(from: url.appending(path: "answers/\(step)"))
            let answer = try JSONDecoder().decode(Answer.self, from: data)
            guard answer == Answer(test: test, step: 100 + step) else { throw Mixup(test: test, what: "\(answer)") }
        }
    }

    #if os(Linux)
    private typealias Transport = CurlTransport
    private static func makeTransport() -> CurlTransport { CurlTransport() }
    private static func close(_ transport: CurlTransport) { transport.close() }
    #else
    private typealias Transport = URLSession
    private static func makeTransport() -> URLSession { URLSession(configuration: .ephemeral) }
    private static func close(_ session: URLSession) { session.invalidateAndCancel() }
    #endif
}
