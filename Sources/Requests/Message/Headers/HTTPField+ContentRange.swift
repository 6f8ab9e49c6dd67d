// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The range of a representation that a message contains (RFC 9110, 14.4).
    ///
    /// ```swift
    /// let range = HTTPField.ContentRange(parsing: "bytes 42-1233/1234")
    /// range?.positions                                            // 42...1233
    /// HTTPField.ContentRange(unsatisfiedOf: 47022).rawValue                 // bytes */47022
    /// ```
    public struct ContentRange: Sendable, Hashable, CustomStringConvertible {
        /// The positions of the first and last byte; `nil` if the requested range can't be satisfied.
        public let positions: ClosedRange<Int64>?
        /// The length of the entire representation in bytes; `nil` if the server doesn't know it.
        public let total: Int64?

        /// The value of the field.
        public var rawValue: String {
            let total = total.map(String.init) ?? "*"
            return "bytes \(positions.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*")/\(total)"
        }

        /// The range as it appears in the field.
        public var description: String { rawValue }
    }
}

extension HTTPField.ContentRange {
    /// Creates the range of a partial response.
    ///
    /// If no byte can have these positions, building the message throws an error; see ``validated()``.
    public init(_ positions: ClosedRange<Int64>, of total: Int64? = nil) {
        self.init(positions: positions, total: total)
    }

    /// Creates the value for a range that can't be satisfied, with the length of the entire representation.
    public init(unsatisfiedOf total: Int64) {
        self.init(positions: nil, total: total)
    }
}

extension HTTPField.ContentRange: HTTPField.Value {
    /// Parses the value of a field; `nil` if it isn't a byte range, or contradicts itself.
    ///
    /// A range is invalid if its last position precedes the first, or is beyond the end of the representation (RFC
    /// 9110, 14.4). A number of 2⁶³ or more is invalid too. The unit is compared without regard to case.
    ///
    /// - Complexity: O(n) in the length of the string.
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

    /// Returns the range if it can be sent, and throws an error otherwise.
    ///
    /// - Throws: ``InvalidValue`` if a position is negative, or beyond the end of the representation.
    public func validated() throws(InvalidValue) -> HTTPField.ContentRange {
        guard isConsistent else {
            throw InvalidValue(in: .contentRange, "has an inconsistent range", excerpt: rawValue)
        }
        return self
    }

    private var isConsistent: Bool {
        guard let positions else { return total.map { $0 >= 0 } ?? false }
        return positions.lowerBound >= 0 && total.map { positions.upperBound < $0 } ?? (positions.upperBound < .max)
    }
}
