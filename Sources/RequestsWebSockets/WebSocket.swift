// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An open WebSocket (RFC 6455): messages in both directions, until one side closes it.
///
/// ```swift
/// let socket = try await client.webSocket("rooms/\(room)", protocols: ["chat.v2"])
/// try await socket.send("hello")
/// for try await message in socket.messages { print(message.text ?? "") }
/// print(socket.closeCode ?? .abnormalClosure)
/// ```
///
/// Pings are answered. A peer that sends nothing for a third of the request's timeout is pinged, and one that sends
/// nothing for the whole of it ends the socket with an error of code `timedOut`.
///
/// All members are safe from any thread. Releasing the last reference closes the socket with the code 1001.
public final class WebSocket: Sendable {
    /// The head of the response with which the socket was opened.
    public let head: HTTPResponseHead
    let core: SocketCore

    init(_ head: HTTPResponseHead, _ core: SocketCore) {
        (self.head, self.core) = (head, core)
    }

    deinit {
        core.cancel(RequestError(.cancelled, phase: .receiving, reason: "the WebSocket was released"))
    }

    /// Returns another reference to the same socket: the first of them that is deallocated closes it.
    func newReference() -> WebSocket { WebSocket(head, core) }

    /// The protocol that the server has chosen from those that were offered; `nil` if it has chosen none.
    public var negotiatedProtocol: String? { head[WebSocketHandshake.protocolName] }

    /// The code with which the socket was closed; `nil` until the peer has closed it or the connection is lost.
    ///
    /// It is the code of the peer, or ``WebSocket/CloseCode/noStatusReceived`` if the peer gave none. After a violation
    /// of the protocol, it is the one that was sent. A connection that ended without a closing handshake has
    /// ``WebSocket/CloseCode/abnormalClosure``.
    public var closeCode: WebSocket.CloseCode? { core.closing?.code }

    /// The human-readable reason that came with the ``closeCode``; `nil` as long as there is no code.
    public var closeReason: String? { core.closing?.reason }

    /// The messages of the peer.
    ///
    /// They end when either side closes the socket, whatever the code. They fail if the connection is lost, and if the
    /// peer breaks the protocol (code `badResponse`) or sends nothing for the timeout (code `timedOut`). Messages that
    /// aren't consumed are buffered, and the peer has to wait if there are too many. Only one task can wait at a time;
    /// a later loop continues where the last one stopped, and ending a loop doesn't close the socket.
    public var messages: Messages { Messages(socket: self) }

    /// Sends a text.
    ///
    /// - Throws: What ``send(_:)-(WebSocket.Message)`` throws.
    public func send(_ text: String) async throws(RequestError) { try await core.send(.text(text)) }

    /// Sends bytes.
    ///
    /// - Throws: What ``send(_:)-(WebSocket.Message)`` throws.
    public func send(_ data: Data) async throws(RequestError) { try await core.send(.data(data)) }

    /// Sends a message.
    ///
    /// It returns when there is room for the message in the buffer of the socket, and so waits while the peer doesn't
    /// read. Messages of one task, and those of waiting tasks, are sent in their order.
    ///
    /// - Throws: A `RequestError` of code `closed` if the socket is closed, the error of the socket if it has failed,
    ///   and one of code `cancelled` if the task is cancelled while it waits: then nothing is sent.
    public func send(_ message: WebSocket.Message) async throws(RequestError) { try await core.send(message) }

    /// Sends a ping, and waits for the answer.
    ///
    /// The socket pings by itself: use this to measure the round-trip time, or to check the peer at once.
    ///
    /// - Throws: A `RequestError`, as ``send(_:)-(WebSocket.Message)`` does.
    public func ping() async throws(RequestError) { try await core.ping() }

    /// Closes the socket, and waits for the end of the connection.
    ///
    /// Messages that were sent before still reach the peer. Messages of the peer that come later are dropped. A peer
    /// that hasn't read everything and answered within five seconds is disconnected. May be called repeatedly; the
    /// first call counts.
    ///
    /// - Parameters:
    ///   - code: The reason; by default ``WebSocket/CloseCode/normalClosure``. A code from 1000 to 1003, 1007 to 1014
    ///     or 3000 to 4999 is sent; any other is left out.
    ///   - reason: The human-readable reason, truncated to 123 bytes of UTF-8; none by default.
    public func close(code: WebSocket.CloseCode = .normalClosure, reason: String = "") async {
        await core.close(code, reason: reason)
    }

    /// The messages of a ``WebSocket``, which they keep open.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = WebSocket.Message
        fileprivate let socket: WebSocket

        /// Begins to consume the messages, or continues.
        public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }

        /// Consumes the messages of a ``WebSocket``.
        public struct Iterator: AsyncIteratorProtocol {
            /// Any error, though each error that a loop throws is a `RequestError`.
            public typealias Failure = any Error
            fileprivate let socket: WebSocket

            /// The next message; `nil` if the socket was closed.
            ///
            /// - Throws: The error that ended the socket; one of code `cancelled` if the task is cancelled, and of code
            ///   `alreadyConsumed` if another task waits.
            public mutating func next() async throws(RequestError) -> WebSocket.Message? {
                try await socket.core.next()
            }
        }
    }
}
