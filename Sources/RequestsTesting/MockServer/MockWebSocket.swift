// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsWebSockets

/// The server side of a WebSocket, for use in a script of a ``MockServer``.
///
/// A script runs on the thread of its connection, and its calls block. Frames are sent and received as the protocol
/// requires, and pings are answered automatically. ``send(bytes:)`` can send anything else: half a frame, a frame with
/// a reserved bit, or garbage.
public final class MockWebSocket {
    /// An error thrown because the client has disconnected, or the server was stopped.
    public struct Disconnected: DescribedError, Sendable {
        /// The error in a sentence.
        public var description: String { "the client has disconnected, or the server was stopped" }
    }

    /// The request of the handshake.
    public let request: ReceivedRequest
    /// The code with which the client closed the socket; `nil` if it hasn't.
    public private(set) var closeCode: WebSocket.CloseCode?
    /// The reason that the client sent with the ``closeCode``.
    public private(set) var closeReason: String?
    /// The protocol rule that the client violated; `nil` if it hasn't violated any.
    public private(set) var violation: String?
    /// The number of pongs that were received.
    public private(set) var pongCount = 0
    /// Called with the content of each ping of the client, before the pong is sent; `nil` by default.
    public var onPing: ((Data) -> Void)?
    private var connection: Connection
    private var machine = WebSocketMachine(.server)
    private var messages: [WebSocket.Message] = []
    private var isConnected = true

    init(_ request: ReceivedRequest, _ connection: Connection) {
        (self.request, self.connection) = (request, connection)
    }

    // MARK: Receive

    /// Waits for the next message; returns `nil` if the client closes the socket or disconnects.
    ///
    /// The wait has no timeout, because a client may be idle for any length of time. It ends when the client
    /// disconnects, or when the server is stopped.
    public func receive() -> WebSocket.Message? {
        while messages.isEmpty, closeCode == nil, isConnected { receiveBytes() }
        return messages.isEmpty ? nil : messages.removeFirst()
    }

    /// Waits until the client closes the socket or disconnects, and discards its messages.
    ///
    /// Like ``receive()``, the method has no timeout.
    public func awaitClose() {
        while receive() != nil {}
    }

    /// Echoes each message until the client closes the socket.
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

    /// Sends a text message.
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

    /// Sends a ping, which the client must answer with a pong.
    ///
    /// - Throws: ``Disconnected``.
    public func ping(_ payload: Data = Data()) throws {
        machine.ping(payload)
        try flush()
    }

    /// Sends arbitrary bytes verbatim.
    ///
    /// - Throws: ``Disconnected``.
    public func send(bytes: Data) throws {
        // If a client reads everything, sending never waits, so only this check reveals that the server was stopped.
        guard isConnected, !connection.isStopped, connection.send(bytes) else {
            isConnected = false
            throw Disconnected()
        }
    }

    private func flush() throws {
        let bytes = machine.takeAll()
        if !bytes.isEmpty { try send(bytes: bytes) }
    }

    // MARK: Wait and close

    /// Waits until a gate is open, without reading.
    ///
    /// During the wait, the client can no longer send once all buffers in between are full.
    ///
    /// - Throws: ``Disconnected``.
    public func wait(for gate: Gate) throws {
        guard connection.awaitOpening(of: gate) else { throw Disconnected() }
    }

    /// Reads and discards everything, without responding, until the client disconnects.
    public func ignore() {
        while isConnected { isConnected = connection.receiveData() != nil }
    }

    /// Closes the socket, and waits for the client's close frame; does nothing if the socket is already closed.
    ///
    /// The server calls this method after a script that hasn't closed the socket.
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
    /// Creates a response that accepts a WebSocket handshake, and then runs a script.
    ///
    /// ```swift
    /// server.route(.get, "/echo", .webSocket { socket in try socket.echo() })
    /// ```
    ///
    /// A request that isn't a handshake gets a 426. ``headers`` are added to the handshake response. When the script
    /// returns, the socket is closed with the code 1000, unless it is already closed. If the script throws an error,
    /// the connection ends without a close frame.
    ///
    /// Requires a ``MockServer``, like ``script(_:keepsAlive:)``.
    ///
    /// - Parameters:
    ///   - name: The subprotocol that the server selects; `nil`, the default, for none.
    ///   - script: The script, which runs on the thread of its connection.
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
    /// Responds to a handshake, and runs the script of the WebSocket.
    mutating func serve(_ response: StubResponse, _ script: (MockWebSocket) throws -> Void, to request: ReceivedRequest)
    {
        let isUpgrade = request.headers[.upgrade]?.equalsIgnoringASCIICase("websocket") == true
        guard let key = request.headers[WebSocketHandshake.keyName], isUpgrade else {
            let refusal = StubResponse.text(
                "this endpoint accepts only WebSocket connections",
                status: .upgradeRequired
            ).header(
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
