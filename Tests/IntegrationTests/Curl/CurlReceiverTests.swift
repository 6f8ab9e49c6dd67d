// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A blocked receiver delays only its own transfer.
    @Suite(.bounded, .tags(.alone)) struct CurlReceiverTests {
        /// Receivers that wait for a gate in the middle of their responses.
        private struct Waiting {
            private let gate = Gate()
            private let count = Locked(0)
            let transcripts: [Transcript]

            init(_ count: Int) {
                let (gate, waiting) = (gate, self.count)
                transcripts = (0..<count).map { _ in
                    Transcript {
                        guard case .head = $0 else { return }
                        waiting.withLock { $0 += 1 }
                        try? gate.wait()
                    }
                }
            }

            /// Sends a request for each, until the maximum number of receivers waits at a time.
            func begin(_ url: URL, over transport: CurlTransport) async throws {
                for transcript in transcripts { transport.send(url, to: transcript) }
                // Waiting receivers keep their threads from all other tests.
                do { try await eventually { count.withLock { $0 } >= 64 } } catch {
                    gate.open()
                    throw error
                }
            }

            /// Resumes them until their ends.
            func end() async {
                gate.open()
                for transcript in transcripts { try? await transcript.ended.wait() }
            }
        }

        @Test func loopSleepsWhileReceiversWait() async throws {
            let server = try MockServer { $0.path == "/silent" ? .never : .text("hi") }
            let transport = CurlTransport()
            let waiting = Waiting(80)
            try await waiting.begin(server.url, over: transport)

            let before = Usage.switchesOfLoops
            #expect(await CurlTransport().run(server.url("/silent"), timeout: .milliseconds(600)).result == "timedOut")
            let switches = Usage.switchesOfLoops - before
            await waiting.end()

            #expect(switches < 100, "\(switches)")
        }

        @Test func waitingReceiversDoNotDelayTimeoutOrCancel() async throws {
            let server = try MockServer { $0.path == "/silent" ? .never : .text("hi") }
            let transport = CurlTransport()
            let waiting = Waiting(80)
            try await waiting.begin(server.url, over: transport)

            let silent = Transcript()
            let transfer = transport.send(server.url("/silent"), to: silent)
            let late = await transport.run(server.url("/silent"), timeout: .milliseconds(50))
            transfer.cancel()
            try await silent.ended.wait()

            #expect(late.result == "timedOut")
            #expect(silent.result == "cancelled")
            await waiting.end()
            #expect(waiting.transcripts.allSatisfy { $0.text == "hi" })
            #expect(waiting.transcripts.flatMap(\.violations) == [])
        }

        /// Its earlier events wait for a worker; they are delivered with its end.
        @Test func cancelDuringHeadDeliveryKeepsEventOrder() async throws {
            let server = try MockServer { _ in .text("hi") }
            let slow = try MockServer { _ in
                .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8)), .stall])
            }
            let transport = CurlTransport()
            let waiting = Waiting(64)
            try await waiting.begin(server.url, over: transport)

            let late = Transcript()
            let transfer = transport.send(slow.url, to: late)
            try await slow.awaitRequest()
            // When this has ended, the head has arrived and waits.
            #expect(await transport.run(slow.url, timeout: .milliseconds(100)).result == "timedOut")
            transfer.cancel()
            try await late.ended.wait()

            #expect(late.result == "cancelled")
            #expect(late.violations == [])
            await waiting.end()
        }
    }
}
#endif
