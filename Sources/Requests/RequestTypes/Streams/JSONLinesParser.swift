// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Splits a stream of newline-delimited JSON into the bytes of each value (JSON Lines, NDJSON).
///
/// Lines end with LF. A CR counts as JSON whitespace wherever it occurs, and so do the blanks around a value. The
/// parser skips lines without a value, which servers send to keep a connection open, and a byte order mark at the
/// beginning. It doesn't check that a value is valid JSON, because the decoder does.
struct JSONLinesParser: StreamParser {
    private var lines: LineParser
    private var isAtStart = true

    var failure: RequestError? { lines.failure }

    /// Creates a parser that is positioned at the start of a stream.
    ///
    /// - Parameter limit: The maximum byte count of a line; 1 MiB by default.
    init(limit: Int = 1 << 20) {
        lines = LineParser(limit: limit, endsAtCarriageReturn: false)
    }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [Data] {
        values(of: lines.feed(bytes))
    }

    /// Returns the value of the last line, if that line isn't terminated.
    mutating func finish() -> [Data] {
        values(of: lines.finish())
    }

    private mutating func values(of lines: [Data]) -> [Data] {
        lines.compactMap { line in
            var value = isAtStart ? line.withoutByteOrderMark : line
            isAtStart = false
            while value.last?.isJSONBlank == true { value.removeLast() }
            value = value.drop { $0.isJSONBlank }
            // Copy the value, so that its indices begin at 0.
            return value.isEmpty ? nil : value.startIndex == 0 ? value : Data(value)
        }
    }
}

extension UInt8 {
    fileprivate var isJSONBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}
