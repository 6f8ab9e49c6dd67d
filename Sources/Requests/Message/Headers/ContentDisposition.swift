// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The presentation of content, with a suggested file name (RFC 6266).
///
/// ```swift
/// let disposition = ContentDisposition(parsing: "attachment; filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt")
/// disposition?.fileName                                                                 // €.txt
/// ContentDisposition.attachment(fileName: "€.txt").rawValue
/// // attachment; filename="_.txt"; filename*=UTF-8''%E2%82%AC.txt
/// ```
///
/// - Warning: A name from a server is untrusted: it may contain `../`, a drive, a line break. Don't use it as a path.
public struct ContentDisposition: Sendable, Hashable, CustomStringConvertible {
    /// The kind of presentation, in lower case: `attachment`, `inline`, `form-data`.
    public var type: String
    /// The parameters in their order, without the file name.
    public var parameters: [HTTPField.Parameter]
    /// The name of the file, or `nil` if the field has none.
    public var fileName: String?

    /// Makes a disposition.
    public init(_ type: String, parameters: [HTTPField.Parameter] = [], fileName: String? = nil) {
        self.type = type
        self.parameters = parameters
        self.fileName = fileName
    }

    /// Content to be saved as a file.
    public static func attachment(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition("attachment", fileName: fileName)
    }

    /// Content to be shown.
    public static func inline(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition("inline", fileName: fileName)
    }

    /// The value of the first parameter of a name, or `nil` if the field doesn't have it.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// Whether the content is to be saved as a file: true for every type that isn't known to be shown (RFC 6266, 4.2).
    public var isAttachment: Bool {
        !type.equalsIgnoringASCIICase("inline") && !type.equalsIgnoringASCIICase("form-data")
    }

    /// The disposition as it stands in the field.
    ///
    /// A name that isn't plain ASCII is sent twice: in ASCII for old readers, with `_` for other characters, and in
    /// UTF-8 (RFC 8187).
    public var rawValue: String {
        var text = type
        for parameter in parameters { text += "; \(parameter)" }
        guard let fileName else { return text }
        guard !fileName.utf8.allSatisfy(\.isPlain) else { return "\(text); filename=\(fileName.quoted)" }
        let plain = String(
            fileName.map { character in
                character.utf8.count == 1 && character.utf8.allSatisfy(\.isPlain) ? character : "_"
            }
        )
        return "\(text); filename=\(plain.quoted); filename*=UTF-8''\(fileName.asExtendedValue)"
    }

    /// The disposition as it stands in the field.
    public var description: String { rawValue }
}

extension ContentDisposition: HTTPFieldValue {
    /// The disposition itself, if it can be sent.
    ///
    /// - Throws: ``InvalidRequest`` if the type or the name of a parameter isn't a token, or the file name or a value
    ///   has a control character.
    public func validated() throws(InvalidRequest) -> ContentDisposition {
        guard type.isToken else {
            throw InvalidRequest(.headerValue, "of Content-Disposition has a type that isn't a token", excerpt: type)
        }
        if let flaw = parameters.flaw(.headerValue, "of Content-Disposition ") { throw flaw }
        guard fileName?.isFieldValue != false else {
            throw InvalidRequest(
                .headerValue,
                "of Content-Disposition has a control character in the name of the file",
                excerpt: fileName ?? ""
            )
        }
        return self
    }
}

extension UInt8 {
    /// Whether every reader takes the byte in a quoted name literally: it needs no escape, and isn't a `%`, which some
    /// decode.
    fileprivate var isPlain: Bool {
        0x20 <= self && self < 0x7F && self != UInt8(ascii: "\"") && self != UInt8(ascii: "\\")
            && self != UInt8(ascii: "%")
    }
}

// MARK: - Parsing

extension ContentDisposition {
    /// Reads the value of a field; `nil` if no part of it can be read.
    ///
    /// If there are two file names, the one with a character set takes precedence (RFC 6266, 4.3), unless it can't be
    /// read. Common errors of servers are accepted: no type, blanks in a name without quotes, a missing quote, a
    /// repeated parameter, of which the first counts.
    ///
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init?(parsing text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        var rest = scanner
        let type = scanner.token()
        scanner.skipBlanks()
        // Without a type, the text begins with a parameter. It is read as a parameter of an attachment.
        let hasType = scanner.isAtEnd || scanner.next == UInt8(ascii: ";")
        self.init(hasType && !type.isEmpty ? type.lowercasedASCII : "attachment")
        if hasType { rest = scanner }
        var extendedName: String?
        var isKnown = hasType && !type.isEmpty

        while !rest.isAtEnd, parameters.count < Self.maximumParameters {
            while rest.skip(";") || rest.skip(" ") || rest.skip("\t") {}
            let name = rest.text(upTo: ";", "=")
            guard rest.skip("=") else { continue }
            rest.skipBlanks()
            let value = rest.parameterValue(upTo: ";")
            guard name.isToken else { continue }
            isKnown = true
            if name.equalsIgnoringASCIICase("filename*") {
                extendedName = extendedName ?? value.decodedExtendedValue
            } else if name.equalsIgnoringASCIICase("filename") {
                fileName = fileName ?? value
            } else if self[parameter: name] == nil {
                parameters.append(HTTPField.Parameter(name, value))
            }
        }
        guard isKnown else { return nil }
        fileName = extendedName ?? fileName
    }

    private static var maximumParameters: Int { 64 }
}

// MARK: - Extended value

/// Values of parameters in a character set of their own (RFC 8187).
extension String {
    /// The bytes of the string in UTF-8, with `%XX` for all but the letters, digits and few signs of `attr-char`.
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

    /// The decoded text of `UTF-8'en'%e2%82%ac`; `nil` if the character set isn't UTF-8 or ISO-8859-1, or it is
    /// malformed.
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
    // RFC 8187, 3.2.1: the characters of a token, without `*`, `'` and `%`.
    fileprivate var isAttributeCharacter: Bool {
        ASCII.isToken(self) && self != UInt8(ascii: "*") && self != UInt8(ascii: "'") && self != UInt8(ascii: "%")
    }
}
