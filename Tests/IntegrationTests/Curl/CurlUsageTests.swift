// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// The figures of a transport, for the operators of a service.
    @Suite(.bounded) struct CurlUsageTests {
        @Test func queuedRequestsAreCounted() async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi").held(by: gate) }
            let transport = CurlTransport.configured { $0.maximumConnectionsPerHost = 3 }
            let transcripts = (0..<5).map { _ in Transcript() }

            for transcript in transcripts { transport.send(server.url, to: transcript) }
            try await server.awaitRequests(3)
            let held = await transport.usage
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }
            let free = await transport.usage
            transport.close()

            #expect(held == Self.usage(open: 3, waiting: 2))
            #expect(free == Self.usage(open: 3, idle: 3))
            #expect(await transport.usage == Self.usage())
        }

        @Test func reusedConnectionIsNotCountedAsIdle() async throws {
            let gate = Gate()
            let server = try MockServer { $0.path == "/held" ? .text("hi").held(by: gate) : .text("hi") }
            let transport = CurlTransport()
            let transcript = Transcript()

            _ = await transport.run(server.url)
            let before = await transport.usage
            transport.send(server.url("/held"), to: transcript)
            try await server.awaitRequests(2)
            let meanwhile = await transport.usage
            gate.open()
            try await transcript.ended.wait()

            #expect(before == Self.usage(open: 1, idle: 1))
            #expect(meanwhile == Self.usage(open: 1))
            #expect(await transport.usage == Self.usage(open: 1, idle: 1))
        }

        @Test func nameLookupsAreCounted() async throws {
            let gate = Gate()
            let server = try MockServer { _ in .text("hi") }
            let names = HostResolver { _ in
                try? gate.wait()
                return .success(["127.0.0.1"])
            }
            let transport = CurlTransport.configured { $0.names = names }
            let transcripts = (0..<4).map { _ in Transcript() }

            for (number, transcript) in transcripts.enumerated() {
                transport.send(URL(string: "http://host-\(number % 2).test:\(server.port)/")!, to: transcript)
            }
            let looking = await transport.usage
            gate.open()
            for transcript in transcripts { try await transcript.ended.wait() }

            #expect(looking == Self.usage(lookUps: 2))
            #expect(await transport.usage.lookUps == 0)
        }

        @Test func unusedTransportReportsZeroUsage() async {
            #expect(await CurlTransport().usage == Self.usage())
        }

        private static func usage(
            open: Int = 0,
            idle: Int = 0,
            waiting: Int = 0,
            lookUps: Int = 0
        ) -> CurlTransport.Usage {
            var usage = CurlTransport.Usage()
            (usage.openConnections, usage.idleConnections) = (open, idle)
            (usage.waitingRequests, usage.lookUps) = (waiting, lookUps)
            return usage
        }
    }
}
#endif
