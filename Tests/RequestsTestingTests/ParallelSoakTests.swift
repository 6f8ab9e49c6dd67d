// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

/// Tests that run at the same time, each with a server and a stubber of its own: two rounds by default, fifty with
/// `REQUESTS_SOAK=1`.
@Suite(.serialized, .timeLimit(.minutes(30))) struct ParallelSoakTests {
    private static let isWhole = ProcessInfo.processInfo.environment["REQUESTS_SOAK"] == "1"

    private struct Answer: Codable, Equatable, Sendable {
        var test: Int
        var step: Int
    }

    private struct Mixup: Error {
        var test: Int
        var what: String
    }

    @Test func sixtyFourTestsAtATimeDontHearOfEachOther() async throws {
        try await Self.round()
        let before = Self.descriptors

        for _ in 1..<(Self.isWhole ? 50 : 2) { try await Self.round() }

        // Other suites open files meanwhile, unless this one has the process for itself.
        if Self.isWhole { #expect(Self.descriptors - before < 64, "\(before), then \(Self.descriptors)") }
    }

    private static func round() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for test in 0..<64 { group.addTask { try await run(test) } }
            try await group.waitForAll()
        }
    }

    /// What one test does: talks to its server, which fails at first, then to its stubs.
    private static func run(_ test: Int) async throws {
        let server = try MockServer()
        server.route(.get, "/answers/0", .closed, try .json(Answer(test: test, step: 0)))
        server.route(.get, "/answers/{step}") { request in
            try .json(Answer(test: test, step: Int(request["step"] ?? "") ?? -1))
        }
        let stubber = HTTPStubber()
        stubber.stub(.get, "/answers/{step}") { request in
            .json(Answer(test: test, step: 100 + (Int(request["step"] ?? "") ?? -1)))
        }
        .called(times: 4)
        let transport = makeTransport()
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
        try stubber.verify()
        let targets = try await server.awaitRequests(5).map(\.target)
        let expected = ["/answers/0"] + (0..<4).map { "/answers/\($0)" }
        guard targets == expected, server.requestCount == 5, stubber.requests.count == 4 else {
            throw Mixup(test: test, what: "\(targets)")
        }
        server.stop()
        guard server.openConnections == 0 else { throw Mixup(test: test, what: "an open connection") }
        close(transport)
    }

    #if os(Linux)
    private static func makeTransport() -> CurlTransport { CurlTransport() }
    private static func close(_ transport: CurlTransport) { transport.close() }
    #else
    private static func makeTransport() -> URLSession { URLSession(configuration: .ephemeral) }
    private static func close(_ session: URLSession) { session.invalidateAndCancel() }
    #endif

    /// How many descriptors the process has.
    private static var descriptors: Int {
        #if os(Linux)
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        #else
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count) ?? 0
        #endif
    }
}
