// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsWebSockets
import Testing

/// One case of a table: what a server sends, and how a client must react.
///
/// The numbers and contents are those of the Autobahn test suite, the standard test of implementations.
struct WebSocketCase: Sendable, CustomTestStringConvertible {
    /// The end of the case.
    enum End: Sendable, Hashable {
        /// The server closes normally, and the client replies with the code.
        case closed(UInt16)
        /// The server breaks the protocol, and the client closes with the code.
        case failed(UInt16)
    }

    let number: String
    let frames: [WebSocketFrame]
    /// The messages that arrive.
    let messages: [WebSocket.Message]
    /// The payloads of the client's pongs.
    let pongs: [Data]
    let end: End
    /// The size of the chunks in which the bytes arrive; `nil` for a single chunk.
    let pieceSize: Int?

    var testDescription: String { number }

    init(
        _ number: String,
        _ frames: [WebSocketFrame],
        _ messages: [WebSocket.Message] = [],
        pongs: [Data] = [],
        _ end: End = .closed(1000),
        by pieceSize: Int? = nil
    ) {
        (self.number, self.frames, self.messages, self.pongs) = (number, frames, messages, pongs)
        (self.end, self.pieceSize) = (end, pieceSize)
    }

    init(_ number: String, _ frames: [WebSocketFrame], _ end: End, by pieceSize: Int? = nil) {
        self.init(number, frames, [], end, by: pieceSize)
    }

    /// The bytes of the frames, followed by a normal close if the case doesn't end otherwise.
    var bytes: Data {
        var bytes: [UInt8] = []
        for frame in frames { frame.append(to: &bytes) }
        if end == .closed(1000) { WebSocketFrame.close(1000).append(to: &bytes) }
        return Data(bytes)
    }

    static let all = framing + pings + reserved + opcodes + fragments + texts + closes + sizes

    private static let violation = End.failed(1002)

    // MARK: 1 to 4

    private static let framing: [WebSocketCase] = {
        let sizes: [(Int, Int?)] = [
            (0, nil), (125, nil), (126, nil), (127, nil), (128, nil), (65535, nil), (65536, nil), (65536, 997),
        ]
        return sizes.enumerated().flatMap { index, size -> [WebSocketCase] in
            let (text, data) = (String(repeating: "*", count: size.0), Data(repeating: 0xFE, count: size.0))
            return [
                WebSocketCase("1.1.\(index + 1)", [.text(text)], [.text(text)], by: size.1),
                WebSocketCase("1.2.\(index + 1)", [.binary(data)], [.data(data)], by: size.1),
            ]
        }
    }()

    private static let pings: [WebSocketCase] = {
        let (hello, bytes) = (Data("Hello, world!".utf8), Data([0, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0, 0xFF]))
        let long = Data(repeating: 0xFE, count: 125)
        let ten = (0..<10).map { Data("payload-\($0)".utf8) }
        return [
            WebSocketCase("2.1", [.ping()], pongs: [Data()]),
            WebSocketCase("2.2", [.ping(hello)], pongs: [hello]),
            WebSocketCase("2.3", [.ping(bytes)], pongs: [bytes]),
            WebSocketCase("2.4", [.ping(long)], pongs: [long]),
            WebSocketCase("2.5", [.ping(Data(count: 126))], violation),
            WebSocketCase("2.6", [.ping(long)], pongs: [long], by: 1),
            WebSocketCase("2.7", [.pong()]),
            WebSocketCase("2.8", [.pong(hello)]),
            WebSocketCase("2.9", [.pong(hello), .ping(bytes)], pongs: [bytes]),
            WebSocketCase("2.10", ten.map { .ping($0) }, pongs: ten),
            WebSocketCase("2.11", ten.map { .ping($0) }, pongs: ten, by: 1),
        ]
    }()

    private static let reserved: [WebSocketCase] = {
        let hello = WebSocketFrame.text("Hello, world!")
        func odd(_ bits: UInt8, _ opcode: WebSocketFrame.Opcode = .text) -> WebSocketFrame {
            WebSocketFrame(opcode, Data(opcode == .close ? [3, 232] : [UInt8]("Hello, world!".utf8)), reserved: bits)
        }
        return [
            WebSocketCase("3.1", [odd(4)], violation),
            WebSocketCase("3.2", [hello, odd(2), .ping()], [.text("Hello, world!")], violation),
            WebSocketCase("3.3", [hello, odd(3), .ping()], [.text("Hello, world!")], violation, by: 15),
            WebSocketCase("3.4", [hello, odd(1), .ping()], [.text("Hello, world!")], violation, by: 1),
            WebSocketCase("3.5", [odd(5, .binary)], violation),
            WebSocketCase("3.6", [odd(6, .ping)], violation),
            WebSocketCase("3.7", [odd(7, .close)], violation),
        ]
    }()

