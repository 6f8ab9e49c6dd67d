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

        @Test(.tags(.alone)) func blockedReceiverDoesNotDelayOtherStreams() async throws {
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

        /// The ways in which a stream ends whose content nobody takes.
        enum Drop: CaseIterable, Sendable {
            case cancelled, cancelledWhilePaused, cancelledBehindABlockedReceiver, refused
        }

        /// Reads the beginnings of several streams of one connection, and drops them.
        private func drop(_ count: Int, as drop: Drop, over transport: CurlTransport) async throws {
            let gate = Gate()
            defer { gate.open() }
            let transcripts = (0..<count).map { _ in
                Transcript(keepsContent: false) { event in
                    if case .data = event, drop == .cancelledBehindABlockedReceiver { try? gate.wait() }
                }
            }
            var handles: [any TransferHandle] = []
            for transcript in transcripts {
                var request = TransportRequest(
                    HTTPRequest(url: try servers.url(.trusted).appendingPathComponent("large")),
                    maximumBodySize: drop == .refused ? 1 << 20 : .max
                )
                request.trust = try servers.authority
                let handle = transport.send(request) { transcript.receive($0) }
                if drop == .cancelledWhilePaused { handle.pause() }
                handles.append(handle)
            }
            if drop == .cancelled {
                try await transcripts[0].content.wait()
                for handle in handles { handle.cancel() }
            }
            // Others have begun later, and what they ask for is answered behind that: more content than is taken.
            for _ in 0..<5 { _ = try await servers.ask(.trusted, trust: servers.authority, over: transport) }
            if drop != .refused { for handle in handles { handle.cancel() } }
            gate.open()
            for transcript in transcripts {
                try await transcript.ended.wait()
                #expect(transcript.result == (drop == .refused ? "bodyTooLarge" : "cancelled"))
            }
            // A cancelled stream is released after its end was reported.
            _ = try await servers.ask(.trusted, trust: servers.authority, over: transport)
        }

        @Test(.tags(.alone), arguments: Drop.allCases)
        func droppedStreamsLeakNoMemory(_ drop: Drop) async throws {
            // One stream keeps the connection, which would free everything at its end.
            let (transport, keeper, gate) = (CurlTransport(), Transcript(keepsContent: false), Gate())
            var request = TransportRequest(HTTPRequest(url: try servers.url(.trusted).appendingPathComponent("large")))
            request.trust = try servers.authority
            let handle = transport.send(request) { event in
                keeper.receive(event)
                if case .data = event { try? gate.wait() }
            }
            try await keeper.head.wait()
            defer { gate.open() }

            // The stream that keeps the connection fills its window meanwhile.
            for _ in 0..<3 { try await self.drop(8, as: drop, over: transport) }
            let before = Usage.allocatedMemory
            for _ in 0..<Scale.pick(5, whole: 500) { try await self.drop(8, as: drop, over: transport) }
            let growth = Usage.allocatedMemory - before
            handle.cancel()
            gate.open()
            try await keeper.ended.wait()
            transport.close()

            #expect(!Usage.isMemoryExact || growth < 16 << 20, "grew by \(growth)")
        }

        @Test func cancelDoesNotEndOtherStreams() async throws {
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
