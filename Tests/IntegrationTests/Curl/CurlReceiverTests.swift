// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

extension OverLoopback {
    /// A receiver that waits for something holds up itself alone.
    @Suite(.bounded, .tags(.behaviour, .alone)) struct CurlReceiverTests {
        @Test func timeoutsAndCancelsAreToldThoughManyReceiversWait() async throws {
            let server = try MockServer { $0.path == "/silent" ? .stalled : .text("hi") }
            let transport = CurlTransport()
            let (gate, waiting) = (Gate(), Locked(0))
            let stuck = (0..<80).map { _ in
                Transcript {
                    guard case .head = $0 else { return }
                    waiting.withLock { $0 += 1 }
                    gate.wait()
                }
            }
            defer { gate.open() }

            for transcript in stuck { transport.send(server.url, to: transcript) }
            // As many wait as there may be at a time, and some more don't get their turn.
            try await eventually { waiting.withLock { $0 } >= 64 }
            let silent = Transcript()
            let transfer = transport.send(server.url("/silent"), to: silent)
            let late = await transport.run(server.url("/silent"), timeout: .milliseconds(50))
            transfer.cancel()
            await silent.ended.wait()

            #expect(late.result == "timedOut")
            #expect(silent.result == "cancelled")
            gate.open()
            for transcript in stuck { await transcript.ended.wait() }
            #expect(stuck.allSatisfy { $0.text == "hi" })
            #expect(stuck.flatMap(\.violations) == [])
        }

        /// Its earlier events wait for a worker; they are told with its end.
        @Test func transferThatIsCancelledWhileItsHeadWaitsIsToldInOrder() async throws {
            let server = try MockServer { _ in .text("hi") }
            let slow = try MockServer { _ in
                .script([.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8)), .stall])
            }
            let transport = CurlTransport()
            let (gate, waiting) = (Gate(), Locked(0))
            let stuck = (0..<64).map { _ in
                Transcript {
                    guard case .head = $0 else { return }
                    waiting.withLock { $0 += 1 }
                    gate.wait()
                }
            }
            defer { gate.open() }
            for transcript in stuck { transport.send(server.url, to: transcript) }
            try await eventually { waiting.withLock { $0 } >= 64 }

            let late = Transcript()
            let transfer = transport.send(slow.url, to: late)
            try await slow.awaitRequest()
            // Behind this, the head has come, and waits.
            #expect(await transport.run(slow.url, timeout: .milliseconds(100)).result == "timedOut")
            transfer.cancel()
            await late.ended.wait()

            #expect(late.result == "cancelled")
            #expect(late.violations == [])
            gate.open()
            for transcript in stuck { await transcript.ended.wait() }
        }
    }
}
#endif
