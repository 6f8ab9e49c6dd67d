// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import RequestsWebSockets

extension TransportConformance {
    /// The checks of connections that are upgraded to another protocol.
    static let upgrades: [Check] = [
        Check("an upgraded connection carries bytes in both directions", .upgraded, with: .upgrades) { trial in
            let client = trial.upgrade("/echo") { try $0.echo() }
            try await trial.wait(for: client.transfer.head, "no head was reported")
            let text = String(repeating: "bytes of another protocol ", count: 10_000)
            client.change { $0.send(.text(text)) }
            try await trial.wait(for: client.firstMessage, "no message was received")
            trial.expect(client.messages == [.text(text)], "the echoed bytes differ")
            client.change { $0.close(.normalClosure) }
            let log = try await trial.finish(client.transfer)
            trial.expectResponse(log, .switchingProtocols)
        },
        Check("bytes received with the head of an upgrade are delivered", .upgraded, with: .upgrades) { trial in
            let client = trial.upgrade("/greeting") { try $0.send("hello") }
            let log = try await trial.finish(client.transfer)
            trial.expectResponse(log, .switchingProtocols)
            trial.expect(client.messages == [.text("hello")], "the peer's first bytes are missing")
        },
        Check("a rejected upgrade is reported as a response", .upgraded, with: .upgrades) { trial in
            let client = trial.upgrade("/text", nil)
            let log = try await trial.finish(client.transfer)
            trial.expectResponse(log, content: "text")
            client.change { $0.send(.text("late")) }
            try await trial.expectStillWorking(after: "a refused upgrade", allowsOneFailure: true)
        },
        Check("an upgraded transfer ends when the peer disconnects", .upgraded, with: .upgrades) { trial in
            for reset in [false, true] {
                let client = trial.upgrade("/end") { reset ? $0.reset() : $0.disconnect() }
                let log = try await trial.finish(client.transfer)
                trial.expect(log.head?.status == .switchingProtocols, "the head is missing")
            }
        },
        Check("cancelling ends an upgraded transfer", .upgraded, with: .upgrades) { trial in
            let client = trial.upgrade("/silent") { $0.awaitClose() }
            try await trial.wait(for: client.transfer.head, "no head was reported")
            client.transfer.cancel()
            trial.expectError(try await trial.finish(client.transfer), .cancelled)
            try await trial.expectStillWorking(after: "a cancelled upgrade")
        },
    ]
}

/// The client side of an upgraded connection, which speaks the WebSocket protocol.
private final class UpgradedClient: Sendable {
    private struct State {
        var machine = WebSocketMachine(.client)
        var messages: [WebSocket.Message] = []
    }

    let transfer: ObservedTransfer
    /// The gate that opens when the first message arrives.
    let firstMessage = Gate()
    let source: TransportRequest.UpgradeSource
    private let state: Locked<State>

    init(_ transfer: ObservedTransfer) {
        let state = Locked(State())
        (self.transfer, self.state) = (transfer, state)
        source = TransportRequest.UpgradeSource { buffer in state.withLock { $0.machine.take(into: buffer) } }
    }

    var messages: [WebSocket.Message] { state.withLock { $0.messages } }

    func change(_ change: @Sendable (inout WebSocketMachine) -> Void) {
        state.withLock { change(&$0.machine) }
        source.wake()
    }

    func receive(_ event: TransferEvent) {
        guard case .data(let data) = event else { return }
        let hasMessages = state.withLock { state in
            for case .message(let message) in state.machine.receive(data) { state.messages.append(message) }
            return !state.messages.isEmpty
        }
        source.wake()
        if hasMessages { firstMessage.open() }
    }
}

extension ConformanceTrial {
    /// Starts an upgrade, to which the server responds with a script, or with the existing route if there is no script.
    fileprivate func upgrade(
        _ target: String,
        _ script: (@Sendable (MockWebSocket) throws -> Void)?
    ) -> UpgradedClient {
        if let script { server.route(.get, target, .webSocket(script)) }
        let headers: HTTPHeaders = [
            .connection: "Upgrade", .upgrade: "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        let client = UpgradedClient(prepareTransfer("GET \(target)"))
        var request = TransportRequest(HTTPRequest(url: url(target), headers: headers))
        request.decodesContent = false
        request.upgrade = client.source
        client.transfer.start(request, over: transport) { event, _ in client.receive(event) }
        return client
    }
}
