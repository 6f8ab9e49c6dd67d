// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// The deadline of an operation covers everything: the wait for its turn, and responses that never quite end.
    @Suite(.bounded) struct DeadlineOverTransportsTests {
        struct Delay: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: StubResponse
        }

        static let delays: [Delay] = [
            Delay(testDescription: "silence", response: .never),
            Delay(testDescription: "silence in the content", response: .partial(then: .stall)),
            // Never silent for long, so no timeout ends it.
            Delay(testDescription: "drip", response: .endless(pausing: .milliseconds(5), pieces: 10_000)),
            Delay(
                testDescription: "redirects, each after a while",
                response: .redirect(to: "/again").delayed(by: .milliseconds(50))
            ),
        ]

        @Test(arguments: TransportUnderTest.all, delays)
        func deadlineCancelsSlowRequest(_ transport: TransportUnderTest, _ delay: Delay) async throws {
            let server = try MockServer { _ in delay.response }

            let run = await transport.run(
                Call(server.url) {
                    $0.deadline = .milliseconds(200)
                    $0.redirect = .follow(limit: 1000)
                }
            )

            #expect(run.error?.code == .deadlineExceeded)
            #expect(run.duration >= .milliseconds(200))
            #expect(run.durationOfTransfer < .seconds(30))
        }

        @Test(arguments: TransportUnderTest.all)
        func metDeadlineHasNoEffect(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("in time") }

            let run = await transport.run(Call(server.url) { $0.deadline = .seconds(30) })

            #expect(run.value == Data("in time".utf8))
        }

        @Test(arguments: TransportUnderTest.all)
        func deadlineIncludesQueueTime(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("late") }
            let queue = OperationQueue()
            queue.isSuspended = true
            let operation = queue.addRequest(
                Call(server.url) { $0.deadline = .milliseconds(100) },
                session: transport.makeSession()
            )

            await #expect(throws: RequestError.self) { try await operation.value() }
            queue.isSuspended = false
            await queue.drain()

            #expect(operation.result?.failure?.code == .deadlineExceeded)
            #expect(server.connectionCount == 0)
        }
    }
}
