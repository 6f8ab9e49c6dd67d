// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The type of content: a type, a subtype, and parameters in their order (RFC 9110, 8.3.1).
///
/// Commonly used types are static members, and any other is a literal or made of its pieces:
///
/// ```swift
/// let type: MediaType = .json
/// let recipe = MediaType("application", "vnd.recipes+json", parameters: [("version", "2")])
/// recipe.rawValue         // application/vnd.recipes+json; version=2
/// recipe.suffix           // json
/// extension MediaType { static let recipe: Self = "application/vnd.recipes+json" }
/// ```
///
/// A type made of a literal or of pieces isn't checked at once. An invalid one, for example with a line break or a
/// quote in its subtype, is refused when the request is built: ``validated()``. For text from outside, use
/// ``init(parsing:)``.
///
/// Two are equal if type, subtype and parameters are, in the same order. The case of letters is ignored, except in the
/// values of parameters other than `charset`.
public struct MediaType: Sendable, ExpressibleByStringLiteral {
    /// A parameter, such as `charset=utf-8`.
    public typealias Parameter = HTTPField.Parameter

    /// The text before the slash, such as `text`; `*` in a range.
    public var type: String
    /// The text behind the slash, such as `html`; `*` in a range.
    public var subtype: String
    /// The parameters, in the order in which they are sent.
    public var parameters: [Parameter]

    /// Makes a media type of its pieces; without parameters by default.
    public init(_ type: String, _ subtype: String, parameters: [(name: String, value: String)] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters.map { Parameter($0.name, $0.value) }
    }

    /// Makes a media type from a literal.
    public init(stringLiteral value: String) {
        // A text that can't be parsed is kept whole, for the error that names it.
        self = (try? MediaType(parsing: value)) ?? MediaType(value, "")
    }

    /// The value of a parameter, or `nil` if the type doesn't have it; setting it replaces the parameter in its place.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// Returns the media type with another parameter, or with another value for it.
    public func parameter(_ name: String, _ value: String) -> MediaType {
        var copy = self
        copy[parameter: name] = value
        return copy
    }

    /// Type and subtype in lower case, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)".lowercasedASCII }

    /// The format that the subtype is a dialect of: `json` of `application/problem+json`; `nil` if it has none (RFC
    /// 6838, 4.2.8).
    public var suffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        let suffix = String(subtype[subtype.utf8.index(after: plus)...])
        return suffix.isEmpty ? nil : suffix.lowercasedASCII
    }

    /// Whether content of the type is JSON: `application/json`, or a dialect of it such as `application/problem+json`.
    public var isJSON: Bool {
        suffix == "json" || subtype.equalsIgnoringASCIICase("json")
    }

    /// Whether this type, which may be a range, covers another: `*/*` covers every type, `image/*` every image.
    ///
    /// A parameter of the range, except its weight `q`, must also be in the other type; additional parameters of the
    /// other are ignored (RFC 9110, 12.5.1).
    public func matches(_ other: MediaType) -> Bool {
        guard type == "*" || type.equalsIgnoringASCIICase(other.type) else { return false }
        guard subtype == "*" || subtype.equalsIgnoringASCIICase(other.subtype) else { return false }
        return parameters.allSatisfy { parameter in
            parameter.name.equalsIgnoringASCIICase("q") || other.parameters.contains(parameter)
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as it stands in a field: values that aren't tokens are quoted, with their quotes and backslashes
    /// escaped.
    public var rawValue: String {
        parameters.reduce(subtype.isEmpty ? type : "\(type)/\(subtype)") { "\($0); \($1)" }
    }

    /// The value as it stands in the field.
    public var description: String { rawValue }
}

extension MediaType: Hashable {
    /// Compares types without regard to the case of type and subtype.
    public static func == (lhs: MediaType, rhs: MediaType) -> Bool {
        lhs.type.equalsIgnoringASCIICase(rhs.type) && lhs.subtype.equalsIgnoringASCIICase(rhs.subtype)
            && lhs.parameters == rhs.parameters
    }

    /// Hashes the type without regard to the case of type and subtype.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(essence)
        hasher.combine(parameters)
    }
}

// MARK: - Parsing

