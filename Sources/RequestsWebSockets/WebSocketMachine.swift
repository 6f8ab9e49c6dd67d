// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One end of a WebSocket (RFC 6455): turns bytes into messages and messages into bytes, without I/O.
///
/// Extensions aren't supported, so a reserved bit in a frame is a violation.
package struct WebSocketMachine: Sendable {
    /// The side: a client masks its frames, a server doesn't.
    package enum Role: Sendable {
        case client, server
    }

    /// What the peer has done.
    package enum Event: Sendable, Hashable {
        /// It has sent a message.
        case message(WebSocket.Message)
        /// It has sent a ping, whose answer waits to be sent unless the socket is being closed.
        case ping(Data)
        /// It has answered a ping.
        case pong(Data)
        /// It has closed the socket: nothing more comes from it, and the answer waits to be sent.
        case closed(WebSocket.CloseCode, reason: String)
        /// It has broken the protocol: nothing more is read, and a close frame with the code waits to be sent.
        case failed(WebSocket.CloseCode, reason: String)
    }

    private struct Violation: Error {
        let reason: String
        var code = WebSocket.CloseCode.protocolError
    }

    /// The frame that is being received, without its content.
    private struct Frame {
        var opcode: WebSocketFrame.Opcode
        var isFinal: Bool
        var count: Int
        var mask: UInt32?
        /// The number of bytes that have come.
        var position = 0
    }

    private let role: Role
    private let maximumMessageSize: Int
    private var output: WebSocketOutput
    /// The beginning of a frame, until it is complete.
    private var head: [UInt8] = []
    private var frame: Frame?
    /// The content of a control frame.
    private var control = Data()
    /// The content of a message.
    private var message = Data()
    /// The kind of the message that is being received.
    private var kind: WebSocketFrame.Opcode?
    /// Whether a close frame was sent, or waits to be.
    package private(set) var isClosing = false
    /// Whether nothing more is read.
    package private(set) var isOver = false

    /// Makes one end of a socket whose handshake is over.
    ///
    /// - Parameters:
    ///   - role: The side.
    ///   - maximumMessageSize: The number of bytes above which a message, or a frame of one, is refused.
    package init(_ role: Role, maximumMessageSize: Int = .max) {
        (self.role, self.maximumMessageSize) = (role, maximumMessageSize)
        output = WebSocketOutput(masks: role == .client)
    }

    // MARK: Send

    /// The number of bytes that wait to be sent.
    package var pendingCount: Int { output.count }

    /// Moves bytes that wait to be sent into a buffer, and returns their number.
    package mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int { output.take(into: buffer) }

    /// Takes all bytes that wait to be sent.
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

    /// Sends a ping, with at most 125 bytes.
    package mutating func ping(_ payload: Data) {
        if !isClosing { output.append(.ping, payload.prefix(125)) }
    }

    /// Begins the closing handshake, or answers it; the reason is truncated to the size of a control frame.
    ///
    /// - Parameters:
    ///   - code: The reason; a code that must not be sent is left out.
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

    /// Takes bytes of the peer.
    package mutating func receive(_ bytes: Data) -> [Event] {
        var events: [Event] = []
        bytes.withUnsafeBytes { bytes in
            do throws(Violation) {
                try receive(bytes, &events)
            } catch {
                (isOver, message, control) = (true, Data(), Data())
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
                    Self.append(part, of: frame, to: &control)
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

    /// Reads the head of a frame, if it is complete; its first two bytes are checked as soon as they are there.
    private mutating func nextFrame() throws(Violation) -> Frame? {
        guard head.count >= 2, let opcode = WebSocketFrame.Opcode(rawValue: head[0] & 0x0F) else {
            guard [0, 1, 2, 8, 9, 10].contains(head[0] & 0x0F) else { throw Violation(reason: "the opcode is unknown") }
            return nil
        }
        let (isFinal, isMasked, short) = (head[0] & 0x80 != 0, head[1] & 0x80 != 0, Int(head[1] & 0x7F))
        if head.count == 2 { try check(opcode, isFinal: isFinal, isMasked: isMasked, short) }
        let lengthSize = short == 126 ? 2 : short == 127 ? 8 : 0
        guard head.count >= 2 + lengthSize else { return nil }
        let count = head[2..<2 + lengthSize].reduce(lengthSize == 0 ? UInt64(short) : 0) { $0 << 8 | UInt64($1) }
        if head.count == 2 + lengthSize { try check(count, isControl: opcode.isControl, lengthSize) }
        guard head.count == 2 + lengthSize + (isMasked ? 4 : 0) else { return nil }
        let mask = isMasked ? head.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) } : nil
        head.removeAll(keepingCapacity: true)
        if !opcode.isControl, opcode != .continuation { kind = opcode }
        return Frame(opcode: opcode, isFinal: isFinal, count: Int(count), mask: mask)
    }

    private func check(
        _ opcode: WebSocketFrame.Opcode,
        isFinal: Bool,
        isMasked: Bool,
        _ short: Int
    ) throws(Violation) {
        guard head[0] & 0x70 == 0 else { throw Violation(reason: "a reserved bit is set") }
        guard isMasked == (role == .server) else {
            throw Violation(reason: isMasked ? "a frame of a server is masked" : "a frame of a client isn't masked")
        }
        let isControl = opcode.isControl
        guard !isControl || isFinal else { throw Violation(reason: "a control frame is fragmented") }
        guard !isControl || short <= 125 else { throw Violation(reason: "a control frame has more than 125 bytes") }
        guard isControl || (opcode == .continuation) == (kind != nil) else {
            throw Violation(reason: kind == nil ? "there is no message to continue" : "a message is inside another")
        }
    }

    private func check(_ count: UInt64, isControl: Bool, _ lengthSize: Int) throws(Violation) {
        guard count <= UInt64(Int64.max) else { throw Violation(reason: "the length of a frame has more than 63 bits") }
        let least: UInt64 = lengthSize == 8 ? 0x1_0000 : lengthSize == 2 ? 126 : 0
        guard count >= least else { throw Violation(reason: "the length of a frame isn't in its shortest form") }
        guard isControl || count <= UInt64(max(0, maximumMessageSize - message.count)) else {
            throw Violation(reason: "a message has more than \(maximumMessageSize) bytes", code: .messageTooBig)
        }
    }

    /// Adds a part of a frame's content.
    private static func append(_ part: UnsafeRawBufferPointer, of frame: Frame, to data: inout Data) {
        data.append(contentsOf: part)
        guard let mask = frame.mask else { return }
        data.withUnsafeMutableBytes { bytes in
            let own = UnsafeMutableRawBufferPointer(rebasing: bytes.suffix(part.count))
            WebSocketFrame.apply(mask, to: own, at: frame.position)
        }
    }

    /// Handles a complete frame.
    private mutating func end(_ frame: Frame) throws(Violation) -> Event? {
        switch frame.opcode {
        case .ping:
            let payload = control.take()
            if !isClosing { output.appendPong(payload) }
            return .ping(payload)
        case .pong:
            return .pong(control.take())
        case .close:
            return try peerCloses(with: control.take())
        case .continuation, .text, .binary:
            guard frame.isFinal else { return nil }
            let (content, isText) = (message.take(), kind == .text)
            kind = nil
            return .message(isText ? .text(try Self.text(content, "a text")) : .data(content))
        }
    }

    private mutating func peerCloses(with payload: Data) throws(Violation) -> Event {
        guard payload.count != 1 else { throw Violation(reason: "a close frame has half a code") }
        let code =
            payload.isEmpty
            ? .noStatusReceived : WebSocket.CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard payload.isEmpty || code.isSendable else { throw Violation(reason: "a close frame has the code \(code)") }
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
    /// Takes out the bytes.
    fileprivate mutating func take() -> Data {
        defer { self = Data() }
        return self
    }
}
