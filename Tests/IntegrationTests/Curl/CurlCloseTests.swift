// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A transport that is closed or released leaves nothing behind.
    @Suite(.bounded) struct CurlCloseTests {
        @Test func closeCancelsRunningTransfers() async throws {
            let server = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = nil }
            let transcripts = (0..<20).map { _ in Transcript() }

            for transcript in transcripts { transport.send(server.url, to: transcript) }
            try await server.awaitRequests(20)
            transport.close()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.result == "cancelled" && $0.violations == [] })
            #expect(transcripts[0].error?.reason == "the transport was closed")
            try await server.awaitConnections(open: 0)
        }

        @Test(arguments: [false, true])
        func requestAfterCloseFails(_ wasUsed: Bool) async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            if wasUsed { _ = await transport.run(server.url) }

            transport.close()
            transport.close()
            let transcript = await transport.run(server.url)

            #expect(transcript.result == "closed")
            #expect(transcript.violations == [])
            #expect(server.requests.count == (wasUsed ? 1 : 0))
        }

        @Test func releasedTransportCompletesItsTransfers() async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let transcript = Transcript()

            do {
                let transport = CurlTransport()
                transport.send(server.url, to: transcript)
                try await server.awaitRequest()
            }
            gate.open()
            try await transcript.ended.wait()

            #expect(transcript.text == "hi")
            try await server.awaitConnections(open: 0)
        }

        /// The objects that a receiver holds, such as an operation with a file, are released when the transfer ends,
        /// not when the next one begins.
        @Test func completedTransferIsReleasedWhileLoopSleeps() async throws {
            final class Receiver: Sendable {}
            let server = try MockServer { _ in .never }
            let transport = CurlTransport()

            for _ in 0..<Scale.races {
                weak var weakReceiver: Receiver?
                do {
                    let (receiver, ended) = (Receiver(), Gate())
                    weakReceiver = receiver
                    let request = TransportRequest(
                        HTTPRequest(url: server.url),
                        timeout: .seconds(60),
                        maximumBodySize: .max
                    )
                    let transfer = transport.send(request) { event in
                        withExtendedLifetime(receiver) { if case .end = event { ended.open() } }
                    }
                    try await server.awaitRequest()
                    transfer.cancel()
                    try await ended.wait()
                }
                try await eventually { weakReceiver == nil }
            }
        }

        @Test func closeCancelsPausedTransfer() async throws {
            let server = try MockServer { _ in .endless(pausing: nil, pieces: 1000) }
            let transport = CurlTransport()
            let transcript = Transcript()

            let transfer = transport.send(server.url, to: transcript)
            try await transcript.head.wait()
            transfer.pause()
            transport.close()
            try await transcript.ended.wait()
            transfer.resume()
            transfer.cancel()

            #expect(["cancelled", "success"].contains(transcript.result))
            #expect(transcript.violations == [])
        }

        @Test(.tags(.alone)) func repeatedTransportsLeakNoDescriptorOrThread() async throws {
            let server = try MockServer { _ in .text("hi") }
            let (polls, loops) = (Usage.polls, Usage.loops)

            for number in 0..<Scale.pick(60, whole: 200) {
                let transport = CurlTransport()
                #expect(await transport.run(server.url).text == "hi")
                if number.isMultiple(of: 2) { transport.close() }
            }
            try await server.awaitConnections(open: 0)

            // Some may be about to end; each would have two descriptors and a thread.
            #expect(Usage.polls - polls < 40)
            #expect(Usage.loops - loops < 20)
        }
    }
}
#endif
