// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A connection may be dead without a word: the network has changed, the machine was suspended, a router has
    /// forgotten it, the server is about to close it.
    @Suite(.bounded) struct CurlDeadConnectionTests {
        /// Opens connections to a server, and leaves them idle.
        private func open(_ count: Int, to server: MockServer, _ gate: Gate, over transport: CurlTransport) async throws
        {
            let transcripts = (0..<count).map { _ in Transcript() }
            for transcript in transcripts { transport.send(server.url, to: transcript) }
            try await server.awaitRequests(count)
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }
            try await server.awaitConnections(open: count)
        }

        private static func server(_ gate: Gate) throws -> MockServer {
            try MockServer { $0.path == "/silence" ? .never : .text("hi").held(by: gate) }
        }

        /// Each dead connection would cost the next request its whole timeout.
        @Test func timeoutClosesIdleConnectionsOfItsOrigin() async throws {
            let (gate, transport) = (Gate(), CurlTransport())
            let server = try Self.server(gate)
            try await open(8, to: server, gate, over: transport)

            let silent = await transport.run(server.url("/silence"), timeout: .milliseconds(100))
            try await server.awaitConnections(open: 0)

            #expect(silent.result == "timedOut")
            #expect(await transport.run(server.url).text == "hi")
            transport.close()
        }

        @Test func timeoutKeepsConnectionsOfOtherOrigins() async throws {
            let (gate, transport) = (Gate(), CurlTransport())
            let (server, other) = (try Self.server(gate), try Self.server(gate))
            gate.open()
            #expect(await transport.run(other.url).text == "hi")

            for _ in 0..<3 {
                let poll = await transport.run(server.url("/silence"), timeout: .milliseconds(50))
                #expect(poll.result == "timedOut")
                #expect(await transport.run(other.url).text == "hi")
            }

            #expect(other.connectionCount == 1)
            transport.close()
        }

        @Test func systemSuspensionClosesIdleConnections() async throws {
            let (gate, suspended) = (Gate(), Locked<UInt64>(0))
            gate.open()
            let server = try Self.server(gate)
            let transport = CurlTransport.configured { $0.suspendedTime = { suspended.withLock { $0 } } }

            for seconds: UInt64 in [0, 0, 60, 60, 61, 3_600] {
                suspended.withLock { $0 = seconds * 1_000_000_000 }
                #expect(await transport.run(server.url).text == "hi")
            }

            // The clocks differ by a little at any time.
            #expect(server.connectionCount == 3)
            transport.close()
        }

        struct Announcement: Sendable, CustomTestStringConvertible {
            let keepAlive: String
            let method: HTTPMethod
            let isReused: Bool

            var testDescription: String { "\(method.rawValue) after \(keepAlive)" }
        }

        static let announcements: [Announcement] = [
            Announcement(keepAlive: "timeout=1", method: .post, isReused: false),
            Announcement(keepAlive: "timeout=1", method: .patch, isReused: false),
            Announcement(keepAlive: "timeout=1", method: .get, isReused: true),
            Announcement(keepAlive: "timeout=1", method: .put, isReused: true),
            Announcement(keepAlive: "timeout=60", method: .post, isReused: true),
            Announcement(keepAlive: "timeout=60, max=0", method: .post, isReused: false),
            Announcement(keepAlive: "max=0", method: .get, isReused: true),
            Announcement(keepAlive: "timeout=60, max=5", method: .post, isReused: true),
        ]

        /// Whoever sends a POST on a connection that is closed at that moment can't know whether it was processed.
        @Test(arguments: announcements)
        func postAvoidsExpiringConnection(_ announcement: Announcement) async throws {
            let server = try MockServer { _ in .text("hi", headers: [.keepAlive: announcement.keepAlive]) }
            let transport = CurlTransport()

            #expect(await transport.run(server.url).text == "hi")
            #expect(await transport.run(server.url, method: announcement.method).text == "hi")

            #expect(server.connectionCount == (announcement.isReused ? 1 : 2))
            transport.close()
        }

        /// A response that is there at once counts, too, although libcurl never waits for its socket.
        @Test func postsRespectAnnouncedRequestLimit() async throws {
            let server = try MockServer { _ in .text("hi", headers: [.keepAlive: "timeout=60, max=5"]) }
            let transport = CurlTransport()

            for _ in 0..<120 { #expect(await transport.run(server.url, method: .post).text == "hi") }

            let connections = Dictionary(grouping: server.requests, by: \.connection)
            #expect(connections.values.allSatisfy { $0.count <= 6 }, "\(connections.mapValues(\.count))")
            transport.close()
        }

        /// The connections of a burst stay unused, until the server closes them.
        @Test func postsSurviveClosingConnections() async throws {
            let opened = Recorder<Void>()
            let server = try RawListener { connection in
                opened.record(())
                while connection.awaitInput(milliseconds: 2_000), connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=2\r\n\r\nhi")
                }
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
            let transport = CurlTransport()
            // Its response comes when the next request is due.
            let pace = try MockServer { _ in .text("now").delayed(by: .milliseconds(50)) }
            let burst = (0..<3).map { _ in Transcript() }
            for transcript in burst { transport.send(url, method: .post, to: transcript) }
            for transcript in burst { try await transcript.ended.wait() }

            var results = burst.map(\.result)
            for _ in 0..<Scale.pick(5, whole: 200) {
                #expect(await transport.run(pace.url).text == "now")
                results.append(await transport.run(url, method: .post).result)
            }

            #expect(results.allSatisfy { $0 == "success" }, "\(results)")
            #expect(opened.count <= 5)
            transport.close()
        }
    }
}
#endif
