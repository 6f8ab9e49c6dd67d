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
        private let transport = CurlTransport()

        init() throws {
            servers = try #require(InteropServers.current)
        }

        private func send(
            _ path: String,
            timeout: Duration = .seconds(10),
            trust: TrustPolicy? = nil
        ) throws -> Transcript {
            let transcript = Transcript()
            let url = try servers.url(.peer).appending(path: path)
            var request = TransportRequest(HTTPRequest(url: url), timeout: timeout)
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

        @Test func frozenConnectionTakesNoRequestAfterATimeout() async throws {
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
        func connectionThatIsSilentSinceARequestIsReplaced(_ isUnverified: Bool) async throws {
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

        @Test func timeoutBesideOtherResponsesKeepsTheConnection() async throws {
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
