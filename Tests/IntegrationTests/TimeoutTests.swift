// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

extension OverLoopback {
    /// Timeouts are exact to well below a second, and are about silence, not about how long it takes in all.
    @Suite struct TimeoutTests {
        struct Silence: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let response: MockResponse
            var status: HTTPStatus?
            let timeout: Duration
        }

        static let silences: [Silence] = [
            Silence(testDescription: "instead of an answer", response: .stalled, timeout: .milliseconds(100)),
            Silence(testDescription: "instead of an answer, longer", response: .stalled, timeout: .milliseconds(300)),
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
            // A busy machine makes any one run late, and none early: the best of some has to be on time.
            var runs: [Run] = []
            repeat {
                let server = try MockServer { _ in silence.response }
                let run = await transport.run(Call(server.url) { $0.timeout = silence.timeout })
                runs.append(run)

                #expect(run.error?.code == .timedOut)
                #expect(run.duration >= silence.timeout)
                try await server.awaitConnections(open: 0)
            } while !isOnTime(runs[runs.count - 1], silence) && runs.count < 10

            #expect(runs.contains { isOnTime($0, silence) }, "\(runs.map(\.durationOfTransfer))")
        }

        private func isOnTime(_ run: Run, _ silence: Silence) -> Bool {
            run.durationOfTransfer <= silence.timeout * 2 && run.error?.response?.status == silence.status
        }

        @Test(arguments: TransportUnderTest.all)
        func requestTimeoutOfFoundationCountsToo(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .stalled }
            var call = Call(server.url)
            call.http.timeout = .milliseconds(200)

            let run = await transport.run(call)

            #expect(run.error?.code == .timedOut)
            #expect(run.duration >= .milliseconds(200))
            #expect(run.duration < .seconds(30))
        }

        @Test(arguments: TransportUnderTest.all)
        func answerWithinATimeoutBelowASecondIsAnAnswer(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in .text("here").delayed(by: .milliseconds(50)) }

            let run = await transport.run(Call(server.url) { $0.timeout = .milliseconds(900) })

            #expect(run.value == Data("here".utf8))
        }

        @Test(arguments: TransportUnderTest.all)
        func dripIsNoSilence(_ transport: TransportUnderTest) async throws {
            let server = try MockServer { _ in
                .script(
                    [.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n".utf8))]
                        + (0..<10).flatMap { [.pause(.milliseconds(120)), .send(Data("\($0)".utf8))] }
                )
            }

            let run = await transport.run(Call(server.url) { $0.timeout = .milliseconds(800) })

            #expect(run.value == Data("0123456789".utf8))
            #expect(run.duration >= .milliseconds(1200))
        }

        @Test(arguments: TransportUnderTest.all, [nil, Duration.milliseconds(1)])
        func contentThatIsTooLargeEndsEarly(_ transport: TransportUnderTest, _ pause: Duration?) async throws {
            // A minute of drip, or as much of a flood as memory can stand.
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
