// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An open WebSocket (RFC 6455), which sends and receives messages until one side closes it.
///
/// ```swift
/// let socket = try await client.webSocket("rooms/\(room)", protocols: ["chat.v2"])
/// try await socket.send("hello")
/// for try await message in socket.messages { print(message.text ?? "") }
/// print(socket.closeCode ?? .abnormalClosure)
/// ```
///
/// Pings are answered automatically. A peer that sends nothing for a third of the request's timeout is pinged. If it
/// sends nothing for the entire timeout, the socket fails with the code `timedOut`.
///
/// All members are thread-safe. Releasing the last reference closes the socket with the code 1001.
public final class WebSocket: Sendable {
    /// The head of the response that opened the socket.
    public let head: HTTPResponseHead
    let core: SocketCore

    init(_ head: HTTPResponseHead, _ core: SocketCore) {
        (self.head, self.core) = (head, core)
    }

    deinit {
        core.cancel(RequestError(.cancelled, phase: .receiving, reason: "the WebSocket was deallocated"))
    }

    /// Returns another reference to the same socket; releasing either of them closes it.
    func newReference() -> WebSocket { WebSocket(head, core) }

    /// The protocol that the server selected from the offered protocols; `nil` if it selected none.
    public var negotiatedProtocol: String? { head[WebSocketHandshake.protocolName] }

    /// The code with which the socket was closed; `nil` until the peer has closed it or the connection is lost.
    ///
    /// The code is that of the peer, or ``WebSocket/CloseCode/noStatusReceived`` if the peer sent none. After a
    /// protocol violation, it is the code that was sent to the peer. If the connection ended without a closing
    /// handshake, it is ``WebSocket/CloseCode/abnormalClosure``.
    public var closeCode: WebSocket.CloseCode? { core.closing?.code }

    /// The human-readable reason that came with the ``closeCode``; `nil` while there is no code.
    public var closeReason: String? { core.closing?.reason }

    /// The messages from the peer.
    ///
    /// The sequence ends when either side closes the socket, whatever the code. It fails if the connection is lost, and
    /// if the peer violates the protocol (code `badResponse`) or sends nothing for the timeout (code `timedOut`).
    /// Messages are buffered until they are consumed; if there are too many, the peer must wait. Only one task can wait
    /// at a time. A later loop continues where the previous loop stopped, and ending a loop doesn't close the socket.
    public var messages: Messages { Messages(socket: self) }

    /// Sends a text message.
    ///
    /// - Throws: The same errors as ``send(_:)-(WebSocket.Message)``.
    public func send(_ text: String) async throws(RequestError) { try await core.send(.text(text)) }

    /// Sends a binary message.
    ///
    /// - Throws: The same errors as ``send(_:)-(WebSocket.Message)``.
    public func send(_ data: Data) async throws(RequestError) { try await core.send(.data(data)) }

    /// Sends a message.
    ///
    /// The method returns when the message fits into the buffer of the socket, so it waits while the peer doesn't read.
    /// The messages of a task, and those of waiting tasks, are sent in order.
    ///
    /// - Throws: A `RequestError` with the code `closed` if the socket is closed, or the error of the socket if it has
    ///   failed. If the task is cancelled while it waits, the code is `cancelled`, and nothing is sent.
    public func send(_ message: WebSocket.Message) async throws(RequestError) { try await core.send(message) }

    /// Sends a ping, and waits for the pong.
    ///
    /// The socket pings the peer automatically. Use this method to measure the round-trip time, or to check the peer
    /// immediately.
    ///
    /// - Throws: A `RequestError`, like ``send(_:)-(WebSocket.Message)``.
    public func ping() async throws(RequestError) { try await core.ping() }

    /// Closes the socket, and waits until the connection has ended.
    ///
    /// Messages that were sent earlier still reach the peer. Messages that the peer sends later are dropped. If the
    /// peer hasn't read everything and replied within five seconds, it is disconnected. You may call this method
    /// repeatedly; the first call counts.
    ///
    /// - Parameters:
    ///   - code: The close code; ``WebSocket/CloseCode/normalClosure`` by default. A code from 1000 to 1003, 1007 to
    ///     1014 or 3000 to 4999 is sent; any other code is omitted.
    ///   - reason: The human-readable reason, truncated to 123 bytes of UTF-8; none by default.
    public func close(code: WebSocket.CloseCode = .normalClosure, reason: String = "") async {
        await core.close(code, reason: reason)
    }

    /// The messages of a ``WebSocket``; the sequence keeps the socket open.
    public struct Messages: AsyncSequence, Sendable {
        /// A message.
        public typealias Element = WebSocket.Message
        fileprivate let socket: WebSocket

        /// Creates an iterator, which continues where an earlier iterator stopped.
        public func makeAsyncIterator() -> Iterator { Iterator(socket: socket) }

        /// The iterator of ``WebSocket/Messages``.
        public struct Iterator: AsyncIteratorProtocol {
            /// Any error, although every error that a loop throws is a `RequestError`.
            public typealias Failure = any Error
            fileprivate let socket: WebSocket

            /// Returns the next message; `nil` if the socket was closed.
            ///
            /// - Throws: The error that ended the socket. The code is `cancelled` if the task is cancelled, and
            ///   `alreadyConsumed` if another task is waiting.
            public mutating func next() async throws(RequestError) -> WebSocket.Message? {
                try await socket.core.next()
            }
        }
    }
}
