// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if !canImport(FoundationNetworking)
import Foundation
import Requests

/// A Foundation WebSocket, which exchanges messages rather than bytes.
///
/// To the rest of the library, this class looks like an in-memory server: received messages arrive as server frames,
/// and client frames are sent as messages. All layers above are therefore the same on every platform.
// Sendable: a delegate must inherit from `NSObject`; its state consists of constants and one lock.
final class SessionSocket: NSObject, URLSessionWebSocketDelegate, TransferHandle, @unchecked Sendable {
    private struct State: Sendable {
        var machine = WebSocketMachine(.server)
        var (isOpen, isOver, isCancelled, isPaused) = (false, false, false, false)
        /// Whether a call to receive the next message is pending.
        var isReceiving = false
    }

    private let task: URLSessionWebSocketTask
    private let request: TransportRequest
    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(State())
    /// Yields a value each time that the client has something to send.
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    /// Runs all event handlers one at a time, whatever queue the session uses.
    private let queue = DispatchQueue(label: "Requests.SessionSocket")

    private init(
        _ task: URLSessionWebSocketTask,
        _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        (self.task, self.request, self.receive) = (task, request, receive)
    }

    /// Creates and starts the task of the handshake; a request that can't be sent ends immediately.
    static func start(
        _ request: TransportRequest,
        over transport: any SessionTransport,
        maximumMessageSize: Int,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        do {
            var request = request
            let session = try transport.session(for: &request)
            var urlRequest = try session.urlRequest(for: request)
            // Remove the fields that Foundation adds itself.
            for name in WebSocketHandshake.fieldNames { urlRequest.setValue(nil, forHTTPHeaderField: name.rawValue) }
            let task = session.webSocketTask(with: urlRequest)
            task.maximumMessageSize = maximumMessageSize
            let socket = SessionSocket(task, request, receive)
            task.delegate = socket
            task.resume()
            return socket
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer.shared
        }
    }

    func cancel() {
        state.withLock { $0.isCancelled = true }
        task.cancel()
    }

    func pause() { state.withLock { $0.isPaused = true } }

    func resume() {
        state.withLock { $0.isPaused = false }
        receiveNext()
    }

    private func open(_ head: HTTPResponseHead) {
        // Foundation has checked the reply to its own key, so replace it with the reply to the library's key.
        var headers = head.headers
        headers[WebSocketHandshake.acceptName] =
            WebSocketHandshake.accept(for: request.headers[WebSocketHandshake.keyName] ?? "")
        (headers[.upgrade], headers[.connection]) = ("websocket", "Upgrade")
        state.withLock { $0.isOpen = true }
        receive(.head(HTTPResponseHead(status: .switchingProtocols, headers: headers, url: request.url)))
        request.upgrade?.whenReadable { [wakeUps] in wakeUps.continuation.yield() }
        wakeUps.continuation.yield()
        Task { for await _ in wakeUps.stream { await send() } }
        receiveNext()
    }

    /// Receives one message; the peer must wait while no call to receive is pending.
    private func receiveNext() {
        let shouldReceive = state.withLock { state in
            let shouldReceive = state.isOpen && !state.isPaused && !state.isReceiving
            if shouldReceive { state.isReceiving = true }
            return shouldReceive
        }
        guard shouldReceive else { return }
        task.receive { [self] result in
            // A failure is reported when the task completes.
            guard case .success(let message) = result else { return }
            switch message {
            case .string(let text): sendAsServer { $0.send(.text(text)) }
            case .data(let data): sendAsServer { $0.send(.data(data)) }
            @unknown default: break
            }
            state.withLock { $0.isReceiving = false }
            receiveNext()
        }
    }

    /// Lets the in-memory server send something, and reports its bytes as received.
    private func sendAsServer(_ change: @escaping @Sendable (inout WebSocketMachine) -> Void) {
        queue.async { [self] in
            let data = state.withLock { state in
                change(&state.machine)
                return state.isOver ? Data() : state.machine.takeAll()
            }
            if !data.isEmpty { receive(.data(data)) }
        }
    }

    /// Sends the pending bytes of the client, one message after the other.
    private func send() async {
        var bytes = Data(count: 64 * 1024)
        while case let count = bytes.withUnsafeMutableBytes({ request.upgrade?.take(into: $0) ?? 0 }), count > 0 {
            let chunk = bytes.prefix(count)
            let (events, replies) = state.withLock { ($0.machine.receive(chunk), $0.machine.takeAll()) }
            for event in events {
                switch event {
                case .message(.text(let text)): try? await task.send(.string(text))
                case .message(.data(let data)): try? await task.send(.data(data))
                case .ping:
                    // Pass on the in-memory server's pong only once the peer has sent its own.
                    task.sendPing { [self] error in
                        guard error == nil else { return }
                        queue.async { [self] in if state.withLock({ !$0.isOver }) { receive(.data(replies)) } }
                    }
                case .closed(let code, let reason):
                    let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue))
                    task.cancel(with: code ?? .normalClosure, reason: Data(reason.utf8))
                case .pong, .failed: break
                }
            }
        }
    }

    private func end(_ error: (any Error)?) {
        wakeUps.continuation.finish()
        let (wasOpen, isCancelled) = state.withLock { state in
            state.isOver = true
            return (state.isOpen, state.isCancelled)
        }
        let phase: RequestError.Phase = wasOpen ? .receiving : .sending
        if isCancelled { return receive(.end(RequestError(.cancelled, phase: phase))) }
        if !wasOpen, let response = task.response as? HTTPURLResponse {
            receive(.head(HTTPResponseHead(response)))
            return receive(.end(nil))
        }
        // A session that doesn't trust the server cancels the task itself.
        let isUntrusted = (error as? URLError)?.code == .cancelled && !wasOpen
        if isUntrusted {
            let (reason, cause) = ("the server's certificate is invalid", URLError(.serverCertificateUntrusted))
            return receive(.end(RequestError(.untrusted, phase: phase, reason: reason, underlying: cause)))
        }
        receive(.end(error.map { RequestError(sessionError: $0, phase: phase) }))
    }

    // MARK: Delegate

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didOpenWithProtocol protocol: String?
    ) {
        let head = (webSocketTask.response as? HTTPURLResponse).map(HTTPResponseHead.init)
        queue.async { [self] in open(head ?? HTTPResponseHead(status: .switchingProtocols)) }
    }

    func urlSession(
        _ session: URLSession,
        webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        let code = WebSocket.CloseCode(rawValue: UInt16(clamping: closeCode.rawValue))
        sendAsServer { machine in
            // Use a new machine, because the previous machine has replied to the client's close frame itself, and can
            // close only once.
            machine = WebSocketMachine(.server)
            machine.close(code, reason: String(decoding: reason ?? Data(), as: UTF8.self))
        }
    }

    /// Rejects every redirect, because the library follows redirects itself.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        queue.async { [self] in end(error) }
    }
}
#endif
