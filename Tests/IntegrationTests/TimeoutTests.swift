// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

extension OverLoopback {
    /// Timeouts are exact to well below a second; content above the limit ends a transfer early.
    @Suite(.bounded, .tags(.behaviour)) struct TimeoutTests {
        struct Silence: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: StubResponse
            var status: HTTPStatus?
            let timeout: Duration
        }

        static let silences: [Silence] = [
            Silence(testDescription: "instead of an answer", response: .never, timeout: .milliseconds(100)),
            Silence(testDescription: "instead of an answer, longer", response: .never, timeout: .milliseconds(300)),
            Silence(
                testDescription: "in the content",
                response: .partial(then: .stall),
                status: .ok,
                timeout: .milliseconds(300)
            ),
            Silence(
                testDescription: "between chunks",
                response: .partialChunks(then: .stall),
                status: .ok,
                timeout: .milliseconds(300)
            ),
        ]

        @Test(arguments: TransportUnderTest.all, silences)
        func silenceEndsAtTheTimeout(_ transport: TransportUnderTest, _ silence: Silence) async throws {
            // A busy machine delays some runs, but never advances one. The peer may be late too, so it gets more time
            // then.
            var timeout = silence.timeout
            var run: Run
            var tries = 0
            repeat {
                let server = try MockServer { _ in silence.response }
                run = await transport.run(Call(server.url) { $0.timeout = timeout })

                #expect(run.error?.code == .timedOut)
                #expect(run.duration >= timeout)
                try await server.awaitConnections(open: 0)
                if run.error?.response?.status != silence.status { timeout = timeout * 2 }
                tries += 1
            } while !isExpected(run, silence, timeout) && tries < 8

            #expect(isExpected(run, silence, timeout), "\(timeout): \(run)")
        }

        /// Whether the run got as far as the silence, and ended in time in a full run, which has the machine to itself.
        private func isExpected(_ run: Run, _ silence: Silence, _ timeout: Duration) -> Bool {
            run.error?.response?.status == silence.status
                && (!Scale.isWhole || run.durationOfTransfer <= timeout * 2)
        }

        @Test(arguments: TransportUnderTest.all)
        func requestTimeoutOfFoundationCountsToo(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            var call = Call(server.url)
            call.http.timeout = .milliseconds(200)

            let run = await transport.run(call)

            #expect(run.error?.code == .timedOut)
            #expect(run.duration >= .milliseconds(200))
            #expect(run.duration < .seconds(30))
        }

        @Test(arguments: TransportUnderTest.all, [nil, Duration.milliseconds(1)])
        func contentThatIsTooLargeEndsEarly(_ transport: TransportUnderTest, _ pause: Duration?) async throws {
            // A minute of dripping, or as much of a flood as memory can hold.
            let server = try MockServer { _ in .endless(pausing: pause, pieces: 60_000) }

            let run = await transport.run(Call(server.url) { $0.maximumBodySize = 1024 })

            #expect(run.error?.code == .bodyTooLarge)
            #expect(run.error?.response?.status == .ok)
            #expect(run.duration < .seconds(30))
            #expect(run.durationOfTransfer < .seconds(30))
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func contentOfExactlyTheLimitIsNotTooLarge(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .data(Data(repeating: 0, count: 1024)) }

            let run = await transport.run(Call(server.url) { $0.maximumBodySize = 1024 })

            #expect(run.value?.count == 1024)
        }
    }
}
