// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// Errors of a socket contain as much information as those of `fetch`.
@Suite(.bounded) struct WebSocketErrorTests {
    private func expectFacts(_ error: RequestError?, _ code: RequestError.Code) {
        #expect(error?.code == code)
        #expect(error?.request?.url.host() == "feed.example")
        #expect(error?.response?.status == .switchingProtocols)
        #expect(error?.transfers.count == 1)
        #expect(error.map { "\($0)" }?.contains("feed.example") == true)
    }

    /// A way in which a socket ends, and the code of its errors.
    struct End: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: RequestError.Code
        let end: @Sendable (ManualPeer) throws -> Void
    }

    static let ends = [
        End(testDescription: "an error of the transport", code: .connectionLost) {
            $0.transfer.receive(.end(RequestError(.connectionLost, phase: .receiving)))
        },
        End(testDescription: "no closing handshake", code: .connectionLost) { $0.transfer.receive(.end(nil)) },
        End(testDescription: "a violation", code: .badResponse) { $0.transfer.receive(.data(Data([0xFF, 0xFF]))) },
        End(testDescription: "a cancel", code: .cancelled) { try $0.operation.cancel() },
    ]

    @Test(arguments: ends) func socketErrorNamesItsRequest(_ end: End) async throws {
        let peer = try await ManualPeer()
        let ping = Task { try await peer.socket.ping() }
        while peer.takeEvents().isEmpty { await Task.yield() }
        try end.end(peer)

        expectFacts(await #expect(throws: RequestError.self) { for try await _ in peer.socket.messages {} }, end.code)
        expectFacts(await #expect(throws: RequestError.self) { try await peer.socket.send("late") }, end.code)
        expectFacts(await #expect(throws: RequestError.self) { try await peer.socket.ping() }, end.code)
        expectFacts(await #expect(throws: RequestError.self) { try await ping.value }, end.code)
        peer.transfer.receive(.end(nil))
    }

    @Test func sendErrorOnClosedSocketIncludesRequest() async throws {
        let server = try MockServer { _ in .webSocket { $0.close() } }
        let socket = try await HTTPClient(baseURL: server.url).webSocket("feed")
        for try await _ in socket.messages {}

        let error = await #expect(throws: RequestError.self) { try await socket.send("late") }

        #expect(error?.code == .closed && error?.request?.url.path == "/feed" && error?.transfers.count == 1)
    }

    @Test func cancelledReceiveNamesItsRequest() async throws {
        let peer = try await ManualPeer()
        let reader = Task { try await peer.socket.next(1) }
        reader.cancel()

        expectFacts(await #expect(throws: RequestError.self) { try await reader.value }, .cancelled)
        peer.transfer.receive(.end(nil))
    }
}
