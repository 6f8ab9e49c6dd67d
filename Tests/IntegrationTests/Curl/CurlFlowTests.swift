// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A slow receiver stops only its own peer, and memory stays bounded.
    @Suite(.bounded) struct CurlFlowTests {
        /// A server that sends endlessly, counts the bytes that the client's system took, and notices when it takes no
        /// more.
        final class Flood: Sendable {
            let stuck = Gate()
            private let sent = Locked(0)
            private let listener: Locked<RawListener?> = Locked(nil)
            let url: URL

            var count: Int { sent.withLock { $0 } }

            init(limit: Int) throws {
                let (stuck, sent) = (stuck, sent)
                let listener = try RawListener { connection in
                    guard connection.readHead() != nil else { return }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(limit)\r\n\r\n")
                    let piece = [UInt8](repeating: 0x78, count: 256 * 1024)
                    var left = limit
                    while left > 0 {
                        guard let count = connection.writeWhatFits(Array(piece.prefix(left))) else { return }
                        left -= count
                        sent.withLock { $0 += count }
                        // Half a second without room: the client no longer reads.
                        if count == 0, !connection.awaitRoom(milliseconds: 500) {
                            stuck.open()
                            guard connection.awaitRoom(milliseconds: -1) else { return }
                        }
                    }
                    _ = connection.readHead()
                }
                url = URL(string: "http://127.0.0.1:\(listener.port)/")!
                self.listener.withLock { $0 = listener }
            }
        }

        @Test func pauseStopsPeerUntilResume() async throws {
            let size = 64 << 20
            let flood = try Flood(limit: size)
            let transport = CurlTransport()
            let transcript = Transcript(keepsContent: false)

            let transfer = transport.send(flood.url, to: transcript)
            try await transcript.head.wait()
            transfer.pause()
            try await flood.stuck.wait()

            #expect(flood.count < size - (16 << 20))
            #expect(!transcript.ended.isOpen)
            transfer.resume()
            try await transcript.ended.wait()
            transport.close()
            #expect(transcript.result == "success")
            #expect(transcript.contentSize == size)
            #expect(transcript.violations == [])
        }

        @Test func blockedReceiverStopsOnlyItsOwnPeer() async throws {
            let size = 64 << 20
            let flood = try Flood(limit: size)
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let gate = Gate()
            let held = Transcript(keepsContent: false) { event in
                if case .data = event { gate.blockUntilOpen() }
            }

            transport.send(flood.url, to: held)
            try await flood.stuck.wait()
            let others = await (0..<50).asyncMap { _ in await transport.run(server.url).text }

            #expect(others == [String](repeating: "hi", count: 50))
            #expect(flood.count < size - (16 << 20))
            gate.open()
            try await held.ended.wait()
            transport.close()
            #expect(held.contentSize == size)
            #expect(held.violations == [])
        }

        @Test func blockedReceiversDoNotDelayOthers() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let gate = Gate()
            let held = (0..<40).map { _ in
                Transcript { event in
                    if case .head = event { gate.blockUntilOpen() }
                }
            }

            for transcript in held { transport.send(server.url, to: transcript) }
            let other = await transport.run(server.url)
            gate.open()
            for transcript in held { try await transcript.ended.wait() }

            #expect(other.text == "hi")
            #expect(held.allSatisfy { $0.text == "hi" && $0.violations == [] })
        }

        @Test func pauseBeforeResponseCanBeResumed() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport()
            let transcript = Transcript()

            let transfer = transport.send(server.url, to: transcript)
            transfer.pause()
            transfer.pause()
            transfer.resume()
            try await transcript.ended.wait()

            #expect(transcript.text == "hi")
        }
    }
}

extension Gate {
    /// Blocks the thread, as a waiting receiver does.
    fileprivate func blockUntilOpen() { try? wait() }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ transform: (Element) async -> T) async -> [T] {
        var result: [T] = []
        for element in self { result.append(await transform(element)) }
        return result
    }
}
#endif
