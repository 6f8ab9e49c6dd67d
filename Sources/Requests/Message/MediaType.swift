// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A media type, with a type, a subtype and ordered parameters (RFC 9110, 8.3.1).
///
/// Common types are static members. Create any other from a literal or from its parts:
///
/// ```swift
/// let type: MediaType = .json
/// let recipe = MediaType("application", "vnd.recipes+json", parameters: [("version", "2")])
/// recipe.rawValue         // application/vnd.recipes+json; version=2
/// recipe.suffix           // json
/// extension MediaType { static let recipe: Self = "application/vnd.recipes+json" }
/// ```
///
/// Creating a type from a literal or from parts doesn't validate it. An invalid type, such as one with a line break or
/// a quote in its subtype, is rejected when the request is built; see ``validated()``. For untrusted input, use
/// ``init(parsing:)``.
///
/// Two media types are equal if their type, subtype and ordered parameters are equal. The comparison ignores case,
/// except in the values of parameters other than `charset`.
public struct MediaType: Sendable, ExpressibleByStringLiteral {
    /// A parameter, such as `charset=utf-8`.
    public typealias Parameter = HTTPField.Parameter

    /// The part before the slash, such as `text`; `*` in a range.
    public var type: String
    /// The part after the slash, such as `html`; `*` in a range.
    public var subtype: String
    /// The parameters, in the order in which they are sent.
    public var parameters: [Parameter]

    /// Creates a media type from its parts; by default, without parameters.
    public init(_ type: String, _ subtype: String, parameters: [(name: String, value: String)] = []) {
        self.type = type
        self.subtype = subtype
        self.parameters = parameters.map { Parameter($0.name, $0.value) }
    }

    /// Creates a media type from a literal.
    public init(stringLiteral value: String) {
        // If the string can't be parsed, keep it unchanged, so that the validation error can show it.
        self = (try? MediaType(parsing: value)) ?? MediaType(value, "")
    }

    /// Accesses the value of a parameter; `nil` if the type doesn't have it.
    ///
    /// Setting it replaces the parameter in place.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// Returns a copy of the media type, with this parameter added or its value replaced.
    public func parameter(_ name: String, _ value: String) -> MediaType {
        var copy = self
        copy[parameter: name] = value
        return copy
    }

    /// The type and subtype in lower case, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)".lowercasedASCII }

    /// The structured syntax suffix, such as `json` for `application/problem+json`; `nil` if there is none (RFC 6838,
    /// 4.2.8).
    public var suffix: String? {
        guard let plus = subtype.utf8.lastIndex(of: UInt8(ascii: "+")) else { return nil }
        let suffix = String(subtype[subtype.utf8.index(after: plus)...])
        return suffix.isEmpty ? nil : suffix.lowercasedASCII
    }

    /// Whether the type is JSON: `application/json`, or one with the suffix `+json`, such as
    /// `application/problem+json`.
    public var isJSON: Bool {
        suffix == "json" || subtype.equalsIgnoringASCIICase("json")
    }

