// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Reads requests from the bytes of a connection (RFC 9112): bytes in, events out, and nothing else.
///
/// ```swift
/// var parser = RequestParser()
/// parser.feed(bytes)
/// while let event = parser.next() { … }
/// ```
///
/// It makes no difference how the bytes are split. The parser is strict where RFC 9112 lets it choose, since it stands
/// in tests of clients: a bare LF, a folded line, a missing `Host` are refused.
struct RequestParser: Sendable {
    /// What was found in the bytes.
    enum Event: Sendable, Equatable {
        /// The head of a request is complete; `expectsContinue` where the client waits for a 100 before it goes on.
        case head(Head, expectsContinue: Bool)
        /// A request is complete.
        case request(Message)
        /// The bytes are no request: answer with the status and close. Comes once; nothing comes after it.
        case malformed(HTTPStatus, String)
    }

    /// The request line and the fields.
    struct Head: Sendable, Equatable {
        var method: HTTPMethod
        var target: String
        var version: String
        var headers: HTTPHeaders
    }

    /// A complete request.
    struct Message: Sendable, Equatable {
        var head: Head
        var body: Data
        var trailers: HTTPHeaders
        var rawBytes: Data
    }

    /// How large a head, a chunk's line or the trailers may be.
    var headLimit = MockServer.Configuration().headLimit
    /// How large the content may be.
    var bodyLimit = Int.max

    enum State: Sendable, Equatable {
        case head
        case fixedBody(Head, length: Int)
        case chunkLine(Head)
        case chunk(Head, length: Int)
        case trailers(Head)
        case malformed
    }

    var state = State.head
    /// The bytes of requests that are over, as long as they aren't worth moving the rest, then those of the current
    /// one, then those of the ones behind it.
    var buffer: [UInt8] = []
    /// Where the current request begins in the buffer.
    var start = 0
    /// The position of what comes next in the buffer.
    var cursor = 0
    /// How far behind the cursor the end of a line, or of the head, was already looked for in vain.
    var searched = 0
    /// The content of the chunks so far.
    var chunks = Data()

    /// Adds bytes that came in.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start > buffer.count / 2 { dropOldBytes() }
        buffer.append(contentsOf: bytes)
    }

    /// Forgets the requests that are over; done so rarely that a byte is moved once on average.
    private mutating func dropOldBytes() {
        buffer.removeFirst(start)
        (cursor, searched, start) = (cursor - start, max(0, searched - start), 0)
    }

    /// A request of which no more than the head is used, with all bytes so far.
    func partialMessage(_ head: Head) -> Message {
        Message(head: head, body: Data(), trailers: [], rawBytes: Data(buffer[start...]))
    }

    /// How many bytes wait to be made part of an event.
    var pendingCount: Int { buffer.count - start }

    /// Whether the bytes so far end with a complete request: the connection may close without a loss.
    var isBetweenRequests: Bool { state == .head && pendingCount == 0 }

    /// The next event, or nil where more bytes are needed.
    mutating func next() -> Event? {
        do {
            return try step()
        } catch {
            state = .malformed
            (buffer, start, cursor, searched) = ([], 0, 0, 0)
            return .malformed(error.status, error.reason)
        }
    }

    private mutating func step() throws(Malformation) -> Event? {
        while true {
            switch state {
            case .malformed:
                return nil
            case .head:
                guard let head = try takeHead() else { return nil }
                let framing = try Framing(head)
                if case .length(let length) = framing, length > bodyLimit { throw contentTooLarge }
                switch framing {
                case .chunked: state = .chunkLine(head)
                case .length(let length): state = .fixedBody(head, length: length)
                }
                let expects =
                    head.version != "HTTP/1.0" && framing != .length(0)
                    && head.headers[.expect]?.equalsIgnoringASCIICase("100-continue") == true
                return .head(head, expectsContinue: expects)
            case .fixedBody(let head, let length):
                guard buffer.count - cursor >= length else { return nil }
                let body = Data(buffer[cursor..<cursor + length])
                cursor += length
                return finish(head, body: body)
            case .chunkLine(let head):
                guard let line = try takeLine() else { return nil }
                let length = try Self.chunkLength(line)
                guard length <= bodyLimit - chunks.count else { throw contentTooLarge }
                state = length == 0 ? .trailers(head) : .chunk(head, length: length)
            case .chunk(let head, let length):
                // Compared without adding: the length is the client's, and may be as large as a number gets.
                guard buffer.count - cursor - 2 >= length else { return nil }
                chunks.append(contentsOf: buffer[cursor..<cursor + length])
                cursor += length
                guard buffer[cursor] == .carriageReturn, buffer[cursor + 1] == .lineFeed else {
                    throw Malformation("a chunk doesn't end with CRLF")
                }
                cursor += 2
                state = .chunkLine(head)
            case .trailers(let head):
                guard let trailers = try takeTrailers() else { return nil }
                return finish(head, body: chunks, trailers: trailers)
            }
        }
    }

    private var contentTooLarge: Malformation {
        Malformation("more than \(bodyLimit) bytes of content", status: .contentTooLarge)
    }

    private mutating func finish(_ head: Head, body: Data, trailers: HTTPHeaders = []) -> Event {
        let message = Message(head: head, body: body, trailers: trailers, rawBytes: Data(buffer[start..<cursor]))
        if cursor == buffer.count {
            buffer.removeAll(keepingCapacity: cursor <= 1 << 16)
            cursor = 0
        }
        (state, start, searched, chunks) = (.head, cursor, cursor, Data())
        return .request(message)
    }
}

extension UInt8 {
    static let carriageReturn = UInt8(ascii: "\r")
    static let lineFeed = UInt8(ascii: "\n")
}
