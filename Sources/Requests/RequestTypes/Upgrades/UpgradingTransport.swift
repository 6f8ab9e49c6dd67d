// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A transport that upgrades a connection of another transport; the transfer ends with the 101 response.
///
/// The engine treats the request like any other request whose response has no content, and resumes everything that
/// waits for the transfer to finish.
final class UpgradingTransport<Connection: UpgradedConnection>: HTTPTransport {
    private let base: any HTTPTransport
    private let connection: Connection
    private let flow: FlowControl
    private let timeout: Duration
    private let context: ReceivingContext
    private let didUpgrade: @Sendable (Connection) -> Void

    /// Creates a transport for one transfer.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the request.
    ///   - connection: The connection.
    ///   - flow: Pauses and cancels the connection.
    ///   - timeout: The idle timeout.
    ///   - context: The details for errors.
    ///   - didUpgrade: Called with the connection before the transfer ends, if the peer has accepted the upgrade.
    init(
        _ base: any HTTPTransport,
        _ connection: Connection,
        _ flow: FlowControl,
        timeout: Duration,
        _ context: ReceivingContext,
        didUpgrade: @escaping @Sendable (Connection) -> Void
    ) {
        (self.base, self.connection, self.flow) = (base, connection, flow)
        (self.timeout, self.context, self.didUpgrade) = (timeout, context, didUpgrade)
    }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let upgradeHandle = UpgradeHandle(flow: flow)
        request.flow?.attach(upgradeHandle)
        var request = request
        request.timeout = timeout
        (request.upgrade, request.flow) = (connection.source, flow)
        (request.decodesContent, request.isStreamed, request.maximumBodySize) = (false, false, .max)
        let isOpen = Locked(false)
        let handle = begin(request) { [self, headers = request.headers] event in
            guard !isOpen.withLock({ $0 }) else { return forward(event) }
            // Only the connection's flow retains the handle of the transfer, so the flow must release it when the
            // transfer ends.
            if case .end = event { _ = flow.detach() }
            receive(event)
            guard case .head(let head) = event, head.status == .switchingProtocols else { return }
            isOpen.withLock { $0 = true }
            if let flaw = flaw(in: head, to: headers) {
                flow.cancel()
                return receive(.end(RequestError(.badResponse, phase: .receiving, reason: flaw)))
            }
            didUpgrade(connection)
            // Resume the transfer first, because a pause applies only to the request. The connection must already be
            // open when its first byte arrives.
            flow.set(.user, false)
            receive(.end(nil))
        }
        flow.attach(handle)
        return upgradeHandle
    }

    private func begin(
        _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        if base.capabilities.contains(.upgrades) { return base.send(request, receive: receive) }
        if let handle = connection.startNatively(request, over: base, receive: receive) { return handle }
        let reason = "\(type(of: base)) can't open \(Connection.title)"
        receive(.end(RequestError(.unsupported, phase: .sending, reason: reason)))
        return EndedTransfer.shared
    }

    /// Forwards an event of the open connection to its handler.
    private func forward(_ event: TransferEvent) {
        switch event {
        case .data(let data): connection.receive(data)
        case .end(let error):
            _ = flow.detach()
            context.freeze()
            connection.end(error)
        case .informational, .sent, .head, .trailers, .metrics: break
        }
    }

    private func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String? {
        func has(_ name: HTTPField.Name, _ token: String) -> Bool {
            FieldScanner.members(of: head[values: name]).contains { $0.equalsIgnoringASCIICase(token) }
        }
        guard !head.isHTTP10 else { return "the server responded with HTTP/1.0, which doesn't support upgrades" }
        guard has(.upgrade, Connection.upgradeToken), has(.connection, "Upgrade") else {
            return "the server switched to a protocol other than \(Connection.upgradeToken)"
        }
        return Connection.flaw(in: head, to: headers)
    }
}

/// The handle of a request until its connection is open.
private final class UpgradeHandle: TransferHandle {
    private let flow: FlowControl

    init(flow: FlowControl) { self.flow = flow }

    func cancel() { flow.cancel() }
    func pause() { flow.set(.user, true) }
    func resume() { flow.set(.user, false) }
}
