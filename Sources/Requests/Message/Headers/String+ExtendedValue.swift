// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Values of parameters in a character set of their own (RFC 8187).
extension String {
    /// The bytes of the string in UTF-8, with all but the letters, digits and few signs of `attr-char` as `%XX`.
    var asExtendedValue: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            if byte.isAttributeCharacter {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexDigit(byte >> 4), Self.hexDigit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What `UTF-8'en'%e2%82%ac` stands for; nil where the character set isn't UTF-8 or ISO-8859-1, or it is malformed.
    var decodedExtendedValue: String? {
        let parts = utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Self.decodingPercent(parts[2]) else { return nil }
        switch String(decoding: parts[0], as: UTF8.self).lowercasedASCII {
        case "utf-8": return String(utf8: bytes)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    private static func decodingPercent(_ text: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(value(ofHexDigit:)),
                let low = iterator.next().flatMap(value(ofHexDigit:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexDigit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") + number - 10
    }

    private static func value(ofHexDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UInt8 {
    // RFC 8187, 3.2.1: those of a token, without `*`, `'` and `%`.
    fileprivate var isAttributeCharacter: Bool {
        ASCII.isToken(self) && self != UInt8(ascii: "*") && self != UInt8(ascii: "'") && self != UInt8(ascii: "%")
    }
}
