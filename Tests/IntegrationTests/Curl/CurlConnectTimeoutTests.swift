// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Requests to a host that can't be connected to all end in the time for one connection.
    @Suite(.bounded) struct CurlConnectTimeoutTests {
        enum Host: String, CaseIterable, CustomTestStringConvertible {
            case silent = "TLS that is never answered"
            case full = "http that is never accepted"
            case fullOverTLS = "https that is never accepted"

            var testDescription: String { rawValue }

            /// Calls a closure with the address of such a host.
            func run(_ body: (URL) async throws -> Void) async throws {
                if self == .silent {
                    let listener = try RawListener { _ = $0.readHead() }
                    try await body(URL(string: "https://127.0.0.1:\(listener.port)/")!)
                    withExtendedLifetime(listener) {}
                } else {
                    let listener = try Unattended()
                    let scheme = self == .full ? "http" : "https"
                    try await body(URL(string: "\(scheme)://127.0.0.1:\(listener.url.port ?? 0)/")!)
                    withExtendedLifetime(listener) {}
                }
            }
        }

        /// A busy machine delays some runs: then the host gets more time.
        private func expectAllInTime(
            _ host: Host,
            _ count: Int,
            _ configure: (inout CurlTransport.Configuration) -> Void = { _ in }
        ) async throws {
            var limit = Duration.milliseconds(400)
            var last = Duration.zero
            for _ in 0..<3 {
                try await host.run { url in
                    let transport = CurlTransport.configured {
                        $0.connectTimeout = limit
                        configure(&$0)
                    }
                    let transcripts = (0..<count).map { _ in Transcript() }
                    for transcript in transcripts { transport.send(url, to: transcript) }
                    for transcript in transcripts { try await transcript.ended.wait() }
                    transport.close()

                    #expect(transcripts.allSatisfy { $0.result == "timedOut" })
                    #expect(transcripts.flatMap(\.violations) == [])
                    #expect(transcripts.allSatisfy { $0.duration >= limit })
                    last = transcripts.map(\.duration).max() ?? .zero
                }
                if last < limit * 2 { return }
                limit = limit * 2
            }
            Issue.record("the last of \(count) requests ended after \(last), with a timeout of \(limit / 2)")
        }

        @Test(arguments: Host.allCases, [8, 64])
        func requestsToDeadHostFailWithinConnectTimeout(_ host: Host, _ count: Int) async throws {
            try await expectAllInTime(host, count)
        }

        @Test(arguments: Host.allCases)
        func queuedRequestsToDeadHostFailWithinTimeout(_ host: Host) async throws {
            try await expectAllInTime(host, 20) { $0.maximumConnectionsPerHost = 2 }
        }

        @Test func queuedRequestMakesItsOwnConnectionAttempt() async throws {
            let listener = try Unattended()
            let transport = CurlTransport.configured {
                $0.maximumConnectionsPerHost = 1
                $0.connectTimeout = .milliseconds(300)
            }
            let (brief, patient) = (Transcript(), Transcript())

            transport.send(listener.url, timeout: .milliseconds(100), to: brief)
            transport.send(listener.url, to: patient)
            try await patient.ended.wait()
            transport.close()

            #expect(brief.result == "timedOut" && patient.result == "timedOut")
            #expect(brief.duration < patient.duration && patient.duration >= .milliseconds(400))
        }

        @Test(arguments: [1, 16])
        func slowResponseOutlastsConnectTimeout(_ width: Int) async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("late").held(by: gate) }
            let transport = CurlTransport.configured { $0.connectTimeout = .milliseconds(100) }
            let transcripts = (0..<width).map { _ in Transcript() }

            for transcript in transcripts { transport.send(server.url, timeout: .seconds(60), to: transcript) }
            try await server.awaitRequests(width)
            // Its end is later than that of the others' time for a connection.
            let silent = try Unattended()
            #expect(await transport.run(silent.url, timeout: .milliseconds(300)).result == "timedOut")
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(transcripts.allSatisfy { $0.text == "late" })
        }

        @Test func silentServerFailsAtRequestTimeout() async throws {
            let server = try MockServer { _ in .never }
            let transport = CurlTransport.configured { $0.connectTimeout = .milliseconds(50) }

            let transcript = await transport.run(server.url, timeout: .milliseconds(300))

            #expect(transcript.result == "timedOut")
            #expect(transcript.duration >= .milliseconds(300))
            #expect(transcript.error?.reason == nil)
        }
    }
}
#endif
