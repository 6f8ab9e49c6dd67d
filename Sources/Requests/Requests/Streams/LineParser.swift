// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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

    private(set) var failure: OversizedElement?
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
            failure = OversizedElement(.line, limit: limit)
            pending = Data()
            return false
        }
        pending.append(contentsOf: bytes)
        return true
    }
}
