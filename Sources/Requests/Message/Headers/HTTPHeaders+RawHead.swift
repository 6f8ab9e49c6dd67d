// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPHeaders {
    /// Parses the fields of a head, from the line behind the status line to the empty line (RFC 9112, 5).
    ///
    /// The bytes have come through a transport, which decided that they are a head; here nothing fails. A folded line
    /// belongs to the one before (RFC 9112, 5.2), a line without a colon is passed over, and bytes that aren't UTF-8
    /// are read as Latin-1, which is what such servers mean.
    ///
    /// - Complexity: O(n) in the number of bytes.
    init(rawHead bytes: [UInt8]) {
        var fields: [HTTPField] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if let first = line.first, first.isBlank, let last = fields.indices.last {
                fields[last].value += " " + String(lenient: line.trimmed)
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex {
                let name = String(lenient: line[..<colon].trimmed)
                guard !name.isEmpty else { continue }
                fields.append(HTTPField(HTTPField.Name(name), String(lenient: line[(colon + 1)...].trimmed)))
            }
        }
        self.init(fields)
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
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
