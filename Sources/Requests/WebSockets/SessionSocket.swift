// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if !canImport(FoundationNetworking)
import Foundation

/// Upgrades connections over a session of Foundation, whose own sockets exchange messages rather than bytes.
///
/// To the library, such a socket is a server in memory: its messages arrive as the frames of a server, and the frames of
/// the client become its messages. So everything above is the same on every platform.
final class SessionSocketTransport: HTTPTransport {
    private let base: any SessionTransport
    private let maximumMessageSize: Int

    init(_ base: any SessionTransport, maximumMessageSize: Int) {
        (self.base, self.maximumMessageSize) = (base, maximumMessageSize)
    }

    var capabilities: TransportCapabilities { base.capabilities.union(.upgrades) }

    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        do {
            var request = request
            let task = try base.session(for: &request).webSocketTask(with: request.socketRequest)
            task.maximumMessageSize = maximumMessageSize
            let socket = SessionSocket(task, request, receive)
            task.delegate = socket
            task.resume()
            return socket
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer()
        }
    }
}

extension TransportRequest {
    /// The handshake, without the fields that Foundation makes itself.
    fileprivate var socketRequest: URLRequest {
        var made = URLRequest(url: url)
        made.allowsCellularAccess = allowsCellularAccess
        made.httpShouldHandleCookies = usesCookies && !headers.contains(.cookie)
        if let timeout { made.timeoutInterval = timeout.clampedSeconds }
        let own: [HTTPField.Name] = [.connection, .upgrade, WebSocketHandshake.keyName, "Sec-WebSocket-Version"]
        for field in headers where !own.contains(field.name) {
            made.setValue(headers[field.name], forHTTPHeaderField: field.name.rawValue)
        }
        return made
    }
}

/// One socket of Foundation.
// Sendable: a delegate has to inherit from NSObject; its state is constants and one lock.
private final class SessionSocket: NSObject, URLSessionWebSocketDelegate, TransferHandle, @unchecked Sendable {
    private struct State: Sendable {
        var machine = WebSocketMachine(.server)
        var isOpen = false
        var isOver = false
        var isCancelled = false
        var isPaused = false
        /// Whether a message of the peer is awaited.
        var isReceiving = false
        /// The number of messages on their way.
        var sending = 0
    }

    private let task: URLSessionWebSocketTask
    private let request: TransportRequest
    private let receive: @Sendable (TransferEvent) -> Void
    private let state = Locked(State())
    /// The events come here, one at a time, whatever the queue of the session is.
    private let queue = DispatchQueue(label: "Requests.SessionSocket")

    init(
        _ task: URLSessionWebSocketTask,
        _ request: TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        (self.task, self.request, self.receive) = (task, request, receive)
    }

    // MARK: From any thread

    func cancel() {
        state.withLock { $0.isCancelled = true }
        task.cancel()
    }

    func pause() { state.withLock { $0.isPaused = true } }

    func resume() {
        state.withLock { $0.isPaused = false }
        queue.async { [self] in receiveNext() }
    }

    // MARK: On the queue

    private func open(_ head: HTTPResponseHead) {
        // Foundation has checked the answer to its own key.
        var headers = head.headers
        headers[WebSocketHandshake.acceptName] =
            WebSocketHandshake.accept(for: request.headers[WebSocketHandshake.keyName] ?? "")
        (headers[.upgrade], headers[.connection]) = ("websocket", "Upgrade")
        state.withLock { $0.isOpen = true }
        receive(.head(HTTPResponseHead(status: .switchingProtocols, headers: headers, url: request.url)))
        request.upgrade?.whenReadable { [weak self] in
            guard let self else { return }
            queue.async { self.sendNext() }
        }
        sendNext()
        receiveNext()
    }

    /// Awaits one message: the peer has to wait as long as none is awaited.
    private func receiveNext() {
        let begins = state.withLock { state in
            defer { state.isReceiving = state.isOpen && !state.isPaused }
            return state.isOpen && !state.isPaused && !state.isReceiving
        }
        guard begins else { return }
        task.receive { [self] result in
            // A failure is reported with the end of the task.
            guard case .success(let message) = result else { return }
            queue.async { [self] in
                state.withLock { $0.isReceiving = false }
                pass { machine in
                    switch message {
                    case .string(let text): machine.send(.text(text))
                    case .data(let data): machine.send(.data(data))
                    @unknown default: break
                    }
                }
                receiveNext()
            }
        }
    }

    /// Reports what the server in memory sends.
    private func pass(_ change: @Sendable (inout WebSocketMachine) -> Void) {
        let data = state.withLock { state in
            change(&state.machine)
            return state.isOver ? Data() : state.machine.takeAll()
        }
        if !data.isEmpty { receive(.data(data)) }
    }

    /// Takes frames of the client, once the messages before are sent.
    private func sendNext() {
        guard state.withLock({ $0.sending == 0 && $0.isOpen }) else { return }
        var bytes = Data(count: 64 * 1024)
        let count = bytes.withUnsafeMutableBytes { request.upgrade?.take(into: $0) ?? 0 }
        guard count > 0 else { return }
        let (events, pong) = state.withLock { ($0.machine.receive(bytes.prefix(count)), $0.machine.takeAll()) }
        state.withLock { $0.sending += 1 }
        for event in events {
            switch event {
            case .message(let message): send(message)
            case .closed(let code, let reason): close(code, reason)
            case .pong, .failed: break
            }
        }
        if !pong.isEmpty {
            task.sendPing { [self] error in
                guard error == nil else { return }
                queue.async { [self] in if state.withLock({ !$0.isOver }) { receive(.data(pong)) } }
            }
        }
        didSend()
    }

    private func send(_ message: WebSocketMessage) {
        state.withLock { $0.sending += 1 }
        let message: URLSessionWebSocketTask.Message =
            switch message {
            case .text(let text): .string(text)
            case .data(let data): .data(data)
            }
        task.send(message) { [self] _ in queue.async { [self] in didSend() } }
    }

    private func didSend() {
        let isLast = state.withLock { state in
            state.sending -= 1
            return state.sending == 0
        }
        if isLast { sendNext() }
    }

    private func close(_ code: WebSocketCloseCode, _ reason: String) {
        let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue)) ?? .normalClosure
        task.cancel(with: code, reason: Data(reason.utf8))
    }

    private func end(_ error: (any Error)?) {
        let (wasOpen, isCancelled) = state.withLock { state in
            state.isOver = true
            return (state.isOpen, state.isCancelled)
        }
        if isCancelled { return receive(.end(RequestError(.cancelled, phase: wasOpen ? .receiving : .sending))) }
        if !wasOpen, let response = task.response as? HTTPURLResponse {
            receive(.head(HTTPResponseHead(response)))
            return receive(.end(nil))
        }
        // A session that doesn't trust a server cancels the task itself.
        if (error as? URLError)?.code == .cancelled, !wasOpen {
            return receive(.end(RequestError(.badCertificate, phase: .sending)))
        }
        receive(.end(error.map { RequestError(sessionError: $0, phase: wasOpen ? .receiving : .sending) }))
    }

    // MARK: The delegate

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
        let code = WebSocketCloseCode(rawValue: UInt16(clamping: closeCode.rawValue))
        let reason = reason.map { String(decoding: $0, as: UTF8.self) } ?? ""
        queue.async { [self] in pass { $0.close(code, reason: reason) } }
    }

    /// Refuses every redirect: the library follows them itself.
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
