// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Sends the handshake of a WebSocket over another transport: the transfer ends with the 101, and its connection
/// becomes that of the socket.
///
/// So the engine treats a handshake like any other request, whose response has no content, and resumes whatever waits
/// for the end of the transfer.
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
    init(
        _ base: any HTTPTransport,
        _ settings: SocketCore.Settings,
        keep: @escaping @Sendable (SocketCore) -> Void
    ) {
        (self.base, self.settings, self.keep) = (base, settings, keep)
    }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let core = SocketCore(settings)
        request.flow?.attach(core)
        var request = request
        request.timeout = settings.timeout
        (request.upgrade, request.flow) = (core.source, core.flow)
        (request.decodesContent, request.isStreamed, request.maximumBodySize) = (false, false, .max)
        let isOpen = Locked(false)
        let handle = start(request) { [keep, headers = request.headers] event in
            guard !isOpen.withLock({ $0 }) else { return core.receive(event) }
            // The transfer, whose receiver this is, has no other owner than the connection.
            if case .end = event { _ = core.flow.detach() }
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
        core.flow.attach(handle)
        return core
    }

    private func start(
        _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        if base.capabilities.contains(.upgrades) { return base.send(request, receive: receive) }
        #if !canImport(FoundationNetworking)
        if let session = base as? any SessionTransport {
            let size = settings.maximumMessageSize
            return SessionSocket.start(request, over: session, maximumMessageSize: size, receive: receive)
        }
        #endif
        let reason = "\(type(of: base)) has no WebSockets"
        receive(.end(RequestError(.unsupported, phase: .sending, reason: reason)))
        return EndedTransfer.shared
    }
}