extension MediaType: HTTPField.Value {
    /// Reads a media type from the text of a field or of a configuration.
    ///
    /// Common errors of servers in the parameters are accepted, as browsers do: blanks anywhere, a parameter without a
    /// value, a missing quote at the end. Of a repeated parameter, the first counts.
    ///
    /// - Throws: ``InvalidValue`` if type or subtype isn't a token, the text has a control character, or it is a
    ///   list.
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init(parsing text: String) throws(InvalidValue) {
        guard text.isFieldValue else { throw InvalidValue(.mediaType, "has a control character", excerpt: text) }
        // `text/html;q=0, */*` would be a type whose weight is “0, */*”.
        guard !text.utf8.contains(UInt8(ascii: ",")) || FieldScanner.elements(of: text).count == 1 else {
            throw InvalidValue(.mediaType, "is a list of several types", excerpt: text)
        }
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        let hasSlash = scanner.skip("/")
        let subtype = scanner.token()
        scanner.skipBlanks()
        guard !type.isEmpty, hasSlash, !subtype.isEmpty, scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else {
            throw InvalidValue(.mediaType, "isn't a type and a subtype", excerpt: text)
        }
        self.init(type, subtype)
        parameters = scanner.parameters().withoutRepetitions
    }

    /// Whether the type can be sent: type, subtype and the names of parameters are tokens, and no value has a control
    /// character.
    public var isValid: Bool { flaw == nil }

    /// The type itself, if it can be sent.
    ///
    /// A request checks its `Content-Type` and `Accept` fields that were made from types in this way. If you use
    /// ``rawValue`` elsewhere, call this before.
    ///
    /// - Throws: ``InvalidValue`` that names the invalid piece.
    public func validated() throws(InvalidValue) -> MediaType {
        guard type.isToken, subtype.isToken else {
            throw InvalidValue(.mediaType, "isn't a type and a subtype", excerpt: "\(type)/\(subtype)")
        }
        if let flaw = parameters.flaw(.mediaType) { throw flaw }
        return self
    }
}

// MARK: - Charset

extension MediaType {
    /// The character set of a text, as its parameter says; setting it replaces the parameter.
    public var charset: String? {
        get { self[parameter: "charset"] }
        set { self[parameter: "charset"] = newValue }
    }

    /// The media type of a text in this character set, such as `.plainText.charset("utf-8")`.
    public func charset(_ charset: String) -> MediaType {
        parameter("charset", charset)
    }

    /// The encoding of the character set, or `nil` if the type has no charset or Foundation has no name for it.
    public var encoding: String.Encoding? {
        charset.flatMap(String.Encoding.init(charset:))
    }
}

extension String.Encoding {
    /// The encodings that Foundation knows, each with its registered name (IANA, Character Sets) and the other names
    /// that servers use.
    ///
    /// `iso-8859-1` is read literally, not as the `windows-1252` that browsers use for it.
    private static let charsets: [(encoding: String.Encoding, names: [String])] = [
        (.utf8, ["utf-8", "utf8", "unicode-1-1-utf-8", "x-unicode20utf8"]),
        (.ascii, ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us", "us"]),
        (.isoLatin1, ["iso-8859-1", "iso8859-1", "iso_8859-1", "iso88591", "latin1", "latin-1", "l1", "cp819"]),
        (.isoLatin2, ["iso-8859-2", "iso8859-2", "iso_8859-2", "iso88592", "latin2", "latin-2", "l2"]),
        (.utf16, ["utf-16", "utf16"]),
        (.utf16BigEndian, ["utf-16be", "utf16be"]),
        (.utf16LittleEndian, ["utf-16le", "utf16le"]),
        (.utf32, ["utf-32", "utf32"]),
        (.utf32BigEndian, ["utf-32be", "utf32be"]),
        (.utf32LittleEndian, ["utf-32le", "utf32le"]),
        (.windowsCP1250, ["windows-1250", "cp1250", "x-cp1250"]),
        (.windowsCP1251, ["windows-1251", "cp1251", "x-cp1251"]),
        (.windowsCP1252, ["windows-1252", "cp1252", "x-cp1252"]),
        (.windowsCP1253, ["windows-1253", "cp1253", "x-cp1253"]),
        (.windowsCP1254, ["windows-1254", "cp1254", "x-cp1254"]),
        (.shiftJIS, ["shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji"]),
        (.japaneseEUC, ["euc-jp", "x-euc-jp", "eucjp"]),
        (.iso2022JP, ["iso-2022-jp"]),
        (.macOSRoman, ["macintosh", "mac", "x-mac-roman"]),
    ]

    /// The encoding of a charset, by its name in any case; `nil` if Foundation doesn't know it.
    init?(charset: String) {
        let name = charset.lowercasedASCII
        guard let entry = Self.charsets.first(where: { $0.names.contains(name) }) else { return nil }
        self = entry.encoding
    }

    /// The registered name; `nil` for encodings that shouldn't be sent.
    var charset: String? {
        Self.charsets.first { $0.encoding == self }?.names.first
    }
}
