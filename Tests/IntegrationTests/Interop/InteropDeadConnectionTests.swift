// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// A connection of HTTP/2 takes all requests to its host, even if its peer has vanished without a word.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current?.has(.peer) == true, "Scripts/interop starts the servers")
    )
    struct InteropDeadConnectionTests {
        private let servers: InteropServers
        /// The time for which the system seems to have been suspended, in nanoseconds.
        private let suspended: Locked<UInt64>
        private let transport: CurlTransport

        init() throws {
            let suspended = Locked<UInt64>(0)
            servers = try #require(InteropServers.current)
            transport = .configured { $0.suspendedTime = { suspended.withLock { $0 } } }
            self.suspended = suspended
        }

        private func send(
            _ path: String,
            method: HTTPMethod = .get,
            timeout: Duration = .seconds(10),
            trust: TrustPolicy? = nil
        ) throws -> Transcript {
            let transcript = Transcript()
            let url = try servers.url(.peer).appending(path: path)
            var request = TransportRequest(HTTPRequest(url: url, method: method), timeout: timeout)
            request.trust = try trust ?? servers.authority
            _ = transport.send(request) { transcript.receive($0) }
            return transcript
        }

        /// Sends a request, and returns the number of its connection.
        private func connection(trust: TrustPolicy? = nil) async throws -> String {
            let transcript = try send("connection", trust: trust)
            try await transcript.ended.wait()
            return transcript.result == "success" ? transcript.text : transcript.result
        }

        @Test func frozenConnectionIsNotReusedAfterTimeout() async throws {
            _ = try await connection()
            let open = try (0..<4).map { number in
                try send(number == 0 ? "freeze/20" : "connection", timeout: .milliseconds(300))
            }
            for transcript in open { try await transcript.ended.wait() }

            var later: Set<String> = []
            for _ in 0..<Scale.pick(10, whole: 100) { later.insert(try await connection()) }

            #expect(open.first?.result == "timedOut")
            #expect(later.count == 1 && later.first.flatMap { Int($0) } != nil, "\(later)")
            transport.close()
        }

        @Test(arguments: [false, true])
        func unresponsiveConnectionIsReplaced(_ isUnverified: Bool) async throws {
            let any = try TrustPolicy.system.insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])
            let trust = isUnverified ? any : try servers.authority
            let first = try await connection(trust: trust)
            let waiting = try send("silence", timeout: .seconds(2), trust: trust)

            let silent = try send("silence", timeout: .milliseconds(200), trust: trust)
            try await silent.ended.wait()
            let second = try await connection(trust: trust)

            #expect(silent.result == "timedOut")
            #expect(first != second && Int(second) != nil)
            #expect(!waiting.ended.isOpen, "it has time left")
            #expect(try await connection(trust: trust) == second)
            try await waiting.ended.wait()
            #expect(waiting.result == "timedOut")
            transport.close()
        }

        /// libcurl would choose a connection in use for every new request.
        @Test func suspensionRetiresConnectionInUse() async throws {
            let first = try await connection()
            let waiting = try send("silence", method: .post, timeout: .seconds(1))
            #expect(try await connection() == first)

            suspended.withLock { $0 = 60_000_000_000 }
            let second = try await connection()

            #expect(first != second && Int(second) != nil)
            #expect(try await connection() == second)
            try await waiting.ended.wait()
            // With an old libcurl, or without OpenSSL, the connection can't be left to that request.
            #expect(["timedOut", "connectionLost"].contains(waiting.result))
            transport.close()
        }

        /// Recent releases of libcurl choose a connection that was checked within the last second.
        @Test func postOverTLSAvoidsExpiringConnection() async throws {
            let transport = CurlTransport.configured { $0.usesHTTP2 = false }
            var connections: [String] = []
            for (method, path) in [(HTTPMethod.get, "kept"), (.post, "ending"), (.post, "ending"), (.get, "kept")] {
                let transcript = Transcript()
                let url = try servers.url(.peer).appending(path: path)
                var request = TransportRequest(HTTPRequest(url: url, method: method))
                request.trust = try servers.authority
                _ = transport.send(request) { transcript.receive($0) }
                try await transcript.ended.wait()
                connections.append(transcript.text)
            }
            transport.close()

            #expect(connections[0] == connections[1] && connections[1] != connections[2], "\(connections)")
            #expect(connections[2] == connections[3] && connections.allSatisfy { Int($0) != nil }, "\(connections)")
        }

        @Test func timeoutOfOneStreamKeepsConnection() async throws {
            let first = try await connection()
            let silent = try send("silence", timeout: .milliseconds(300))

            var others: Set<String> = []
            repeat { others.insert(try await connection()) } while !silent.ended.isOpen
            others.insert(try await connection())

            #expect(silent.result == "timedOut")
            #expect(others == [first])
            transport.close()
        }
    }
}
#endif
