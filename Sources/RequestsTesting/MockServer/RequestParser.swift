// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An incremental parser for HTTP/1.1 requests (RFC 9112), which does no I/O.
///
/// ```swift
/// var parser = RequestParser()
/// parser.feed(bytes)
/// while let event = parser.next() { … }
/// ```
///
/// The bytes may be split anywhere. Where RFC 9112 allows a choice, the parser is strict, because its purpose is to
/// test clients: it rejects a bare LF, a folded line, and a missing `Host`.
struct RequestParser: Sendable {
    /// An event in the byte stream.
    enum Event: Sendable, Equatable {
        /// The head of a request is complete; `expectsContinue` is whether the client waits for a 100 before it sends
        /// the content.
        case head(Head, expectsContinue: Bool)
        /// A request is complete.
        case request(Message)
        /// The bytes are malformed: respond with this status, then close the connection. This is always the last event.
        case malformed(HTTPStatus, String)
    }

    /// The request line and the header fields.
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

    /// The maximum byte count of a head, of the line before a chunk, or of the trailers.
    var maximumHeadSize = 1 << 20

    enum State: Sendable, Equatable {
        case head
        case fixedBody(Head, length: Int)
        case chunkLine(Head)
        case chunk(Head, length: Int)
        case trailers(Head)
        case malformed
    }

    var state = State.head
    /// The received bytes that haven't been removed yet.
    ///
    /// The buffer starts with completed requests, which are removed only when it is worth moving the remaining bytes.
    /// The current request and pipelined requests follow.
    var buffer: [UInt8] = []
    /// The index in the buffer at which the current request starts.
    var start = 0
    /// The index in the buffer at which parsing continues.
    var cursor = 0
    /// The index up to which the buffer was searched, without success, for the end of a line or head.
    var scannedEnd = 0
    /// The content of the chunks that were received so far.
    var chunks = Data()

    /// Adds received bytes.
    mutating func feed(_ bytes: some Sequence<UInt8>) {
        if start > buffer.count / 2 { dropOldBytes() }
        buffer.append(contentsOf: bytes)
    }

    /// Removes completed requests; amortized over all calls, each byte is moved once.
    private mutating func dropOldBytes() {
        buffer.removeFirst(start)
        (cursor, scannedEnd, start) = (cursor - start, max(0, scannedEnd - start), 0)
    }

    /// Returns a request without content, with its head and all of its raw bytes so far.
    func partialMessage(_ head: Head) -> Message {
        Message(head: head, body: Data(), trailers: [], rawBytes: Data(buffer[start...]))
    }

    /// The number of bytes that don't belong to a returned request.
    var pendingCount: Int { buffer.count - start }

    /// Whether no part of another request is buffered, in which case the connection may close without losing a request.
    var isBetweenRequests: Bool { state == .head && pendingCount == 0 }

    /// Returns the next event, or `nil` if more bytes are needed.
    mutating func next() -> Event? {
        do {
            return try step()
        } catch {
            state = .malformed
            (buffer, start, cursor, scannedEnd) = ([], 0, 0, 0)
            return .malformed(error.status, error.reason)
        }
    }

    private mutating func step() throws(ParseError) -> Event? {
        while true {
            switch state {
            case .malformed:
                return nil
            case .head:
                guard let head = try takeHead() else { return nil }
                state = try Self.bodyState(of: head)
                let isEmpty = state == .fixedBody(head, length: 0)
                let expects = head.headers[.expect]?.equalsIgnoringASCIICase("100-continue") == true
                return .head(head, expectsContinue: expects && !isEmpty && head.version != "HTTP/1.0")
            case .fixedBody(let head, let length):
                guard buffer.count - cursor >= length else { return nil }
                cursor += length
                return finish(head, body: Data(buffer[cursor - length..<cursor]))
            case .chunkLine(let head):
                guard let line = try take(upTo: Self.lineEnd) else { return nil }
                let length = try Self.chunkLength(line)
                state = length == 0 ? .trailers(head) : .chunk(head, length: length)
            case .chunk(let head, let length):
                // Don't add to `length`: the client chooses it, so the sum could overflow.
                guard buffer.count - cursor - 2 >= length else { return nil }
                chunks.append(contentsOf: buffer[cursor..<cursor + length])
                cursor += length
                guard buffer[cursor..<cursor + 2].elementsEqual(Self.lineEnd) else {
                    throw ParseError("a chunk doesn't end with CRLF")
                }
                cursor += 2
                state = .chunkLine(head)
            case .trailers(let head):
                guard buffer.count - cursor >= 2 else { return nil }
                // An empty line follows either the last chunk directly, or the trailer fields.
                let hasFields = !buffer[cursor..<cursor + 2].elementsEqual(Self.lineEnd)
                guard let bytes = try take(upTo: hasFields ? Self.headEnd : Self.lineEnd) else { return nil }
                guard hasFields else { return finish(head, body: chunks) }
                return finish(head, body: chunks, trailers: try Self.fields(Self.lines(of: bytes)[...]))
            }
        }
    }

    private mutating func finish(_ head: Head, body: Data, trailers: HTTPHeaders = []) -> Event {
        let message = Message(head: head, body: body, trailers: trailers, rawBytes: Data(buffer[start..<cursor]))
        if cursor == buffer.count {
            buffer.removeAll(keepingCapacity: cursor <= 1 << 16)
            cursor = 0
        }
        (state, start, scannedEnd, chunks) = (.head, cursor, cursor, Data())
        return .request(message)
    }
}

// MARK: - Head

