// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsWebSockets

/// The server's end of a WebSocket, for a script of a ``MockServer``.
///
/// A script runs on the thread of its connection, and its calls block. Frames are sent and received as the protocol
/// requires, and pings are answered. ``send(bytes:)`` sends anything else: half a frame, one with a reserved bit,
/// garbage.
public final class MockWebSocket {
    /// The client has disconnected, or the server was stopped.
    public struct Disconnected: DescribedError, Sendable {
        /// The error in a sentence.
        public var description: String { "the client has disconnected, or the server was stopped" }
    }

    /// The request of the handshake.
    public let request: ReceivedRequest
    /// The code with which the client has closed the socket; `nil` if it hasn't.
    public private(set) var closeCode: WebSocket.CloseCode?
    /// The reason that came with the ``closeCode``.
    public private(set) var closeReason: String?
    /// The rule of the protocol that the client has violated; `nil` if it has violated none.
    public private(set) var violation: String?
    /// The number of answers to pings that were received.
    public private(set) var pongCount = 0
    /// Called with the content of each ping of the client, before it is answered; `nil` by default.
    public var onPing: ((Data) -> Void)?
    private var connection: Connection
    private var machine = WebSocketMachine(.server)
    private var messages: [WebSocket.Message] = []
    private var isConnected = true

    init(_ request: ReceivedRequest, _ connection: Connection) {
        (self.request, self.connection) = (request, connection)
    }

    // MARK: Receive

    /// Waits for the next message; `nil` if the client has closed the socket, or disconnected.
    ///
    /// The wait has no limit, since a client may be silent for as long as it likes. It ends when the client disconnects,
    /// or when the server is stopped.
    public func receive() -> WebSocket.Message? {
        while messages.isEmpty, closeCode == nil, isConnected { receiveBytes() }
        return messages.isEmpty ? nil : messages.removeFirst()
    }

    /// Waits until the client has closed the socket, or disconnected, and drops its messages.
    ///
    /// The wait has no limit, as that of ``receive()``.
    public func awaitClose() {
        while receive() != nil {}
    }

    /// Sends each message back, until the client closes the socket.
    ///
    /// - Throws: ``Disconnected``.
    public func echo() throws {
        while let message = receive() { try send(message) }
    }

    private func receiveBytes() {
        guard let data = connection.receiveData() else { return isConnected = false }
        for event in machine.receive(data) {
            switch event {
            case .message(let message): messages.append(message)
            case .ping(let payload): onPing?(payload)
            case .pong: pongCount += 1
            case .closed(let code, let reason): (closeCode, closeReason) = (code, reason)
            case .failed(let code, let reason): (closeCode, violation) = (code, reason)
            }
        }
        try? flush()
    }

    // MARK: Send

    /// Sends a text.
    ///
    /// - Throws: ``Disconnected``.
    public func send(_ text: String) throws { try send(.text(text)) }

    /// Sends a message.
    ///
    /// - Throws: ``Disconnected``.
    public func send(_ message: WebSocket.Message) throws {
        machine.send(message)
        try flush()
    }

    /// Sends a ping, which the client has to answer.
    ///
    /// - Throws: ``Disconnected``.
    public func ping(_ payload: Data = Data()) throws {
        machine.ping(payload)
        try flush()
    }

    /// Sends bytes of any kind, as they are.
    ///
    /// - Throws: ``Disconnected``.
    public func send(bytes: Data) throws {
        // A client that reads all leaves nothing to wait for.
        guard isConnected, !connection.isStopped, connection.send(bytes) else {
            isConnected = false
            throw Disconnected()
        }
    }

    private func flush() throws {
        let bytes = machine.takeAll()
        if !bytes.isEmpty { try send(bytes: bytes) }
    }

    // MARK: Wait and end

    /// Waits until a gate is open, without reading.
    ///
    /// Meanwhile, the client can't send any more once the buffers on the way are full.
    ///
    /// - Throws: ``Disconnected``.
    public func wait(for gate: Gate) throws {
        guard connection.awaitOpening(of: gate) else { throw Disconnected() }
    }

    /// Reads and drops everything, without an answer, until the client disconnects.
    public func ignore() {
        while isConnected { isConnected = connection.receiveData() != nil }
    }

    /// Closes the socket, and waits for the answer of the client; does nothing if it is closed.
    ///
    /// It is called after a script that hasn't closed the socket.
    public func close(code: WebSocket.CloseCode = .normalClosure, reason: String = "") {
        guard isConnected else { return }
        machine.close(code, reason: reason)
        guard (try? flush()) != nil else { return }
        while closeCode == nil, isConnected { receiveBytes() }
        isConnected = false
    }

    /// Ends the connection with a FIN, without a closing handshake.
    public func disconnect() {
        isConnected = false
    }

    /// Ends the connection with a RST.
    public func reset() {
        isConnected = false
        connection.socket.resetOnDisposal()
    }
}

extension StubResponse {
    /// A WebSocket: the answer to its handshake, and a script for the time after it.
    ///
    /// ```swift
    /// server.route(.get, "/echo", .webSocket { socket in try socket.echo() })
    /// ```
    ///
    /// A request that isn't a handshake is answered with 426. ``headers`` are added to the answer. When the script
    /// returns, the socket is closed with the code 1000, unless it was closed before; an error that it throws ends the
    /// connection.
    ///
    /// For a ``MockServer``, as ``script(_:keepsAlive:)`` is.
    ///
    /// - Parameters:
    ///   - name: The protocol that the server chooses; `nil`, the default, for none.
    ///   - script: The script, on the thread of its connection.
    /// - Returns: The response.
    public static func webSocket(
        protocol name: String? = nil,
        _ script: @escaping @Sendable (MockWebSocket) throws -> Void
    ) -> StubResponse {
        var response = StubResponse(status: .switchingProtocols, content: .socket(script))
        if let name { response.headers[WebSocketHandshake.protocolName] = name }
        return response
    }
}

extension Connection {
    /// Answers a handshake, and runs the script of the socket.
    mutating func serve(_ response: StubResponse, _ script: (MockWebSocket) throws -> Void, to request: ReceivedRequest)
    {
        let isUpgrade = request.headers[.upgrade]?.equalsIgnoringASCIICase("websocket") == true
        guard let key = request.headers[WebSocketHandshake.keyName], isUpgrade else {
            let refusal = StubResponse.text("a WebSocket is here", status: .upgradeRequired).header(
                .upgrade,
                "websocket"
            )
            _ = perform(refusal.steps(for: request, isLast: true))
            return finish()
        }
        var headers: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
        headers[WebSocketHandshake.acceptName] = WebSocketHandshake.accept(for: key)
        headers.merge(response.headers)
        guard send(headers.head(of: .switchingProtocols)) else { return }
        let socket = MockWebSocket(request, self)
        guard (try? script(socket)) != nil else { return }
        socket.close()
    }
}
