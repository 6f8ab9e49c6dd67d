// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// A cancel at any moment leaves one completion and one end, and never crashes.
    ///
    /// A full run has a thousand rounds of each row.
    @Suite(.bounded) struct RaceTests {
        static let iterations = Scale.pick(20, whole: 1000)

        struct Answer: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: StubResponse
        }

        static let answers: [Answer] = [
            Answer(testDescription: "content", response: .text("fast")),
            Answer(testDescription: "chunks", response: .chunked([Data("a".utf8), Data("b".utf8)])),
            Answer(testDescription: "close behind the content", response: .text("fast").closing),
            Answer(testDescription: "redirect", response: .redirect(to: "/again")),
            Answer(
                testDescription: "challenge",
                response: .text("who?", status: .unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"a\""])
            ),
            Answer(testDescription: "close in the content", response: .partial(then: .close)),
            Answer(testDescription: "reset", response: .reset),
        ]

        @Test(arguments: TransportUnderTest.all, answers)
        func cancelAtRandomTimeCompletesOnce(_ transport: TransportUnderTest, _ answer: Answer) async throws {
            let server = try MockServer { $0.path == "/alive" ? .text("alive") : answer.response }
            let session = transport.makeSession()
            let queue = OperationQueue()
            let completions = DispatchQueue(label: "completions")
            let counts = Locked([Int](repeating: 0, count: Self.iterations))

            var random = Fuzz()
            for number in 0..<Self.iterations {
                let operation = queue.addRequest(Call(server.url), session: session, completionQueue: completions) {
                    _ in
                    counts.withLock { $0[number] += 1 }
                }
                // Spread over the time that a response takes, so that some cancel before it, some during it and some
                // after.
                let delay = Int.random(in: 0...1500, using: &random)
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                    operation.cancel()
                }
                // Sometimes alone, and sometimes among others.
                if !number.isMultiple(of: 4) { _ = try? await operation.value() }
            }
            await queue.drain()
            await completions.drain()

            #expect(counts.withLock { $0 } == [Int](repeating: 1, count: Self.iterations), "seed \(Fuzz.seed)")
            // The session still works.
            #expect(try await queue.fetch(Call(server.url("/alive")), session: session) == Data("alive".utf8))
        }

        @Test(arguments: TransportUnderTest.all)
        func taskCancellationAtRandomTimeResumesTask(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("fast") }
            let session = transport.makeSession()
            let queue = OperationQueue()

            var random = Fuzz()
            for _ in 0..<Self.iterations {
                let task = Task { try await queue.fetch(Call(server.url), session: session) }
                let delay = Int.random(in: 0...1500, using: &random)
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                    task.cancel()
                }
                switch await task.result {
                case .success(let content): #expect(content == Data("fast".utf8), "seed \(Fuzz.seed)")
                case .failure(let error): #expect((error as? RequestError)?.code == .cancelled, "seed \(Fuzz.seed)")
                }
            }
        }

        @Test(arguments: TransportUnderTest.all)
        func timeoutRacesResponse(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("just in time").delayed(by: .milliseconds(5)) }
            let session = transport.makeSession()
            let queue = OperationQueue()
            let completions = DispatchQueue(label: "completions")
            let codes = Locked<[RequestError.Code?]>([])

            for number in 0..<Self.iterations {
                let operation = queue.addRequest(
                    Call(server.url) { $0.timeout = .microseconds(4000 + 40 * (number % 100)) },
                    session: session,
                    completionQueue: completions
                ) { result in
                    codes.withLock { $0.append(result.failure?.code) }
                }
                _ = try? await operation.value()
            }
            await queue.drain()
            await completions.drain()

            #expect(codes.withLock { $0 }.count == Self.iterations)
            #expect(codes.withLock { $0 }.allSatisfy { $0 == nil || $0 == .timedOut })
        }

        @Test(arguments: TransportUnderTest.configurable)
        func sessionReleaseRacesCompletion(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("fast") }
            let completions = DispatchQueue(label: "completions")
            let count = Locked(0)

            for number in 0..<Self.iterations {
                let queue = OperationQueue()
                let operation = queue.addRequest(
                    Call(server.url),
                    session: transport.makeSession(),
                    completionQueue: completions
                ) { _ in
                    count.withLock { $0 += 1 }
                }
                if number.isMultiple(of: 2) { operation.cancel() }
                _ = try? await operation.value()
            }
            await completions.drain()

            #expect(count.withLock { $0 } == Self.iterations)
        }
    }
}
