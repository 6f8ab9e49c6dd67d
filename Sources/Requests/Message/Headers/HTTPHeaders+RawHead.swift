// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Parses the header fields of a message head, from the line after the status line to the empty line (RFC 9112, 5).
    ///
    /// The transport has already recognized the bytes as a head, so parsing never fails. A folded line is appended to
    /// the previous line (RFC 9112, 5.2). A line without a colon or with an invalid name is skipped. Bytes that aren't
    /// valid UTF-8 are decoded as Latin-1. A carriage return or NUL within a line is read as a space, because another
    /// parser might take it for the end of the line (RFC 9110, 5.5; RFC 9112, 2.2).
    ///
    /// - Parameters:
    ///   - bytes: The head.
    ///   - requestedName: The name of the only fields to parse; `nil`, the default, parses all. Parsing only one field
    ///     saves most of the time, because no strings are created for the others.
    /// - Complexity: O(n) in the number of bytes.
    init(rawHead bytes: [UInt8], only requestedName: HTTPField.Name? = nil) {
        var fields: [HTTPField] = []
        bytes.withUnsafeBytes { head in
            /// Whether the field in the previous line is kept; `nil` before the first line.
            var keepsContinuation: Bool?
            for line in RawLines(rest: head).dropFirst() {
                if let keeps = keepsContinuation, ASCII.isBlank(line[0]) {
                    guard keeps else { continue }
                    fields[fields.endIndex - 1].value += " " + String(fieldText: line)
                } else if let colon = line.offset(of: UInt8(ascii: ":")) {
                    let name = line.part(0..<colon).trimmed
                    let keeps = (requestedName.map { $0.matches(name) } ?? true) && name.isToken
                    keepsContinuation = keeps
                    guard keeps else { continue }
                    let value = String(fieldText: line.part(colon + 1..<line.count))
                    fields.append(HTTPField(HTTPField.Name(String(lenient: name)), value))
                } else {
                    // A continuation of a malformed line belongs to that line, rather than to the field before it.
                    keepsContinuation = false
                }
            }
        }
        self.init(fields)
    }
}

// Every response is searched several times, so the lines are slices of one buffer and are found with `memchr`. With
// array slices, the searches took a tenth of the time of a small request.

/// The non-empty lines of a message head, without their line endings.
private struct RawLines: Sequence, IteratorProtocol {
    var rest: UnsafeRawBufferPointer

    mutating func next() -> UnsafeRawBufferPointer? {
        while !rest.isEmpty {
            let lineFeed = rest.offset(of: UInt8(ascii: "\n"))
            let end = lineFeed ?? rest.count
            let hasReturn = end > 0 && rest[end - 1] == UInt8(ascii: "\r")
            let line = rest.part(0..<(hasReturn ? end - 1 : end))
            rest = rest.part((lineFeed.map { $0 + 1 } ?? end)..<rest.count)
            if !line.isEmpty { return line }
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    fileprivate var trimmed: UnsafeRawBufferPointer {
        var (start, end) = (0, count)
        while start < end, ASCII.isBlank(self[start]) { start += 1 }
        while start < end, ASCII.isBlank(self[end - 1]) { end -= 1 }
        return part(start..<end)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var isToken: Bool { !isEmpty && allSatisfy(ASCIISet.token.contains) }
}

extension HTTPField.Name {
    /// Returns whether the bytes are this name, ignoring case.
    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rawValue.utf8.count == bytes.count else { return false }
        // A loop is twice as fast as `elementsEqual`, which matters because every head is searched several times.
        var offset = 0
        for byte in rawValue.utf8 {
            guard ASCII.lowercased(byte) == ASCII.lowercased(bytes[offset]) else { return false }
            offset += 1
        }
        return true
    }
}

extension String {
    /// Creates the string of a field value, without surrounding whitespace.
    fileprivate init(fieldText bytes: UnsafeRawBufferPointer) {
        guard bytes.offset(of: UInt8(ascii: "\r")) ?? bytes.offset(of: 0) != nil else {
            self.init(lenient: bytes.trimmed)
            return
        }
        let clean = bytes.map { $0 == UInt8(ascii: "\r") || $0 == 0 ? UInt8(ascii: " ") : $0 }
        self = clean.withUnsafeBytes { String(lenient: $0.trimmed) }
    }

    fileprivate init(lenient bytes: UnsafeRawBufferPointer) {
        self = String(utf8: bytes) ?? String(latin1: bytes)
    }
}
