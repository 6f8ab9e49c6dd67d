// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Parses requests from the bytes of a connection (RFC 9112): takes bytes, returns events, and does nothing else.
///
/// ```swift
/// var parser = RequestParser()
/// parser.feed(bytes)
/// while let event = parser.next() { … }
/// ```
///
/// It makes no difference how the bytes are split. The parser is strict where RFC 9112 allows a choice, since it tests
/// clients: a bare LF, a folded line and a missing `Host` are refused.
struct RequestParser: Sendable {
    /// An event in the bytes.
    enum Event: Sendable, Equatable {
        /// The head of a request is complete; `expectsContinue` if the client waits for a 100 before it sends the
        /// content.
        case head(Head, expectsContinue: Bool)
        /// A request is complete.
        case request(Message)
        /// The bytes are malformed: respond with the status and close. It comes once, and nothing comes after it.
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

    /// The maximum byte count of a head, a chunk's line or the trailers.
    var maximumHeadSize = MockServer.Configuration().maximumHeadSize
    /// The maximum byte count of the content.
    var maximumBodySize = Int.max

    enum State: Sendable, Equatable {
        case head
        case fixedBody(Head, length: Int)
        case chunkLine(Head)
        case chunk(Head, length: Int)
        case trailers(Head)
        case malformed
    }

    var state = State.head
    /// The bytes that aren't removed yet.
    ///
    /// They begin with completed requests, until removing those is worth moving the rest; then come the current request
    /// and the pipelined ones.
    var buffer: [UInt8] = []
    /// The index in the buffer at which the current request begins.
    var start = 0
    /// The index in the buffer at which parsing continues.
    var cursor = 0
    /// The index in the buffer up to which the search for the end of a line or head found nothing.
    var searched = 0
    /// The content of the chunks so far.
    var chunks = Data()

    /// Adds received bytes.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start > buffer.count / 2 { dropOldBytes() }
        buffer.append(contentsOf: bytes)
    }

    /// Removes completed requests; done so rarely that each byte is moved once on average.
    private mutating func dropOldBytes() {
        buffer.removeFirst(start)
        (cursor, searched, start) = (cursor - start, max(0, searched - start), 0)
    }

    /// Returns a request that has only its head, with all raw bytes so far.
    func partialMessage(_ head: Head) -> Message {
        Message(head: head, body: Data(), trailers: [], rawBytes: Data(buffer[start...]))
    }

    /// The byte count that isn't part of a returned request yet.
    var pendingCount: Int { buffer.count - start }

    /// Whether the bytes so far end with a complete request, so that the connection may close without losing one.
    var isBetweenRequests: Bool { state == .head && pendingCount == 0 }

    /// Returns the next event, or `nil` if more bytes are needed.
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
                if case .length(let length) = framing, length > maximumBodySize { throw contentTooLarge }
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
                guard length <= maximumBodySize - chunks.count else { throw contentTooLarge }
                state = length == 0 ? .trailers(head) : .chunk(head, length: length)
            case .chunk(let head, let length):
                // Compared without adding: the client chooses the length, which may be as large as an `Int` gets.
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
        Malformation("more than \(maximumBodySize) bytes of content", status: .contentTooLarge)
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

// MARK: - Head

extension RequestParser {
    /// The reason why bytes are malformed, and the status of the response.
    struct Malformation: Error {
        var status: HTTPStatus
        var reason: String

        init(_ reason: String, status: HTTPStatus = .badRequest) {
            self.status = status
            self.reason = reason
        }
    }

    /// The way the end of the body is found (RFC 9112, 6.3).
    enum Framing: Equatable {
        case length(Int)
        case chunked

        init(_ head: Head) throws(Malformation) {
            let codings = head.headers[values: .transferEncoding]
            let lengths = head.headers[values: .contentLength]
            guard !codings.isEmpty else {
                guard let first = lengths.first else {
                    self = .length(0)
                    return
                }
                guard lengths.count == 1, !first.isEmpty, first.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                    let length = Int(first)
                else { throw Malformation("Content-Length is no single number") }
                self = .length(length)
                return
            }
            guard lengths.isEmpty else { throw Malformation("both Transfer-Encoding and Content-Length") }
            guard head.version != "HTTP/1.0" else { throw Malformation("Transfer-Encoding in HTTP/1.0") }
            guard codings.count == 1, codings[0].equalsIgnoringASCIICase("chunked") else {
                throw Malformation("unknown transfer coding", status: .notImplemented)
            }
            self = .chunked
        }
    }

