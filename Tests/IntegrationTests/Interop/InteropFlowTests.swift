// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

extension OverLoopback {
    /// Streams of one HTTP/2 connection don't affect each other.
    @Suite(
        .bounded,
        .enabled(if: InteropServers.current != nil, "Scripts/interop starts the servers")
    )
    struct InteropFlowTests {
        private static let size = 64 << 20
        let servers: InteropServers
        let transport = CurlTransport()

        init() throws {
            servers = try #require(InteropServers.current)
        }

        /// Requests 64 MiB, whose receiver waits at a gate.
        private func sendLarge(_ transcript: Transcript) throws -> any TransferHandle {
            var request = TransportRequest(HTTPRequest(url: try servers.url(.trusted).appendingPathComponent("large")))
            request.trust = try servers.authority
            return transport.send(request) { transcript.receive($0) }
        }

        /// Returns the connections on which fifty small requests were answered.
        private func askFifty() async throws -> Set<String> {
            let (servers, transport, trust) = (servers, transport, try servers.authority)
            return try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 {
                    group.addTask { try await servers.ask(.trusted, trust: trust, over: transport).connection }
                }
                return try await group.reduce(into: []) { $0.insert($1) }
            }
        }

        @Test(.tags(.alone)) func receiverThatIsBlockedHoldsUpNoOtherStreamOfItsConnection() async throws {
            let (begun, gate) = (Gate(), Gate())
            defer { gate.open() }
            let before = Usage.memory
            let transcript = Transcript(keepsContent: false) { event in
                guard case .data = event else { return }
                begun.open()
                try? gate.wait()
            }

            _ = try sendLarge(transcript)
            try await begun.wait()
            let connections = try await askFifty()
            let growth = Usage.memory - before
            gate.open()
            try await transcript.ended.wait()
            transport.close()

            #expect(connections == [try #require(transcript.response?["X-Connection"])])
            #expect(transcript.result == "success" && transcript.contentSize == Self.size)
            #expect(transcript.violations == [])
            // An HTTP/2 window is up to 32 MiB in libcurl, so that much may have arrived.
            #expect(!Usage.isMemoryExact || growth < 48 << 20, "grew by \(growth)")
        }

        @Test func cancelEndsNoOtherStreamOfItsConnection() async throws {
            let begun = Gate()
            let transcript = Transcript(keepsContent: false) { event in
                if case .data = event { begun.open() }
            }

            let large = try sendLarge(transcript)
            try await begun.wait()
            async let others = askFifty()
            large.cancel()
            let connections = try await others
            try await transcript.ended.wait()
            let later = try await askFifty()
            transport.close()

            #expect(transcript.result == "cancelled" && transcript.violations == [])
            #expect(connections == [try #require(transcript.response?["X-Connection"])])
            #expect(later == connections)
        }
    }
}
#endif
