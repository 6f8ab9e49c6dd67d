// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The part of a representation that a message contains (RFC 9110, 14.4).
    ///
    /// ```swift
    /// let range = HTTPField.ContentRange(parsing: "bytes 42-1233/1234")
    /// range?.positions                                            // 42...1233
    /// HTTPField.ContentRange(unsatisfiedOf: 47022).rawValue                 // bytes */47022
    /// ```
    public struct ContentRange: Sendable, Hashable, CustomStringConvertible {
        /// The positions of the first and the last byte; `nil` if the requested range can't be satisfied.
        public let positions: ClosedRange<Int64>?
        /// The byte count of the whole; `nil` if the server doesn't know it.
        public let total: Int64?

        /// The value of the field.
        public var rawValue: String {
            let total = total.map(String.init) ?? "*"
            return "bytes \(positions.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*")/\(total)"
        }

        /// The value as it stands in the field.
        public var description: String { rawValue }
    }
}

extension HTTPField.ContentRange {
    /// Makes the range of a part.
    ///
    /// Positions that no byte can have are refused when the message is built: ``validated()``.
    public init(_ positions: ClosedRange<Int64>, of total: Int64? = nil) {
        self.init(positions: positions, total: total)
    }

    /// Makes the answer to a range that can't be satisfied: the byte count of the whole.
    public init(unsatisfiedOf total: Int64) {
        self.init(positions: nil, total: total)
    }
}

extension HTTPField.ContentRange: HTTPField.Value {
    /// Reads the value of a field; `nil` if it isn't a range of bytes, or contradicts itself.
    ///
    /// A last position before the first, or outside the whole, makes a range that must not be trusted (RFC 9110, 14.4);
    /// so does a number above 2⁶³. The unit is read without regard to case.
    ///
    /// - Complexity: O(n) in the length of the text.
    public init?(parsing text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        guard scanner.token().equalsIgnoringASCIICase("bytes"), scanner.next == UInt8(ascii: " ") else { return nil }
        scanner.skipBlanks()
        var (positions, total): (ClosedRange<Int64>?, Int64?)
        if !scanner.skip("*") {
            guard let first: Int64 = scanner.number(), scanner.skip("-"), let last: Int64 = scanner.number(),
                first <= last
            else { return nil }
            positions = first...last
        }
        guard scanner.skip("/") else { return nil }
        if !scanner.skip("*") {
            total = scanner.number()
            if total == nil { return nil }
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { return nil }
        self.init(positions: positions, total: total)
        guard isConsistent else { return nil }
    }

    /// The range itself, if it can be sent.
    ///
    /// - Throws: ``InvalidValue`` if a position is negative or outside the whole.
    public func validated() throws(InvalidValue) -> HTTPField.ContentRange {
        guard isConsistent else {
            throw InvalidValue(.headerValue, "of Content-Range contradicts itself", excerpt: rawValue)
        }
        return self
    }

    private var isConsistent: Bool {
        guard let positions else { return total.map { $0 >= 0 } ?? false }
        return positions.lowerBound >= 0 && total.map { positions.upperBound < $0 } ?? (positions.upperBound < .max)
    }
}
