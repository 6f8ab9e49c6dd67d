// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Sends the handshake of a WebSocket over another transport: the transfer ends with the 101, and its connection goes on
/// as that of the socket.
///
/// So a handshake is like any other request to the engine, with a response that has no content, and everything that waits
/// for its end may go on.
final class UpgradingTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let settings: SocketCore.Settings
    private let keep: @Sendable (SocketCore) -> Void

    /// Makes a transport for one transfer.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the request.
    ///   - settings: The settings of the socket.
    ///   - keep: Called with the connection before the transfer ends, if the handshake succeeds.
    /// - Throws: A ``RequestError`` if the transport can't upgrade connections.
    init(
        _ base: any HTTPTransport,
        _ settings: SocketCore.Settings,
        keep: @escaping @Sendable (SocketCore) -> Void
    ) throws(RequestError) {
        var base = base
        #if !canImport(FoundationNetworking)
        if let session = base as? any SessionTransport {
            base = SessionSocketTransport(session, maximumMessageSize: settings.maximumMessageSize)
        }
        #endif
        guard base.capabilities.contains(.upgrades) else {
            let reason = "\(type(of: base)) has no WebSockets"
            throw RequestError(.unsupported, phase: .sending, reason: reason)
        }
        (self.base, self.settings, self.keep) = (base, settings, keep)
    }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let core = SocketCore(settings)
        let handle = Handle(flow: core.flow)
        request.flow?.attach(handle)
        var request = request
        request.timeout = settings.timeout
        (request.upgrade, request.flow) = (core.source, core.flow)
        (request.decodesContent, request.isStreamed, request.maximumBodySize) = (false, false, .max)
        let isOpen = Locked(false)
        core.flow.attach(
            base.send(request) { [keep, headers = request.headers] event in
                if isOpen.withLock({ $0 }) {
                    switch event {
                    case .data(let data): core.receive(data)
                    case .end(let error): core.connectionEnded(error)
                    case .informational, .sent, .head, .trailers, .metrics: break
                    }
                    return
                }
                receive(event)
                guard case .head(let head) = event, head.status == .switchingProtocols else { return }
                isOpen.withLock { $0 = true }
                if let flaw = WebSocketHandshake.flaw(in: head, to: headers) {
                    core.flow.cancel()
                    return receive(.end(RequestError(.badResponse, phase: .receiving, reason: flaw)))
                }
                keep(core)
                receive(.end(nil))
            }
        )
        return handle
    }

    /// The transfer of the handshake.
    private final class Handle: TransferHandle {
        let flow: FlowControl

        init(flow: FlowControl) {
            self.flow = flow
        }

        func cancel() { flow.cancel() }
        func pause() { flow.set(.user, true) }
        func resume() { flow.set(.user, false) }
    }
}
