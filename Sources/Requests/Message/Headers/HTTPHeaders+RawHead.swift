// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Parses the fields of a head, from the line behind the status line to the empty line (RFC 9112, 5).
    ///
    /// The bytes come from a transport, which has recognized them as a head; parsing never fails. A folded line belongs
    /// to the one before (RFC 9112, 5.2), a line without a colon is skipped, and bytes that aren't UTF-8 are read as
    /// Latin-1, which such servers send.
    ///
    /// - Parameters:
    ///   - bytes: The head.
    ///   - wanted: The name of the only fields to read: no strings are made of the others, which takes most of the
    ///     time. `nil`, the default, reads all.
    /// - Complexity: O(n) in the number of bytes.
    init(rawHead bytes: [UInt8], only wanted: HTTPField.Name? = nil) {
        var fields: [HTTPField] = []
        /// Whether the field of the line before is wanted; `nil` before the first line.
        var keepsFolded: Bool?
        for line in RawLines(bytes).dropFirst() {
            if let first = line.first, first.isBlank, let keeps = keepsFolded {
                guard keeps else { continue }
                fields[fields.endIndex - 1].value += " " + String(lenient: line.trimmed)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
                let name = line[..<colon].trimmed
                guard !name.isEmpty else { continue }
                let keeps = wanted.map { $0.isSpelled(name) } ?? true
                keepsFolded = keeps
                guard keeps else { continue }
                let value = String(lenient: line[(colon + 1)...].trimmed)
                fields.append(HTTPField(HTTPField.Name(String(lenient: name)), value))
            }
        }
        self.init(fields)
    }
}

/// The non-empty lines of a head, without their line ends.
private struct RawLines: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func next() -> ArraySlice<UInt8>? {
        rest = rest.drop { $0 == UInt8(ascii: "\n") }
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest[line.endIndex...]
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

extension HTTPField.Name {
    /// Whether bytes are the name, in any case.
    fileprivate func isSpelled(_ bytes: ArraySlice<UInt8>) -> Bool {
        let name = rawValue.utf8
        return name.count == bytes.count
            && zip(name, bytes).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
    fileprivate var trimmed: ArraySlice<UInt8> {
        guard let start = firstIndex(where: { !$0.isBlank }), let end = lastIndex(where: { !$0.isBlank }) else {
            return []
        }
        return self[start...end]
    }
}

extension String {
    fileprivate init(lenient bytes: ArraySlice<UInt8>) {
        self =
            String(utf8: bytes)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
