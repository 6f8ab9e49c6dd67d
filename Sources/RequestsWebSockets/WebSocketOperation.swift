// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The operation of a ``WebSocketRequest``.
///
/// The operation opens a socket, and finishes when the socket is closed. Until the 101 response, it is like any other
/// operation. After that, it occupies no host slot, and the deadline of the environment no longer applies, but a
/// deadline of the request itself does. The concurrency limit of an `HTTPClient` ignores the operation; on an
/// `OperationQueue`, it occupies its slot until it finishes. A socket that was open isn't retried.
///
/// Cancelling the operation closes the socket with the code 1001.
// Sendable: a subclass of `Operation` must restate the conformance; this class adds only a constant.
open class WebSocketOperation<R: WebSocketRequest>: NetworkOperation<R>, @unchecked Sendable {
    /// The state of the upgrade.
    package final let upgrade = ConnectionUpgrade<SocketCore>()

    /// Creates an operation.
    public required init(_ configuration: OperationConfiguration<R>) {
        var configuration = configuration
        configuration.upgradeConnection(for: WebSocketOperation<R>.self)
        if let baseURL = configuration.environment.baseURL, baseURL.asHTTP != baseURL {
            configuration.environment.baseURL = baseURL.asHTTP
        }
        super.init(configuration)
    }
}

extension WebSocketOperation: UpgradingOperation {
    package func prepareUpgrade(of request: inout HTTPRequest) throws {
        if request.url.asHTTP != request.url { request.url = request.url.asHTTP }
        guard request.method == .get, request.body.isEmpty else {
            let reason = "of a WebSocket handshake must be GET, without content"
            throw InvalidValue(.method, reason, excerpt: request.method.rawValue)
        }
        let protocols = self.request?.protocols ?? []
        guard protocols.allSatisfy(\.isToken) else {
            throw InvalidValue(in: WebSocketHandshake.protocolName, "isn't a list of tokens")
        }
        // Some APIs expect a token in place of a protocol. Attribute the field to the caller, so that it isn't sent to
        // another origin.
        if !protocols.isEmpty { request.headers[WebSocketHandshake.protocolName] = protocols.joined(separator: ", ") }
    }

    package func makeConnection(
        for sent: inout HTTPRequest,
        timeout: Duration,
        _ flow: FlowControl,
        _ context: ReceivingContext
    ) -> SocketCore? {
        guard let request else { return nil }
        var random = environment.random
        WebSocketHandshake.addFields(&sent.headers, &random)
        let settings = SocketCore.Settings(
            maximumMessageSize: request.maximumMessageSize,
            bufferSize: max(1, request.bufferSize),
            timeout: timeout,
            clock: environment.clock
        )
        return SocketCore(settings, flow, context)
    }

    package func use(_ core: SocketCore, _ head: HTTPResponseHead) async throws -> R.Success {
        guard let request else { throw CancellationError() }
        let socket = WebSocket(head, core)
        let value = try await request.process(socket)
        await socket.close()
        return value
    }
}