    /// Returns whether this type or range covers another type: `*/*` covers every type, `image/*` every image.
    ///
    /// Each parameter of the range, except its weight `q`, must also be in the other type. Additional parameters of the
    /// other type are ignored (RFC 9110, 12.5.1).
    public func matches(_ other: MediaType) -> Bool {
        guard type == "*" || type.equalsIgnoringASCIICase(other.type) else { return false }
        guard subtype == "*" || subtype.equalsIgnoringASCIICase(other.subtype) else { return false }
        return parameters.allSatisfy { parameter in
            parameter.name.equalsIgnoringASCIICase("q") || other.parameters.contains(parameter)
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as it appears in a header field.
    ///
    /// Parameter values that aren't tokens are quoted, and quotes and backslashes in them are escaped.
    public var rawValue: String {
        parameters.reduce(subtype.isEmpty ? type : "\(type)/\(subtype)") { "\($0); \($1)" }
    }

    /// The type as it appears in a header field.
    public var description: String { rawValue }
}

extension MediaType: Hashable {
    /// Compares types, ignoring the case of the type and subtype.
    public static func == (lhs: MediaType, rhs: MediaType) -> Bool {
        lhs.type.equalsIgnoringASCIICase(rhs.type) && lhs.subtype.equalsIgnoringASCIICase(rhs.subtype)
            && lhs.parameters == rhs.parameters
    }

    /// Hashes the type, ignoring the case of the type and subtype.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(essence)
        hasher.combine(parameters)
    }
}

// MARK: - Parsing

extension MediaType: HTTPField.Value {
    /// Parses a media type from a header field or a configuration.
    ///
    /// Common errors in parameters are accepted, as in browsers: extra whitespace, a parameter without a value, a
    /// missing quote at the end. If a parameter is repeated, the first one is used.
    ///
    /// - Throws: ``InvalidValue`` if the type or subtype isn't a token, if the string contains a control character, or
    ///   if it is a list.
    /// - Complexity: O(n) in the length of the string, and quadratic in the number of parameters, of which at most 64
    ///   are read.
    public init(parsing text: String) throws(InvalidValue) {
        guard text.isFieldValue else { throw InvalidValue(.mediaType, "contains a control character", excerpt: text) }
        // Without this check, `text/html;q=0, */*` would be parsed as a single type with the weight “0, */*”.
        guard !text.utf8.contains(UInt8(ascii: ",")) || FieldScanner.elements(of: text).count == 1 else {
            throw InvalidValue(.mediaType, "is a list, but only one type is allowed", excerpt: text)
        }
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        let hasSlash = scanner.skip("/")
        let subtype = scanner.token()
        scanner.skipBlanks()
        guard !type.isEmpty, hasSlash, !subtype.isEmpty, scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else {
            throw InvalidValue(.mediaType, "must be of the form type/subtype", excerpt: text)
        }
        self.init(type, subtype)
        parameters = scanner.parameters().withoutRepetitions
    }

    /// Whether the type can be sent.
    ///
    /// The type, subtype and parameter names must be tokens, and no value may contain a control character.
    public var isValid: Bool { flaw == nil }

    /// Returns the type if it can be sent, and throws an error otherwise.
    ///
    /// Requests validate media types in their `Content-Type` and `Accept` fields this way. Call this method before you
    /// use ``rawValue`` elsewhere.
    ///
    /// - Throws: An ``InvalidValue`` that names the invalid part.
    public func validated() throws(InvalidValue) -> MediaType {
        guard type.isToken, subtype.isToken else {
            throw InvalidValue(.mediaType, "must be of the form type/subtype", excerpt: "\(type)/\(subtype)")
        }
        if let flaw = parameters.flaw(.mediaType) { throw flaw }
        return self
    }
}

// MARK: - Charset

extension MediaType {
    /// The character set, from the `charset` parameter; setting it replaces the parameter.
    public var charset: String? {
        get { self[parameter: "charset"] }
        set { self[parameter: "charset"] = newValue }
    }

    /// Returns the media type with this character set, such as `.plainText.charset("utf-8")`.
    public func charset(_ charset: String) -> MediaType {
        parameter("charset", charset)
    }

    /// The string encoding for the character set; `nil` if the type has no `charset`, or Foundation doesn't support it.
    public var encoding: String.Encoding? {
        charset.flatMap(String.Encoding.init(charset:))
    }
}

extension String.Encoding {
    /// The encodings that Foundation supports, with the registered name (IANA, Character Sets) and the other names in
    /// use.
    ///
    /// `iso-8859-1` means exactly that encoding, whereas browsers use `windows-1252` for it.
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

    /// Creates the encoding for a charset name, in any case; `nil` if Foundation doesn't support it.
    init?(charset: String) {
        let name = charset.lowercasedASCII
        guard let entry = Self.charsets.first(where: { $0.names.contains(name) }) else { return nil }
        self = entry.encoding
    }

    /// The registered charset name; `nil` for encodings that shouldn't be sent.
    var charset: String? {
        Self.charsets.first { $0.encoding == self }?.names.first
    }
}
