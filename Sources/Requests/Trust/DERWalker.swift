// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Walks over the elements of DER (X.690), as far as certificates need it.
///
/// The bytes come from anywhere. What isn't DER gives nil: an element that ends behind its surroundings, a length that
/// is indefinite or longer than it has to be, a tag of several bytes, which no certificate uses.
struct DERWalker: Sendable {
    /// One element: what it is, what is in it, and both with the length between them.
    struct Element: Sendable {
        let tag: UInt8
        let content: ArraySlice<UInt8>
        let whole: ArraySlice<UInt8>

        /// Walks over what is in the element.
        var walker: DERWalker { DERWalker(content) }
    }

    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let sequence: UInt8 = 0x30
    /// What stands in brackets in a definition: `[0]`.
    static let context0: UInt8 = 0xA0

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Whether everything has been walked over.
    var isAtEnd: Bool { rest.isEmpty }

    /// The next element, where it is of this kind; any other stays the next.
    mutating func next(_ tag: UInt8) -> Element? {
        guard rest.first == tag else { return nil }
        return next()
    }

    /// The next element; nil at the end, and where there is no DER.
    mutating func next() -> Element? {
        var bytes = rest
        guard let tag = bytes.popFirst(), tag & 0x1F != 0x1F, let first = bytes.popFirst(),
            let length = Self.length(first, &bytes), length <= bytes.count
        else { return nil }
        let content = bytes.prefix(length)
        let whole = rest[rest.startIndex..<content.endIndex]
        rest = rest[content.endIndex...]
        return Element(tag: tag, content: content, whole: whole)
    }

    private static func length(_ first: UInt8, _ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard first >= 0x80 else { return Int(first) }
        // Four bytes are 4 GiB: no length here has more, and none can overflow.
        let count = Int(first & 0x7F)
        guard 1...4 ~= count, bytes.count >= count else { return nil }
        let length = bytes.prefix(count).reduce(0) { $0 << 8 | Int64($1) }
        bytes.removeFirst(count)
        // The one shortest form, by which equal certificates are equal bytes (10.1).
        guard length >= 0x80, length >> (8 * (Int64(count) - 1)) != 0 else { return nil }
        return Int(exactly: length)
    }
}
