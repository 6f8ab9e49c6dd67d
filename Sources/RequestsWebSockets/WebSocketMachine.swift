// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One end of a WebSocket (RFC 6455), which converts bytes to messages and messages to bytes, without I/O.
///
/// Extensions aren't supported, so a reserved bit in a frame is a protocol violation.
package struct WebSocketMachine: Sendable {
    /// The side of the connection: a client masks its frames, a server doesn't.
    package enum Role: Sendable {
        case client, server
    }

    /// An action of the peer.
    package enum Event: Sendable, Hashable {
        /// The peer sent a message.
        case message(WebSocket.Message)
        /// The peer sent a ping; the pong is pending unless the socket is being closed.
        case ping(Data)
        /// The peer sent a pong.
        case pong(Data)
        /// The peer closed the socket: it sends nothing more, and the reply is pending.
        case closed(WebSocket.CloseCode, reason: String)
        /// The peer violated the protocol: nothing more is read, and a close frame with the code is pending.
        case failed(WebSocket.CloseCode, reason: String)
    }

    private struct Violation: Error {
        let reason: String
        var code = WebSocket.CloseCode.protocolError
    }

    /// The header of the frame whose content is arriving, and the progress.
    private struct Frame {
        var opcode: WebSocketFrame.Opcode
        var isFinal: Bool
        var count: Int
        var mask: UInt32?
        /// The number of content bytes received so far.
        var position = 0
    }

    private let role: Role
    private let maximumMessageSize: Int
    private var output: WebSocketOutput
    /// The header of a frame, until it is complete.
    private var head: [UInt8] = []
    private var frame: Frame?
    /// The content of a control frame.
    private var controlPayload = Data()
    /// The content of a message.
    private var message = Data()
    /// The type of the message whose fragments are arriving.
    private var messageOpcode: WebSocketFrame.Opcode?
    /// Whether a close frame was sent, or is pending.
    package private(set) var isClosing = false
    /// Whether further bytes are ignored.
    package private(set) var isOver = false

    /// Creates one end of a socket after its handshake.
    ///
    /// - Parameters:
    ///   - role: The side of the connection.
    ///   - maximumMessageSize: The number of bytes above which a message, or a frame of a message, is rejected.
    package init(_ role: Role, maximumMessageSize: Int = .max) {
        (self.role, self.maximumMessageSize) = (role, maximumMessageSize)
        output = WebSocketOutput(masksFrames: role == .client)
    }

    // MARK: Send

    /// The number of pending bytes.
    package var pendingCount: Int { output.count }

    /// Moves pending bytes into a buffer, and returns their number.
    package mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { output.take(into: buffer) }

    /// Removes and returns all pending bytes.
    package mutating func takeAll() -> Data {
        var bytes = Data(count: pendingCount)
        _ = bytes.withUnsafeMutableBytes { take(into: $0) }
        return pendingCount == 0 ? bytes : bytes + takeAll()
    }

    /// Sends a message, unless a close frame was sent.
    package mutating func send(_ message: WebSocket.Message) {
        guard !isClosing else { return }
        switch message {
        case .text(let text): output.append(.text, Data(text.utf8))
        case .data(let data): output.append(.binary, data)
        }
    }

    /// Sends a ping with at most 125 bytes, unless a close frame was sent.
    package mutating func ping(_ payload: Data) {
        if !isClosing { output.append(.ping, payload.prefix(125)) }
    }

    /// Begins the closing handshake or replies to the peer's close frame; truncates the reason to the size of a control
    /// frame.
    ///
    /// - Parameters:
    ///   - code: The close code; a code that must not be sent is omitted.
    ///   - reason: The human-readable reason.
    package mutating func close(_ code: WebSocket.CloseCode, reason: String = "") {
        guard !isClosing else { return }
        isClosing = true
        guard code.isSendable else { return output.appendClose(Data()) }
        var text = Substring(reason)
        while text.utf8.count > 123 { text.removeLast() }
        output.appendClose(Data([UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + text.utf8))
    }

    // MARK: Receive

    /// Parses bytes of the peer, and returns the resulting events.
    package mutating func receive(_ bytes: Data) -> [Event] {
        var events: [Event] = []
        bytes.withUnsafeBytes { bytes in
            do throws(Violation) {
                try receive(bytes, &events)
            } catch {
                (isOver, message, controlPayload) = (true, Data(), Data())
                close(error.code, reason: error.reason)
                events.append(.failed(error.code, reason: error.reason))
            }
        }
        return events
    }

    private mutating func receive(_ bytes: UnsafeRawBufferPointer, _ events: inout [Event]) throws(Violation) {
        var rest = bytes[...]
        while !isOver {
            if var frame {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(frame.count - frame.position))
                rest = rest.dropFirst(part.count)
                if frame.opcode.isControl {
                    Self.append(part, of: frame, to: &controlPayload)
                } else {
                    Self.append(part, of: frame, to: &message)
                }
                frame.position += part.count
                self.frame = frame
                guard frame.position == frame.count else { return }
                self.frame = nil
                if let event = try end(frame) { events.append(event) }
            } else {
                guard let byte = rest.popFirst() else { return }
                head.append(byte)
                frame = try nextFrame()
            }
        }
    }

    /// Returns a frame once its header is complete; the first two bytes are checked as soon as they arrive.
    private mutating func nextFrame() throws(Violation) -> Frame? {
        guard head.count >= 2, let opcode = WebSocketFrame.Opcode(rawValue: head[0] & 0x0F) else {
            guard [0, 1, 2, 8, 9, 10].contains(head[0] & 0x0F) else { throw Violation(reason: "the opcode is unknown") }
            return nil
        }
        let (isFinal, isMasked, shortLength) = (head[0] & 0x80 != 0, head[1] & 0x80 != 0, Int(head[1] & 0x7F))
        if head.count == 2 { try check(opcode, isFinal: isFinal, isMasked: isMasked, shortLength) }
        let lengthSize = shortLength == 126 ? 2 : shortLength == 127 ? 8 : 0
        guard head.count >= 2 + lengthSize else { return nil }
        let count = head[2..<2 + lengthSize].reduce(lengthSize == 0 ? UInt64(shortLength) : 0) { $0 << 8 | UInt64($1) }
        if head.count == 2 + lengthSize { try check(count, isControl: opcode.isControl, lengthSize) }
        guard head.count == 2 + lengthSize + (isMasked ? 4 : 0) else { return nil }
        let mask = isMasked ? head.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
        head.removeAll(keepingCapacity: true)
        if !opcode.isControl, opcode != .continuation { messageOpcode = opcode }
        return Frame(opcode: opcode, isFinal: isFinal, count: Int(count), mask: mask)
    }

    private func check(
        _ opcode: WebSocketFrame.Opcode,
        isFinal: Bool,
        isMasked: Bool,
        _ shortLength: Int
    ) throws(Violation) {
        guard head[0] & 0x70 == 0 else { throw Violation(reason: "a reserved bit is set") }
        guard isMasked == (role == .server) else {
            throw Violation(
                reason: isMasked ? "a frame from the server is masked" : "a frame from the client isn't masked"
            )
        }
        let isControl = opcode.isControl
        guard !isControl || isFinal else { throw Violation(reason: "a control frame is fragmented") }
        guard !isControl || shortLength <= 125 else {
            throw Violation(reason: "a control frame exceeds 125 bytes")
        }
        guard isControl || (opcode == .continuation) == (messageOpcode != nil) else {
            throw Violation(
                reason: messageOpcode == nil
                    ? "a continuation frame has no message to continue"
                    : "a message begins before the previous one has ended"
            )
        }
    }

    private func check(_ count: UInt64, isControl: Bool, _ lengthSize: Int) throws(Violation) {
        guard count <= UInt64(Int64.max) else { throw Violation(reason: "the length of a frame exceeds 63 bits") }
        let minimum: UInt64 = lengthSize == 8 ? 0x1_0000 : lengthSize == 2 ? 126 : 0
        guard count >= minimum else {
            throw Violation(reason: "the length of a frame isn't encoded in its shortest form")
        }
        guard isControl || count <= UInt64(max(0, maximumMessageSize - message.count)) else {
            throw Violation(reason: "a message exceeds \(maximumMessageSize) bytes", code: .messageTooBig)
        }
    }

    /// Appends a part of a frame's content, and unmasks it if necessary.
    private static func append(_ part: UnsafeRawBufferPointer, of frame: Frame, to data: inout Data) {
        data.append(contentsOf: part)
        guard let mask = frame.mask else { return }
        data.withUnsafeMutableBytes { bytes in
            let appended = UnsafeMutableRawBufferPointer(rebasing: bytes.suffix(part.count))
            WebSocketFrame.apply(mask, to: appended, at: frame.position)
        }
    }

    /// Handles a complete frame.
    private mutating func end(_ frame: Frame) throws(Violation) -> Event? {
        switch frame.opcode {
        case .ping:
            let payload = controlPayload.take()
            if !isClosing { output.appendPong(payload) }
            return .ping(payload)
        case .pong:
            return .pong(controlPayload.take())
        case .close:
            return try handleClose(with: controlPayload.take())
        case .continuation, .text, .binary:
            guard frame.isFinal else { return nil }
            let (content, isText) = (message.take(), messageOpcode == .text)
            messageOpcode = nil
            return .message(isText ? .text(try Self.text(content, "a text message")) : .data(content))
        }
    }

    private mutating func handleClose(with payload: Data) throws(Violation) -> Event {
        guard payload.count != 1 else { throw Violation(reason: "a close frame has an incomplete code") }
        let code =
            payload.isEmpty
            ? .noStatusReceived : WebSocket.CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard payload.isEmpty || code.isSendable else {
            throw Violation(reason: "a close frame has the invalid code \(code)")
        }
        let reason = try Self.text(payload.dropFirst(2), "the reason of a close frame")
        isOver = true
        close(code)
        return .closed(code, reason: reason)
    }

    private static func text(_ bytes: Data, _ name: String) throws(Violation) -> String {
        guard let text = String(utf8: bytes) else {
            throw Violation(reason: "\(name) isn't UTF-8", code: .invalidPayload)
        }
        return text
    }
}

extension Data {
    /// Removes and returns the bytes.
    fileprivate mutating func take() -> Data {
        defer { self = Data() }
        return self
    }
}
