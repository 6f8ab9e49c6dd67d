// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``WebSocketRequest``: opens a socket, and finishes when the socket is closed.
///
/// Until the 101, it is like any other operation. From then on, it holds no place at the host, and the deadline of the
/// environment no longer applies, but one of the request itself still does. On an `HTTPClient`, it never counts towards
/// the maximum of concurrent requests; on an `OperationQueue`, it holds its place until the end. A socket isn't retried
/// once it was open.
///
/// Cancelling the operation closes the socket with the code 1001.
// Sendable: Operation requires restating it; the only additions here are a task, and values behind a lock.
open class WebSocketOperation<R: WebSocketRequest>: NetworkOperation<R>, @unchecked Sendable {
    fileprivate typealias Opening = (operation: WebSocketOperation, request: R, socket: WebSocket)

    /// The open socket, for the task that uses it; `nil` if no socket was opened.
    fileprivate let opening = OneShot<Opening?>()
    fileprivate let user: Task<Void, Never>
    /// The connection that was upgraded last.
    fileprivate let upgraded = Locked<SocketCore?>(nil)

    /// Creates an operation.
    public required init(_ configuration: OperationConfiguration<R>) {
        var configuration = configuration
        configuration.kind = SocketHandling<R>.self
        if let baseURL = configuration.environment.baseURL, baseURL.overHTTP != baseURL {
            configuration.environment.baseURL = baseURL.overHTTP
        }
        // Made here, so that it inherits the task-locals of the caller; it waits for the socket.
        user = Task { [opening] in
            guard let opening = await opening.value() else { return }
            await opening.operation.finish {
                let value = try await opening.request.process(opening.socket)
                await opening.socket.close()
                return value
            }
        }
        super.init(configuration)
    }

    deinit { opening.fill(nil) }
}

/// Opens a socket with the response, and passes it on to the request's `process`.
private struct SocketHandling<Request: WebSocketRequest>: NetworkHandling {
    let operation: WebSocketOperation<Request>

    static var content: ContentDelivery { .openEnded }
    static var ignoresConcurrencyLimit: Bool { true }

    func refusalReason(of status: HTTPStatus) -> String? {
        successfulStatusCodes.contains(status.code) ? "a WebSocket needs \(HTTPStatus.switchingProtocols)" : nil
    }

    func makeRequest() async throws -> HTTPRequest {
        guard let declared = operation.request else { throw CancellationError() }
        var request = try await declared.makeHTTPRequest(operation.configuration)
        if request.url.overHTTP != request.url { request.url = request.url.overHTTP }
        // Redirects depend on it; the other fields of the handshake are those of one connection.
        request.headers.set(HTTPField(.upgrade, "websocket").setByLibrary())
        guard request.method == .get, request.body.isEmpty else {
            throw InvalidValue(.method, "of a WebSocket is GET, without content", excerpt: request.method.rawValue)
        }
        let protocols = declared.protocols
        guard protocols.allSatisfy(\.isToken) else {
            throw InvalidValue(.headerValue, "of \(WebSocketHandshake.protocolName) isn't a list of tokens")
        }
        // The caller's field: some APIs take a token for a protocol, which must not follow to another origin.
        if !protocols.isEmpty { request.headers[WebSocketHandshake.protocolName] = protocols.joined(separator: ", ") }
        return request
    }

    func transport(for sent: inout HTTPRequest) throws -> (any HTTPTransport)? {
        let environment = operation.environment
        guard let transport = operation.ownTransport, let request = operation.request else { return nil }
        var random = environment.random
        WebSocketHandshake.complete(&sent.headers, &random)
        let settings = SocketCore.Settings(
            maximumMessageSize: request.maximumMessageSize,
            bufferSize: max(1, request.bufferSize),
            timeout: sent.timeout ?? operation.configuration.timeout ?? .seconds(60),
            clock: environment.clock,
            context: ReceivingContext(of: operation)
        )
        return UpgradingTransport(transport, settings) { [self] core in keep(core) }
    }

    /// Keeps the connection of a handshake that has succeeded, as a transfer of its own.
    private func keep(_ core: SocketCore) {
        let isWanted = operation.transition(.transferBegins) == .send
        core.open { [operation] in if isWanted { operation.advance(.transferEnded) } }
        if operation.configuration.options.deadline == nil { operation.endDeadline() }
        let former = operation.upgraded.withLock { upgraded in
            defer { if isWanted { upgraded = core } }
            return isWanted ? upgraded : core
        }
        former?.cancel(RequestError(.cancelled, phase: .receiving))
        // If the operation got its result in the meantime, there was no connection to close yet.
        if isWanted, operation.core.withLock({ $0.result != nil }) { endUse() }
    }

    func conclude(_ response: RawResponse, of sent: HTTPRequest) async throws(RunFailure) {
        guard response.status == .switchingProtocols, let core = operation.upgraded.withLock({ $0 }),
            let request = operation.request
        else {
            let reason = "the response opens no WebSocket"
            let error = RequestError(.badResponse, phase: .receiving, reason: reason)
            throw RunFailure(error, in: .receiving, response: response.map { $0.data ?? Data() })
        }
        operation.opening.fill((operation, request, WebSocket(response.head, core)))
    }

    /// Closes the socket, which isn't needed any more; `process` gets the error of the operation.
    private func endUse() {
        let error = operation.failure ?? RequestError(.cancelled, phase: .receiving)
        operation.upgraded.withLock { $0 }?.cancel(error)
    }

    // Before the completions: when one is called, nothing is sent any more.
    func willDeliver(_ result: OperationCore.AnyResult?) { endUse() }

    func didDeliver() {
        operation.releaseSource()
        operation.user.cancel()
    }
}
