// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What a `Range` asks for of a content of a known length (RFC 9110, 14.1.2).
enum RequestedRange: Sendable, Equatable {
    /// All of it: the field is malformed, has another unit, or asks for several ranges, which may be passed over.
    case whole
    /// These bytes.
    case part(Range<Int>)
    /// Bytes that aren't there.
    case unsatisfiable

    init(_ field: String, of length: Int) {
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else {
            self = .whole
            return
        }
        let text = field[field.index(after: equals)...].filter { $0 != " " && $0 != "\t" }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }) else {
            self = .whole
            return
        }
        // A number too large for an integer is beyond the end of any content.
        let (first, last) = (Int(parts[0]) ?? .max, Int(parts[1]) ?? .max)
        switch (parts[0].isEmpty, parts[1].isEmpty) {
        case (true, true): self = .whole
        case (true, false):
            self = last == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - last)..<length)
        case (false, true): self = first < length ? .part(first..<length) : .unsatisfiable
        case (false, false):
            if first > last {
                self = .whole
            } else {
                self = first < length ? .part(first..<(min(last, length - 1) + 1)) : .unsatisfiable
            }
        }
    }
}