extension RequestParser {
    /// The reason why bytes are malformed, and the status to respond with.
    struct ParseError: Error {
        var status: HTTPStatus
        var reason: String

        init(_ reason: String, status: HTTPStatus = .badRequest) {
            self.status = status
            self.reason = reason
        }
    }

    private static let lineEnd = [UInt8]("\r\n".utf8)
    private static let headEnd = [UInt8]("\r\n\r\n".utf8)

    /// Returns the state after a head, which depends on how the message body is delimited (RFC 9112, 6.3).
    private static func bodyState(of head: Head) throws(ParseError) -> State {
        let codings = head.headers[values: .transferEncoding]
        let lengths = head.headers[values: .contentLength]
        guard !codings.isEmpty else {
            guard let first = lengths.first else { return .fixedBody(head, length: 0) }
            // `Int(_:)` would accept a sign.
            guard lengths.count == 1, first.utf8.allSatisfy(ASCII.isDigit), let length = Int(first) else {
                throw ParseError("Content-Length isn't a single number")
            }
            return .fixedBody(head, length: length)
        }
        guard lengths.isEmpty else { throw ParseError("the request has both Transfer-Encoding and Content-Length") }
        guard head.version != "HTTP/1.0" else { throw ParseError("Transfer-Encoding in HTTP/1.0") }
        guard codings.count == 1, codings[0].equalsIgnoringASCIICase("chunked") else {
            throw ParseError("the transfer coding is unknown", status: .notImplemented)
        }
        return .chunkLine(head)
    }

    /// Returns the head, once its empty line has arrived; skips empty lines before it (RFC 9112, 2.2).
    private mutating func takeHead() throws(ParseError) -> Head? {
        while buffer.count - cursor >= 2, buffer[cursor..<cursor + 2].elementsEqual(Self.lineEnd) {
            (cursor, scannedEnd) = (cursor + 2, cursor + 2)
        }
        guard cursor - start <= maximumHeadSize else { throw headTooLarge }
        guard let bytes = try take(upTo: Self.headEnd) else { return nil }
        let lines = try Self.lines(of: bytes)
        let parts = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw ParseError("the request line doesn't have three parts") }
        let words = parts.map { String(decoding: $0, as: UTF8.self) }
        guard words[0].isToken else { throw ParseError("the method isn't a token") }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ParseError("the target is empty or contains a control character")
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            guard words[2].hasPrefix("HTTP/") else { throw ParseError("the request line has no HTTP version") }
            throw ParseError("the HTTP version is neither 1.0 nor 1.1", status: .httpVersionNotSupported)
        }
        let headers = try Self.fields(lines.dropFirst())
        let hosts = headers[values: .host].count
        guard hosts == 1 || hosts == 0 && words[2] == "HTTP/1.0" else {
            throw ParseError("missing or duplicate Host field")
        }
        return Head(method: HTTPMethod(words[0]), target: words[1], version: words[2], headers: headers)
    }

    /// Parses the size of a chunk: hexadecimal digits, followed by extensions, which are ignored (RFC 9112, 7.1).
    private static func chunkLength(_ line: ArraySlice<UInt8>) throws(ParseError) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        // `Int(_:radix:)` would accept a sign.
        guard !digits.isEmpty, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }),
            let length = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw ParseError("the length of a chunk isn't a hexadecimal number") }
        return length
    }

    /// Returns the bytes before a delimiter, and skips both; returns `nil` if the delimiter hasn't arrived yet.
    ///
    /// The search continues where the previous search ended, but repeats a few bytes that may be the start of the
    /// delimiter.
    private mutating func take(upTo delimiter: [UInt8]) throws(ParseError) -> ArraySlice<UInt8>? {
        var position = max(scannedEnd, cursor)
        while let candidate = buffer[position...].firstIndex(of: delimiter[0]),
            candidate + delimiter.count <= buffer.count
        {
            position = candidate + 1
            guard buffer[candidate..<candidate + delimiter.count].elementsEqual(delimiter) else { continue }
            guard candidate - cursor <= maximumHeadSize else { throw headTooLarge }
            defer { (cursor, scannedEnd) = (candidate + delimiter.count, candidate + delimiter.count) }
            return buffer[cursor..<candidate]
        }
        scannedEnd = max(cursor, buffer.count - delimiter.count + 1)
        guard buffer.count - cursor <= maximumHeadSize else { throw headTooLarge }
        return nil
    }

    private var headTooLarge: ParseError {
        ParseError("the request head exceeds \(maximumHeadSize) bytes", status: .requestHeaderFieldsTooLarge)
    }

    /// Returns the lines of a head, at least one; all but the last must end with CRLF.
    private static func lines(of head: ArraySlice<UInt8>) throws(ParseError) -> [ArraySlice<UInt8>] {
        var lines = head.split(separator: UInt8(ascii: "\r"), omittingEmptySubsequences: false)
        for index in lines.indices.dropFirst() {
            guard lines[index].first == UInt8(ascii: "\n") else { throw ParseError("a CR isn't followed by an LF") }
            lines[index] = lines[index].dropFirst()
        }
        return lines
    }

    private static func fields(_ lines: ArraySlice<ArraySlice<UInt8>>) throws(ParseError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
                line[..<colon].allSatisfy(ASCIISet.token.contains)
            else { throw ParseError("a header field has no name") }
            var value = line[(colon + 1)...]
            while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
            while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
            guard value.allSatisfy(ASCIISet.fieldValue.contains) else {
                throw ParseError("a header field contains a control character")
            }
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
            headers.add(String(decoding: value, as: UTF8.self), for: name)
        }
        return headers
    }
}
