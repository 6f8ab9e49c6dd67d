// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Parses the fields of a head, from the line behind the status line to the empty line (RFC 9112, 5).
    ///
    /// The bytes come from a transport, which has recognized them as a head; parsing never fails. A folded line belongs
    /// to the one before (RFC 9112, 5.2), a line without a colon or with an invalid name is skipped, and bytes that
    /// aren't UTF-8 are read as Latin-1, which such servers send. A carriage return or a NUL within a line is read as a
    /// space: another reader might take it for the end of the line (RFC 9110, 5.5; RFC 9112, 2.2).
    ///
    /// - Parameters:
    ///   - bytes: The head.
    ///   - wanted: The name of the only fields to read: no strings are made of the others, which takes most of the
    ///     time. `nil`, the default, reads all.
    /// - Complexity: O(n) in the number of bytes.
    init(rawHead bytes: [UInt8], only wanted: HTTPField.Name? = nil) {
        var fields: [HTTPField] = []
        bytes.withUnsafeBytes { head in
            /// Whether the field of the line before is wanted; `nil` before the first line.
            var keepsFolded: Bool?
            for line in RawLines(rest: head).dropFirst() {
                if let keeps = keepsFolded, ASCII.isBlank(line[0]) {
                    guard keeps else { continue }
                    fields[fields.endIndex - 1].value += " " + String(fieldText: line)
                } else if let colon = line.offset(of: UInt8(ascii: ":")) {
                    let name = line.part(0..<colon).trimmed
                    let keeps = (wanted.map { $0.matches(name) } ?? true) && name.isToken
                    keepsFolded = keeps
                    guard keeps else { continue }
                    let value = String(fieldText: line.part(colon + 1..<line.count))
                    fields.append(HTTPField(HTTPField.Name(String(lenient: name)), value))
                } else {
                    // A line folded behind a broken one belongs to that, not to the field before it.
                    keepsFolded = false
                }
            }
        }
        self.init(fields)
    }
}

// Every response is searched several times, so the lines are parts of one buffer, and are found with `memchr`: with
// slices of an array, the searches took a tenth of the time of a small request.

/// The non-empty lines of a head, without their line ends.
private struct RawLines: Sequence, IteratorProtocol {
    var rest: UnsafeRawBufferPointer

    mutating func next() -> UnsafeRawBufferPointer? {
        while !rest.isEmpty {
            let feed = rest.offset(of: UInt8(ascii: "\n"))
            let end = feed ?? rest.count
            let hasReturn = end > 0 && rest[end - 1] == UInt8(ascii: "\r")
            let line = rest.part(0..<(hasReturn ? end - 1 : end))
            rest = rest.part((feed.map { $0 + 1 } ?? end)..<rest.count)
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
    /// Whether bytes are the name, in any case.
    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard rawValue.utf8.count == bytes.count else { return false }
        // A loop takes half of the time of `elementsEqual`, and every head is searched several times.
        var offset = 0
        for byte in rawValue.utf8 {
            guard ASCII.lowercased(byte) == ASCII.lowercased(bytes[offset]) else { return false }
            offset += 1
        }
        return true
    }
}

extension String {
    /// The text of a part of a line, without blanks around it.
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
