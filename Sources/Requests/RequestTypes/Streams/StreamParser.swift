// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes the elements of a stream from its bytes, however they are split into chunks.
///
/// A parser is a value, owned by the receiver of the bytes. It holds at most one incomplete element, up to its limit.
/// An element above the limit ends it, and sets ``failure``. Elements that were complete before are still returned, so
/// that the elements don't depend on how the network splits the stream.
protocol StreamParser<Element>: Sendable {
    /// The type of the elements.
    associatedtype Element: Sendable

    /// The reason why the parser has stopped; to be checked after every call.
    var failure: RequestError? { get }

    /// Reads a chunk.
    ///
    /// - Returns: The elements that are now complete; one line completes at most one.
    /// - Complexity: O(n) in the length of the chunk.
    mutating func feed(_ bytes: some Collection<UInt8>) -> [Element]

    /// Reads the end of the stream.
    ///
    /// - Returns: The last element, if the end completes it.
    mutating func finish() -> [Element]
}

/// Splits a stream of bytes into lines, without their ends.
///
/// A CR ends its line at once, and an LF behind it is skipped when it comes. Otherwise the last line of a server that
/// ends lines with CR alone would be delayed until the next one.
struct LineParser: StreamParser {
    private(set) var failure: RequestError?
    private let limit: Int
    private let endsAtCarriageReturn: Bool
    private var pending = Data()
    private var lastWasCarriageReturn = false

    /// Starts at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - limit: The maximum byte count of a line, without its end; 1 MiB by default.
    ///   - endsAtCarriageReturn: Whether CR LF and CR end a line too, as in server-sent events (WHATWG HTML, 9.2.5), or
    ///     LF alone, and a CR is a byte like any other.
    init(limit: Int = 1 << 20, endsAtCarriageReturn: Bool = true) {
        self.limit = max(0, limit)
        self.endsAtCarriageReturn = endsAtCarriageReturn
    }

    /// Whether a line has begun that isn't complete.
    var isInsideOfLine: Bool { !pending.isEmpty }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        if let lines = bytes.withContiguousStorageIfAvailable({ read($0) }) { return lines }
        return Array(bytes).withUnsafeBufferPointer { read($0) }
    }

    /// Returns the last line, if it has no end.
    mutating func finish() -> [Data] {
        defer { pending = Data() }
        return failure == nil && !pending.isEmpty ? [pending] : []
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> [Data] {
        guard failure == nil else { return [] }
        var lines: [Data] = []
        var rest = bytes[...]
        let endsAtCarriageReturn = endsAtCarriageReturn
        while true {
            if lastWasCarriageReturn, let first = rest.first {
                lastWasCarriageReturn = false
                if first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            }
            let end = rest.firstIndex { byte in
                byte == UInt8(ascii: "\n") || endsAtCarriageReturn && byte == UInt8(ascii: "\r")
            }
            guard let end, take(rest[..<end]) else { break }
            lines.append(pending)
            pending = Data()
            lastWasCarriageReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[(end + 1)...]
        }
        if failure == nil { _ = take(rest) }
        return lines
    }

    /// Adds to the incomplete line; returns `false`, and keeps nothing, if it becomes too long.
    private mutating func take(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard bytes.count <= limit - pending.count else {
            failure = .oversized("line", limit: limit)
            pending = Data()
            return false
        }
        pending.append(contentsOf: bytes)
        return true
    }
}

/// Splits a stream of JSON values, one on each line, into the bytes of each (JSON Lines, NDJSON).
///
/// Lines end with LF. A CR is white space of JSON, wherever it occurs, and so are the blanks around a value. Lines
/// without a value, which servers send to keep a connection open, are skipped, and so is a byte-order mark at the
/// beginning. The parser doesn't check that a value is JSON; its decoder does.
struct JSONLinesParser: StreamParser {
    private var lines: LineParser
    private var isAtStart = true

    var failure: RequestError? { lines.failure }

    /// Starts at the beginning of a stream.
    ///
    /// - Parameter limit: The maximum byte count of a line; 1 MiB by default.
    init(limit: Int = 1 << 20) {
        lines = LineParser(limit: limit, endsAtCarriageReturn: false)
    }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        values(of: lines.feed(bytes))
    }

    /// Returns the value of the last line, if it has no end.
    mutating func finish() -> [Data] {
        values(of: lines.finish())
    }

    private mutating func values(of lines: [Data]) -> [Data] {
        lines.compactMap { line in
            var value = isAtStart ? line.withoutByteOrderMark : line
            isAtStart = false
            while value.last?.isJSONBlank == true { value.removeLast() }
            value = value.drop { $0.isJSONBlank }
            // A copy, so that its indices begin at 0.
            return value.isEmpty ? nil : value.startIndex == 0 ? value : Data(value)
        }
    }
}

extension Data {
    /// The bytes without the byte-order mark that some programs put before UTF-8.
    var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}

extension UInt8 {
    fileprivate var isJSONBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}
