// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The bytes that stand for themselves in some part of an address; all others are written as `%XX` (RFC 3986, 2.1).
struct PercentEncoding: Sendable, Hashable {
    private let low: UInt64
    private let high: UInt64

    /// Keeps these ASCII characters, besides letters and digits, which every part of an address keeps.
    init(keeping characters: String) {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for byte in characters.utf8 {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }
        // The digits are 0x30...0x39, the letters 0x41...0x5A and 0x61...0x7A.
        self.low = low | 0x03FF_0000_0000_0000
        self.high = high | 0x07FF_FFFE_07FF_FFFE
    }

    /// Unreserved characters only: whatever the text is, it stays one piece (RFC 3986, 2.3).
    static let unreserved = PercentEncoding(keeping: "-._~")
    /// Whatever may stand in an address at all: unreserved and reserved characters (RFC 3986, 2.2).
    static let address = PercentEncoding(keeping: "-._~:/?#[]@!$&'()*+,;=")
    /// The scheme of an address (RFC 3986, 3.1).
    static let scheme = PercentEncoding(keeping: "+-.")
    /// A path of several segments (RFC 3986, 3.3).
    static let path = PercentEncoding(keeping: "-._~:/@!$&'()*+,;=")
    /// A whole query, whose separators are there already (RFC 3986, 3.4).
    static let query = PercentEncoding(keeping: "-._~:/?@!$&'()*+,;=")
    /// A name or a value in a query, where only `/` and `?` mean nothing (RFC 3986, 3.4).
    static let queryItem = PercentEncoding(keeping: "-._~/?")
    /// A name or a value in a form (WHATWG URL, application/x-www-form-urlencoded percent-encode set).
    static let form = PercentEncoding(keeping: "-._*")

    /// Whether the byte stands for itself.
    func keeps(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte & 63) & 1 == 1
        default: false
        }
    }

    /// Appends the encoded text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - output: What it is appended to.
    ///   - keepsTriplets: Whether a `%XX` in the text stays as it is, because that is how the text was meant.
    ///   - spaces: How a space is written.
    /// - Complexity: O(n) in the bytes of the text.
    func append(
        _ text: String,
        to output: inout [UInt8],
        keepsTriplets: Bool = false,
        spaces: Query.Spaces = .percent
    ) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            append($0, to: &output, keepsTriplets: keepsTriplets, spaces: spaces)
        }
        guard isDone == nil else { return }
        Array(text.utf8).withUnsafeBufferPointer {
            append($0, to: &output, keepsTriplets: keepsTriplets, spaces: spaces)
        }
    }

    /// The encoded text.
    func encode(_ text: String, keepsTriplets: Bool = false) -> String {
        guard !text.utf8.allSatisfy(keeps) else { return text }
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count * 2)
        append(text, to: &output, keepsTriplets: keepsTriplets)
        return String(decoding: output, as: UTF8.self)
    }

    private func append(
        _ bytes: UnsafeBufferPointer<UInt8>,
        to output: inout [UInt8],
        keepsTriplets: Bool,
        spaces: Query.Spaces
    ) {
        for (index, byte) in bytes.enumerated() {
            if keeps(byte) || keepsTriplets && bytes.isTriplet(at: index) {
                output.append(byte)
            } else if byte == UInt8(ascii: " "), spaces == .plus {
                output.append(UInt8(ascii: "+"))
            } else {
                output.append(UInt8(ascii: "%"))
                output.append(Self.digits[Int(byte >> 4)])
                output.append(Self.digits[Int(byte & 15)])
            }
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Whether a `%XX` begins at the index.
    func isTriplet(at index: Int) -> Bool {
        endIndex - index > 2 && self[index] == UInt8(ascii: "%") && self[index + 1].hexValue != nil
            && self[index + 2].hexValue != nil
    }

    /// The bytes with each `%XX` decoded; a `%` that begins no triplet stands for itself.
    ///
    /// - Complexity: O(n).
    func percentDecoded(spaces: Query.Spaces = .percent) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(count)
        var index = startIndex
        while index < endIndex {
            let byte = self[index]
            if byte == UInt8(ascii: "%"), index + 2 < endIndex,
                let high = self[index + 1].hexValue, let low = self[index + 2].hexValue
            {
                output.append(high << 4 | low)
                index += 3
            } else {
                output.append(byte == UInt8(ascii: "+") && spaces == .plus ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return output
    }
}

// MARK: - Path encoding

extension String {
    /// The text as one segment of a path, whatever it holds.
    ///
    /// Everything but unreserved characters is escaped, so that neither a `/` nor a `?` nor a `%2F` in it can change
    /// the structure of the address.
    ///
    /// - Throws: ``InvalidRequest`` for `.` and `..`, which mean another place even where they are escaped (RFC 3986,
    ///   6.2.2.2). An empty text isn't an error.
    /// - Complexity: O(n).
    package func percentEncodedPathSegment() throws(InvalidRequest) -> String {
        guard self != ".", self != ".." else {
            throw InvalidRequest(.url, "can't be a segment of a path: it means another place", excerpt: self)
        }
        return PercentEncoding.unreserved.encode(self)
    }

    /// The text as a path of several segments: its slashes and each `%XX` stay, all that would end the path is escaped.
    ///
    /// - Throws: ``InvalidRequest`` for a `..`, escaped or not, also between escaped slashes or backslashes, which some
    ///   servers take for slashes: it would climb out of the base address. A `.` is no error.
    /// - Complexity: O(n).
    package func percentEncodedPath() throws(InvalidRequest) -> String {
        guard !climbs else {
            throw InvalidRequest(.url, "has a path that climbs with “..”", excerpt: self)
        }
        return PercentEncoding.path.encode(self, keepsTriplets: true)
    }

    /// Whether a segment is `..` in any spelling.
    private var climbs: Bool {
        guard utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "%") }) else { return false }
        return Array(utf8).percentDecoded()
            .split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            .contains { $0.elementsEqual("..".utf8) }
    }
}
