// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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

extension UInt8 {
    fileprivate var isJSONBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }
}
