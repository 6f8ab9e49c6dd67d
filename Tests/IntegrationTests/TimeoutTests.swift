// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension OverLoopback {
    /// Timeouts end a silent transfer; content above the limit ends a transfer early.
    @Suite(.bounded) struct TimeoutTests {
        struct Silence: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: StubResponse
            var status: HTTPStatus?
            let timeout: Duration
        }

        /// Where the head has to be there first, a busy peer gets a second for it.
        static let silences: [Silence] = [
            Silence(testDescription: "instead of an answer", response: .never, timeout: .milliseconds(100)),
            Silence(testDescription: "instead of an answer, longer", response: .never, timeout: .milliseconds(300)),
            Silence(
                testDescription: "in the content",
                response: .partial(then: .stall),
                status: .ok,
                timeout: .seconds(1)
            ),
            Silence(
                testDescription: "between chunks",
                response: .partialChunks(then: .stall),
                status: .ok,
                timeout: .seconds(1)
            ),
        ]

        /// More than a busy machine adds to a timeout: the peer stays silent, so that nothing else ends the call.
        static let late = Duration.seconds(10)

        @Test(arguments: TransportUnderTest.all, silences)
        func silentServerTimesOut(_ transport: TransportUnderTest, _ silence: Silence) async throws {
            let server = try MockServer { _ in silence.response }

            let run = await transport.run(Call(server.url) { $0.timeout = silence.timeout })

            #expect(run.error?.code == .timedOut)
            #expect(run.error?.response?.status == silence.status)
            #expect(run.duration >= silence.timeout)
            #expect(run.durationOfTransfer < Self.late)
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: TransportUnderTest.all)
        func foundationRequestTimeoutApplies(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .never }
            var call = Call(server.url)
            call.http.timeout = .milliseconds(200)

            let run = await transport.run(call)

            #expect(run.error?.code == .timedOut)
            #expect(run.duration >= .milliseconds(200))
            #expect(run.durationOfTransfer < Self.late)
        }

        @Test(arguments: TransportUnderTest.all, [nil, Duration.milliseconds(1)])
        func oversizedBodyFailsEarly(_ transport: TransportUnderTest, _ pause: Duration?) async throws {
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
        func bodyOfExactlyTheLimitIsAccepted(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .data(Data(repeating: 0, count: 1024)) }

            let run = await transport.run(Call(server.url) { $0.maximumBodySize = 1024 })

            #expect(run.value?.count == 1024)
        }
    }
}
