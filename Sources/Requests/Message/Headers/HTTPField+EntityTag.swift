// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension HTTPField {
    /// The entity tag of a representation, which shows whether it has changed (RFC 9110, 8.8.3).
    ///
    /// ```swift
    /// let tag = HTTPField.EntityTag(parsing: response.headers[.eTag] ?? "")         // "xyzzy" or W/"xyzzy"
    /// let next = HTTPField.ifNoneMatch(tag)
    /// ```
    public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
        /// The string between the quotes.
        public let value: String
        /// Whether representations with the same tag may differ in their bytes, but not in their meaning.
        public let isWeak: Bool

        /// Creates a tag; a strong one by default.
        public init(_ value: String, isWeak: Bool = false) {
            self.value = value
            self.isWeak = isWeak
        }

        /// Returns whether both tags identify the same bytes, as range requests and updates require.
        public func matchesStrongly(_ other: EntityTag) -> Bool {
            !isWeak && !other.isWeak && value == other.value
        }

        /// Returns whether both tags identify content with the same meaning, as cache validation requires.
        public func isWeaklyEqual(to other: EntityTag) -> Bool {
            value == other.value
        }

        /// The tag as it appears in a field.
        public var rawValue: String { "\(isWeak ? "W/" : "")\"\(value)\"" }

        /// The tag as it appears in a field.
        public var description: String { rawValue }
    }
}

extension HTTPField.EntityTag: HTTPField.Value {
    /// Parses a tag; `nil` if the string isn't a tag.
    ///
    /// Tags without quotes, which some servers send, are accepted.
    public init?(parsing text: String) {
        var text = text.trimmedOfBlanks[...]
        let isWeak = text.hasPrefix("W/") || text.hasPrefix("w/")
        if isWeak { text = text.dropFirst(2) }
        if text.utf8.count >= 2, text.utf8.first == UInt8(ascii: "\""), text.utf8.last == UInt8(ascii: "\"") {
            text = text[text.utf8.index(after: text.startIndex)..<text.utf8.index(before: text.endIndex)]
        } else if text.isEmpty || text == "*" {
            return nil
        }
        self.init(String(text), isWeak: isWeak)
        guard isValid else { return nil }
    }

    /// Parses the tags in the value of an `If-Match` or `If-None-Match` field, and skips invalid tags.
    ///
    /// - Complexity: O(n) in the length of the string.
    public static func list(parsing text: String) -> [HTTPField.EntityTag] {
        FieldScanner.members(of: [text], hasEscapes: false).compactMap(HTTPField.EntityTag.init(parsing:))
    }

    /// Returns the tag if it is valid, that is, contains no quotes, whitespace or control characters.
    ///
    /// - Throws: ``InvalidValue`` if the tag isn't valid.
    public func validated() throws(InvalidValue) -> HTTPField.EntityTag {
        guard isValid else { throw InvalidValue(.headerValue, "isn't a valid entity tag", excerpt: value) }
        return self
    }

    private var isValid: Bool {
        value.utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }
}
