// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Splits a stream of bytes into lines, without their line endings.
///
/// A CR ends its line immediately, and an LF that follows is skipped when it arrives. If the parser waited for the LF,
/// the last line of a server that ends lines only with CR would be delayed until the next line.
struct LineParser: StreamParser {
    private(set) var failure: RequestError?
    private let limit: Int
    private let endsAtCarriageReturn: Bool
    private var pending = Data()
    private var lastWasCarriageReturn = false

    /// Creates a parser that is positioned at the start of a stream.
    ///
    /// - Parameters:
    ///   - limit: The maximum byte count of a line, without its line ending; 1 MiB by default.
    ///   - endsAtCarriageReturn: Whether CR LF and CR also end a line, as in server-sent events (WHATWG HTML, 9.2.5).
    ///     Otherwise, only LF ends a line, and a CR is a part of the line.
    init(limit: Int = 1 << 20, endsAtCarriageReturn: Bool = true) {
        self.limit = max(0, limit)
        self.endsAtCarriageReturn = endsAtCarriageReturn
    }

    /// Whether the parser holds the beginning of an incomplete line.
    var isInsideLine: Bool { !pending.isEmpty }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        if let lines = bytes.withContiguousStorageIfAvailable({ read($0) }) { return lines }
        return Array(bytes).withUnsafeBufferPointer { read($0) }
    }

    /// Returns the last line, if it isn't terminated.
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
            guard let end, appendToPending(rest[..<end]) else { break }
            lines.append(pending)
            pending = Data()
            lastWasCarriageReturn = rest[end] == UInt8(ascii: "\r")
            rest = rest[(end + 1)...]
        }
        if failure == nil { _ = appendToPending(rest) }
        return lines
    }

    /// Appends bytes to the incomplete line; if it becomes too long, discards it and returns `false`.
    private mutating func appendToPending(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard bytes.count <= limit - pending.count else {
            failure = .oversized("line", limit: limit)
            pending = Data()
            return false
        }
        pending.append(contentsOf: bytes)
        return true
    }
}