    /// Returns the head, once its empty line has arrived; empty lines before it are skipped (RFC 9112, 2.2).
    mutating func takeHead() throws(Malformation) -> Head? {
        while cursor + 1 < buffer.count, buffer[cursor] == .carriageReturn, buffer[cursor + 1] == .lineFeed {
            (cursor, searched) = (cursor + 2, cursor + 2)
        }
        guard cursor - start <= maximumHeadSize else { throw headTooLarge }
        guard let lines = try takeLines() else { return nil }
        guard let first = lines.first else { throw Malformation("no request line") }
        let parts = first.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Malformation("the request line hasn't three parts") }
        let method = String(decoding: parts[0], as: UTF8.self)
        guard method.isToken else { throw Malformation("the method is no token") }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw Malformation("the target is empty or has a control character")
        }
        let version = String(decoding: parts[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            guard version.hasPrefix("HTTP/") else { throw Malformation("no version of HTTP") }
            throw Malformation("a version other than 1.0 and 1.1", status: .httpVersionNotSupported)
        }
        let headers = try Self.fields(lines.dropFirst())
        let hosts = headers[values: .host].count
        guard hosts == 1 || hosts == 0 && version == "HTTP/1.0" else { throw Malformation("not exactly one Host") }
        return Head(
            method: HTTPMethod(method),
            target: String(decoding: parts[1], as: UTF8.self),
            version: version,
            headers: headers
        )
    }

    /// Returns the fields after the last chunk, once their empty line has arrived.
    mutating func takeTrailers() throws(Malformation) -> HTTPHeaders? {
        guard buffer.count - cursor >= 2 else { return nil }
        if buffer[cursor] == .carriageReturn, buffer[cursor + 1] == .lineFeed {
            cursor += 2
            return []
        }
        guard let lines = try takeLines() else { return nil }
        return try Self.fields(lines[...])
    }

    /// Returns one line, without its end.
    mutating func takeLine() throws(Malformation) -> ArraySlice<UInt8>? {
        guard let end = try find([.carriageReturn, .lineFeed]) else { return nil }
        defer { (cursor, searched) = (end + 2, end + 2) }
        return buffer[cursor..<end]
    }

    /// Parses the length of a chunk: hexadecimal digits, then extensions, which are ignored (RFC 9112, 7.1).
    static func chunkLength(_ line: ArraySlice<UInt8>) throws(Malformation) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        // Int's own parser would accept a sign.
        guard !digits.isEmpty, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }),
            let length = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw Malformation("a chunk's length is no hexadecimal number") }
        return length
    }

    /// Returns the lines before the empty one, and skips it too.
    private mutating func takeLines() throws(Malformation) -> [ArraySlice<UInt8>]? {
        guard let end = try find([.carriageReturn, .lineFeed, .carriageReturn, .lineFeed]) else { return nil }
        var lines: [ArraySlice<UInt8>] = []
        var start = cursor
        while start < end + 2, let lineEnd = buffer[start...].firstIndex(of: .carriageReturn) {
            guard buffer[lineEnd + 1] == .lineFeed else { throw Malformation("a CR without a LF") }
            lines.append(buffer[start..<lineEnd])
            start = lineEnd + 2
        }
        (cursor, searched) = (end + 4, end + 4)
        return lines
    }

    /// Returns the index of a pattern, without searching the bytes that were searched before.
    private mutating func find(_ pattern: [UInt8]) throws(Malformation) -> Int? {
        var position = max(searched, cursor)
        let last = buffer.count - pattern.count
        while position <= last {
            guard let candidate = buffer[position...].firstIndex(of: .carriageReturn), candidate <= last else { break }
            if buffer[candidate..<candidate + pattern.count].elementsEqual(pattern) {
                guard candidate - cursor <= maximumHeadSize else { throw headTooLarge }
                return candidate
            }
            position = candidate + 1
        }
        // The last bytes may be the beginning of the pattern, so they are searched again.
        searched = max(cursor, buffer.count - pattern.count + 1)
        guard buffer.count - cursor <= maximumHeadSize else { throw headTooLarge }
        return nil
    }

    private var headTooLarge: Malformation {
        Malformation("more than \(maximumHeadSize) bytes of head", status: .requestHeaderFieldsTooLarge)
    }

    private static func fields(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(Malformation) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(ASCIISet.token.contains)
            else { throw Malformation("a field without a name") }
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
            while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
            guard value.allSatisfy(ASCIISet.fieldValue.contains) else {
                throw Malformation("a control character in a field")
            }
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            headers.add(String(decoding: value, as: UTF8.self), for: name)
        }
        return headers
    }
}
