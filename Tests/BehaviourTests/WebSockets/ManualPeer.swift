// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import RequestsWebSockets
import Testing

/// A peer without a network: the test decides when its bytes arrive, and when it reads the client's bytes.
struct ManualPeer {
    let socket: WebSocket
    let transfer: ManualTransfer
    let client: HTTPClient
    private let source: TransportRequest.UpgradeSource

    init(_ configure: (inout RequestEnvironment) -> Void = { _ in }) async throws {
        let transport = ManualTransport([.concurrentDelivery, .pausing, .upgrades])
        let client = HTTPClient(baseURL: URL(string: "ws://feed.example"), transport: transport, configure)
        async let socket = client.webSocket("")
        transfer = try await transport.awaitTransfer()
        source = try #require(transfer.request.upgrade)
        var headers: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
        let key = transfer.request.headers[WebSocketHandshake.keyName] ?? ""
        headers[WebSocketHandshake.acceptName] = WebSocketHandshake.accept(for: key)
        transfer.receive(.head(HTTPResponseHead(status: .switchingProtocols, headers: headers)))
        (self.client, self.socket) = (client, try await socket)
    }

    /// The operation that runs while the socket is open.
    var operation: AnyRequestOperation {
        get throws { try #require(client.requestOperations.first) }
    }

    /// Sends frames, which arrive together.
    func send(_ frames: WebSocketFrame...) {
        var bytes: [UInt8] = []
        for frame in frames { frame.append(to: &bytes) }
        transfer.receive(.data(Data(bytes)))
    }

    /// Takes the client's pending bytes, by default all of them.
    func take(atMost limit: Int = .max) -> Data {
        var (taken, buffer) = (Data(), Data(count: 4096))
        while taken.count < limit {
            let count = buffer.withUnsafeMutableBytes { bytes in
                source.take(into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(limit - taken.count)))
            }
            guard count > 0 else { break }
            taken += buffer.prefix(count)
        }
        return taken
    }

    /// Takes the client's pending bytes, parsed as a server would.
    func takeEvents() -> [WebSocketMachine.Event] {
        var machine = WebSocketMachine(.server)
        return machine.receive(take())
    }

    /// Calls a closure when the client has new bytes after all previous ones were taken.
    func whenReadable(_ body: @escaping @Sendable () -> Void) { source.whenReadable(body) }
}
