// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes the elements of a stream of the bytes that come in, however they are cut into chunks.
///
/// A parser is a value: whoever receives the bytes owns it. It holds no more than one element that isn't complete, up to
/// its limit. An element above the limit ends it: what was complete before is still returned, so that what a consumer
/// sees doesn't depend on how the network cut the stream, and ``failure`` is there from then on.
protocol StreamParser<Element>: Sendable {
    /// What the stream is made of.
    associatedtype Element: Sendable

    /// Why the parser reads no more; to be looked at behind every call.
    var failure: RequestError.OversizedElement? { get }

    /// Reads a chunk.
    ///
    /// - Returns: The elements that are complete now; one line completes one at most.
    /// - Complexity: O(n) in the length of the chunk.
    mutating func feed(_ bytes: some Collection<UInt8>) -> [Element]

    /// Reads the end of the stream.
    ///
    /// - Returns: The last element, where the end completes it.
    mutating func finish() -> [Element]
}

/// Cuts a stream of bytes into lines, without what ends them.
///
/// A CR ends its line at once, and an LF behind it is passed over when it comes: a server that ends lines with CR alone
/// would otherwise have its last line held back until it sends another.
struct LineParser: StreamParser {
    /// What ends a line.
    enum Ending: Sendable {
        /// LF, CR LF or CR, as in server-sent events (WHATWG HTML, 9.2.5).
        case any
        /// LF alone: a CR is a byte like any other.
        case lineFeed
    }

    private(set) var failure: RequestError.OversizedElement?
    private let limit: Int
    private let endsAtCarriageReturn: Bool
    private var pending = Data()
    private var lastWasCarriageReturn = false

    /// Starts at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - limit: How many bytes a line may have, without what ends it; 1 MiB by default.
    ///   - ending: What ends a line.
    init(limit: Int = 1 << 20, ending: Ending = .any) {
        self.limit = max(0, limit)
        endsAtCarriageReturn = ending == .any
    }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        if let lines = bytes.withContiguousStorageIfAvailable({ read($0) }) { return lines }
        return Array(bytes).withUnsafeBufferPointer { read($0) }
    }

    /// Gives the last line, where nothing ended it.
    mutating func finish() -> [Data] {
        defer { pending = Data() }
        return failure == nil && !pending.isEmpty ? [pending] : []
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> [Data] {
        guard failure == nil else { return [] }
        var lines: [Data] = []
        var start = 0
        var index = 0
        if lastWasCarriageReturn, !bytes.isEmpty {
            lastWasCarriageReturn = false
            if bytes[0] == UInt8(ascii: "\n") { (start, index) = (1, 1) }
        }
        while index < bytes.count {
            let byte = bytes[index]
            let isCarriageReturn = endsAtCarriageReturn && byte == UInt8(ascii: "\r")
            guard byte == UInt8(ascii: "\n") || isCarriageReturn else {
                index += 1
                continue
            }
            guard take(bytes[start..<index]) else { return lines }
            lines.append(pending)
            pending = Data()
            index += 1
            if isCarriageReturn {
                if index == bytes.count {
                    lastWasCarriageReturn = true
                } else if bytes[index] == UInt8(ascii: "\n") {
                    index += 1
                }
            }
            start = index
        }
        _ = take(bytes[start...])
        return lines
    }

    /// Adds to the line that isn't complete; false, with nothing kept, where it becomes too long.
    private mutating func take(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard bytes.count <= limit - pending.count else {
            failure = RequestError.OversizedElement(.line, limit: limit)
            pending = Data()
            return false
        }
        pending.append(contentsOf: bytes)
        return true
    }
}

/// Cuts a stream of JSON values, one on each line, into the bytes of each (JSON Lines, NDJSON).
///
/// Lines end with LF. A CR is white space of JSON, wherever it stands, and so are the blanks around a value. Lines
/// without a value, which servers send to keep a connection open, are passed over, and so is a byte-order mark at the
/// beginning. Whether a value is JSON is for its decoder to say.
struct JSONLinesParser: StreamParser {
    private var lines: LineParser
    private var isAtStart = true

    var failure: RequestError.OversizedElement? { lines.failure }

    /// Starts at the beginning of a stream.
    ///
    /// - Parameter limit: How many bytes a line may have; 1 MiB by default.
    init(limit: Int = 1 << 20) {
        lines = LineParser(limit: limit, ending: .lineFeed)
    }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        values(of: lines.feed(bytes))
    }

    /// Gives the value of the last line, where nothing ended it.
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
    /// The bytes without the mark that some programs put before UTF-8.
    var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}

extension UInt8 {
    fileprivate var isJSONBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}
