// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Kept connections cost both sides something, so they are closed after a time.
    @Suite(.bounded) struct CurlLifetimeTests {
        @Test func connectionEndedByServerIsClosed() async throws {
            let closed = Gate()
            let server = try RawListener { connection in
                guard connection.readHead() != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                connection.endSending()
                if connection.readHead() == nil { closed.open() }
            }
            let transport = CurlTransport()

            #expect(await transport.run(URL(string: "http://127.0.0.1:\(server.port)/")!).text == "hi")
            try await closed.wait()

            #expect(closed.isOpen)
            transport.close()
        }

        @Test func unusedConnectionIsClosed() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.idleConnectionLifetime = .milliseconds(20) }

            for _ in 0..<2 { #expect(await transport.run(server.url).text == "hi") }
            try await server.awaitConnections(open: 0)

            #expect(await transport.run(server.url).text == "hi")
            try await server.awaitConnections(open: 0)
        }

        @Test func pausedStreamKeepsItsConnection() async throws {
            let server = try MockServer {
                $0.path == "/stream" ? .data(Data(count: 8 << 20)) : .text("hi")
            }
            let transport = CurlTransport.configured { $0.idleConnectionLifetime = .milliseconds(1) }
            let transcript = Transcript(keepsContent: false)
            let transfer = transport.send(server.url("/stream"), to: transcript)
            transfer.pause()
            // While it is paused, other transfers begin and end.
            for _ in 0..<3 {
                #expect(await transport.run(server.url).text == "hi")
                try await server.awaitConnections(open: 1)
            }
            transfer.resume()
            try await transcript.ended.wait()

            #expect(transcript.result == "success", "\(String(describing: transcript.error))")
            #expect(transcript.contentSize == 8 << 20)
        }

        @Test func requestsPerConnectionAreLimited() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.maximumRequestsPerConnection = 3 }

            for _ in 0..<9 { #expect(await transport.run(server.url).text == "hi") }

            #expect(server.connectionCount == 3)
        }

        @Test func expiredConnectionIsNotReused() async throws {
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured { $0.maximumConnectionAge = .zero }

            for _ in 0..<4 { #expect(await transport.run(server.url).text == "hi") }

            #expect(server.connectionCount == 4)
        }

        @Test func idleConnectionsAreClosedToFreeDescriptors() async throws {
            let count = 40
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let other = try MockServer { _ in .text("hi") }

            async let end = BuiltProgram.run(
                "RequestsTransportProbe",
                ["descriptors", "\(server.port)", "\(other.port)", "\(count)"]
            )
            try await server.awaitRequests(count)
            gate.open()
            let (status, isSignal) = try await end

            #expect(status == 0 && !isSignal)
            #expect(other.requests.count == 1)
        }

        @Test func queuedRequestsGetConnectionsInOrder() async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let transcripts = (0..<12).map { _ in Transcript() }

            for (index, transcript) in transcripts.enumerated() {
                transport.send(server.url("/\(index)"), to: transcript)
            }
            try await server.awaitRequest()
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(server.requests.map(\.path) == (0..<12).map { "/\($0)" })
        }

        /// Another request has the only connection for longer than this one's timeout.
        @Test(arguments: [false, true])
        func waitingForConnectionIsNotIdleTime(_ isPausedInLine: Bool) async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let silent = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let (first, second) = (Transcript(), Transcript())

            transport.send(server.url, to: first)
            try await server.awaitRequest()
            let transfer = transport.send(server.url, timeout: .milliseconds(500), to: second)
            if isPausedInLine {
                transfer.pause()
                transfer.resume()
            }
            // As long as this takes, the second one waits.
            #expect(await transport.run(silent.url, timeout: .milliseconds(600)).result == "timedOut")
            gate.open()
            try await second.ended.wait()

            #expect(second.text == "hi", "\(String(describing: second.error))")
        }

        @Test func thousandsOfQueuedRequestsEndImmediately() async throws {
            let server = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 1 }
            let transcripts = (0..<Scale.pick(5_000, whole: 50_000)).map { _ in Transcript() }

            for transcript in transcripts { transport.send(server.url, to: transcript) }
            try await server.awaitRequest()
            transport.close()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.result == "cancelled" })
            #expect(server.requests.count == 1)
        }

        @Test func hostLimitDoesNotDelayOtherHosts() async throws {
            let gate = Gate()
            let slow = try MockServer { _ in .text("slow").held(by: gate) }
            let server = try MockServer { _ in .text("hi") }
            let transport = CurlTransport.configured {
                $0.maximumConnectionsPerHost = 1
                $0.maximumConnections = 3
            }
            let transcripts = (0..<5).map { _ in Transcript() }

            for transcript in transcripts { transport.send(slow.url, to: transcript) }
            #expect(await transport.run(server.url).text == "hi")
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "slow" })
        }
    }
}
#endif