    private static let opcodes = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].enumerated().map {
        index,
        opcode -> WebSocketCase in
        var frame = WebSocketFrame(.text, Data(index.isMultiple(of: 2) ? [] : [0xAF]))
        frame.firstByte = 0x80 | UInt8(opcode)
        let (group, place) = index < 5 ? (1, index + 1) : (2, index - 4)
        let begins = place > 2
        return WebSocketCase(
            "4.\(group).\(place)",
            (begins ? [.text("Hello, world!")] : []) + [frame, .ping()],
            begins ? [.text("Hello, world!")] : [],
            violation,
            by: place == 5 ? 1 : nil
        )
    }

    // MARK: 5

    private static let fragments: [WebSocketCase] = {
        func part(_ opcode: WebSocketFrame.Opcode, _ text: String, _ isFinal: Bool = false) -> WebSocketFrame {
            WebSocketFrame(opcode, Data(text.utf8), isFinal: isFinal)
        }
        let (one, two) = (part(.text, "fragment1"), part(.continuation, "fragment2", true))
        let (whole, ping) = (WebSocket.Message.text("fragment1fragment2"), Data("ping payload".utf8))
        let lone = part(.continuation, "non-continuation payload", true)
        let open = part(.continuation, "non-continuation payload")
        let hello = part(.text, "Hello, world!", true)
        let five: [WebSocketFrame] = [
            part(.text, "fragment1"), part(.continuation, "fragment2"), .ping(Data("pongme 1 !".utf8)),
            part(.continuation, "fragment3"), part(.continuation, "fragment4"), .ping(Data("pongme 2 !".utf8)),
            part(.continuation, "fragment5", true),
        ]
        let all = WebSocket.Message.text("fragment1fragment2fragment3fragment4fragment5")
        let two19 = [Data("pongme 1 !".utf8), Data("pongme 2 !".utf8)]
        return [
            WebSocketCase("5.1", [part(.ping, "fragment1"), two], violation),
            WebSocketCase("5.2", [part(.pong, "fragment1"), two], violation),
            WebSocketCase("5.3", [one, two], [whole]),
            WebSocketCase("5.4", [one, two], [whole], by: 11),
            WebSocketCase("5.5", [one, two], [whole], by: 1),
            WebSocketCase("5.6", [one, .ping(ping), two], [whole], pongs: [ping]),
            WebSocketCase("5.7", [one, .ping(ping), two], [whole], pongs: [ping], by: 11),
            WebSocketCase("5.8", [one, .ping(ping), two], [whole], pongs: [ping], by: 1),
            WebSocketCase("5.9", [lone, hello], violation),
            WebSocketCase("5.10", [lone, hello], violation, by: 26),
            WebSocketCase("5.11", [lone, hello], violation, by: 1),
            WebSocketCase("5.12", [open, hello], violation),
            WebSocketCase("5.13", [open, hello], violation, by: 26),
            WebSocketCase("5.14", [open, hello], violation, by: 1),
            WebSocketCase("5.15", [one, two, open, hello], [whole], violation),
            WebSocketCase("5.16", [open, hello, part(.continuation, "fragment3", true)], violation),
            WebSocketCase("5.17", [lone, hello, part(.continuation, "fragment3", true)], violation),
            WebSocketCase("5.18", [one, part(.text, "fragment2", true)], violation),
            WebSocketCase("5.19", five, [all], pongs: two19),
            WebSocketCase("5.20", five, [all], pongs: two19, by: 7),
        ]
    }()
}

extension WebSocketFrame {
    static func text(_ text: String) -> WebSocketFrame { WebSocketFrame(.text, Data(text.utf8)) }
    static func binary(_ data: Data) -> WebSocketFrame { WebSocketFrame(.binary, data) }
    static func ping(_ data: Data = Data()) -> WebSocketFrame { WebSocketFrame(.ping, data) }
    static func pong(_ data: Data = Data()) -> WebSocketFrame { WebSocketFrame(.pong, data) }

    static func close(_ code: UInt16, _ reason: Data = Data()) -> WebSocketFrame {
        WebSocketFrame(.close, Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + reason)
    }
}
