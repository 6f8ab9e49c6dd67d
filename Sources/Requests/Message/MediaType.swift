// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What content is: a type, a subtype, and parameters in their order (RFC 9110, 8.3.1).
///
/// Those in everyday use are static members, and any other is a literal or made of its pieces:
///
/// ```swift
/// let type: MediaType = .json
/// let recipe = MediaType("application", "vnd.recipes+json", parameters: [("version", "2")])
/// recipe.rawValue         // application/vnd.recipes+json; version=2
/// recipe.suffix           // json
/// extension MediaType { static let recipe: Self = "application/vnd.recipes+json" }
/// ```
///
/// A type made of a literal or of pieces isn't checked at once. One that is none, say because a line break or a quote
/// stands in its subtype, is refused with an error when the request is built: ``validated()``. Text from outside is
/// read by ``init(parsing:)``.
///
/// Two are equal where type, subtype and parameters are, in the same order. Letters of either case count as the same,
/// except in the values of parameters other than `charset`.
public struct MediaType: Sendable, ExpressibleByStringLiteral {
    /// A parameter, such as `charset=utf-8`.
    public typealias Parameter = HTTPField.Parameter

    /// What is before the slash, such as `text`; `*` in a range.
    public var type: String
    /// What is behind the slash, such as `html`; `*` in a range.
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
        // What can't be read is kept whole, for the error that names it.
        self = (try? MediaType(parsing: value)) ?? MediaType(value, "")
    }

    /// The value of a parameter, or nil where there is none; setting it replaces the parameter in its place.
    public subscript(parameter name: String) -> String? {
        get { parameters[named: name] }
        set { parameters[named: name] = newValue }
    }

    /// The media type with a parameter more, or with another value of it.
    public func parameter(_ name: String, _ value: String) -> MediaType {
        var copy = self
        copy[parameter: name] = value
        return copy
    }

    /// Type and subtype in lower case, such as `text/html`.
    public var essence: String { "\(type)/\(subtype)".lowercasedASCII }

    /// The format that the subtype is a dialect of: `json` of `application/problem+json`; nil where it has none (RFC
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

    /// Whether another type is of this one, which may be a range: `*/*` covers every type, `image/*` every image.
    ///
    /// A parameter of the range must stand in the other type too, except its weight `q`; further ones of the other
    /// don't matter (RFC 9110, 12.5.1).
    public func matches(_ other: MediaType) -> Bool {
        guard type == "*" || type.equalsIgnoringASCIICase(other.type) else { return false }
        guard subtype == "*" || subtype.equalsIgnoringASCIICase(other.subtype) else { return false }
        return parameters.allSatisfy { parameter in
            parameter.name.equalsIgnoringASCIICase("q") || other.parameters.contains(parameter)
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as it stands in a field: values that are no tokens are quoted, with their quotes and backslashes
    /// escaped.
    public var rawValue: String {
        var text = subtype.isEmpty ? type : "\(type)/\(subtype)"
        for parameter in parameters { text += "; \(parameter.name)=\(parameter.value.asParameterValue)" }
        return text
    }

    /// The type as it stands in a field.
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

extension MediaType: HTTPFieldValue {
    /// Reads a media type from the text of a field or of a configuration.
    ///
    /// It forgives what servers get wrong in the parameters, in the way that browsers do: blanks anywhere, a parameter
    /// without a value, a missing quote at the end. Of a parameter that stands there twice, the first counts.
    ///
    /// - Throws: ``InvalidRequest`` where type or subtype isn't a token, or a control character stands anywhere.
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init(parsing text: String) throws(InvalidRequest) {
        guard text.isFieldValue else {
            throw InvalidRequest(.mediaType, "has a control character", excerpt: text)
        }
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        let hasSlash = scanner.skip("/")
        let subtype = scanner.token()
        scanner.skipBlanks()
        guard !type.isEmpty, hasSlash, !subtype.isEmpty, scanner.isAtEnd || scanner.next == UInt8(ascii: ";") else {
            throw InvalidRequest(.mediaType, "isn't a type and a subtype", excerpt: text)
        }
        self.init(type, subtype)
        while scanner.skip(";"), parameters.count < Self.maximumParameters {
            scanner.skipBlanks()
            let name = scanner.text(upTo: ";", "=")
            guard scanner.skip("=") else { continue }
            scanner.skipBlanks()
            let value = scanner.parameterValue(upTo: ";")
            guard name.isToken, self[parameter: name] == nil else { continue }
            parameters.append(Parameter(name, value))
        }
    }

    private static var maximumParameters: Int { 64 }

    /// Whether the type can be sent: type, subtype and the names of parameters are tokens, and no value has a control
    /// character.
    public var isValid: Bool { flaw == nil }

    /// The type itself, where it can be sent.
    ///
    /// A request checks its `Content-Type` and `Accept` fields that were made from types in this way. Code that puts
    /// ``rawValue`` somewhere by itself calls this before.
    ///
    /// - Throws: ``InvalidRequest`` that names the piece at fault.
    public func validated() throws(InvalidRequest) -> MediaType {
        if let flaw { throw flaw }
        return self
    }

    private var flaw: InvalidRequest? {
        guard type.isToken, subtype.isToken else {
            return InvalidRequest(
                .mediaType,
                "isn't a type and a subtype that are tokens",
                excerpt: "\(type)/\(subtype)"
            )
        }
        return parameters.flaw(.mediaType)
    }
}

extension MediaType: Codable {
    /// Reads a type from a string.
    ///
    /// - Throws: `DecodingError` where it isn't one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(InvalidRequest) {
            try self.init(parsing: text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    /// Writes the type as a string.
    ///
    /// - Throws: ``InvalidRequest`` where it isn't one that could be read again, and what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(validated().rawValue)
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

    /// The encoding that the character set stands for, or nil where there is none or Foundation has no name for it.
    public var encoding: String.Encoding? {
        guard let charset else { return nil }
        // The names of the IANA's registry that are seen on the web. `iso-8859-1` is what it says, and not the
        // `windows-1252` that browsers read it as.
        switch charset.lowercasedASCII {
        case "utf-8", "utf8", "unicode-1-1-utf-8": return .utf8
        case "us-ascii", "ascii", "ansi_x3.4-1968": return .ascii
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1": return .isoLatin1
        case "iso-8859-2", "latin2": return .isoLatin2
        case "utf-16": return .utf16
        case "utf-16le": return .utf16LittleEndian
        case "utf-16be": return .utf16BigEndian
        case "utf-32": return .utf32
        case "utf-32le": return .utf32LittleEndian
        case "utf-32be": return .utf32BigEndian
        case "windows-1250", "cp1250": return .windowsCP1250
        case "windows-1251", "cp1251": return .windowsCP1251
        case "windows-1252", "cp1252": return .windowsCP1252
        case "windows-1253", "cp1253": return .windowsCP1253
        case "windows-1254", "cp1254": return .windowsCP1254
        case "shift_jis", "shift-jis", "sjis": return .shiftJIS
        case "euc-jp": return .japaneseEUC
        case "iso-2022-jp": return .iso2022JP
        case "macintosh": return .macOSRoman
        default: return nil
        }
    }
}

// MARK: - Charset

extension String.Encoding {
    /// The registered names (IANA, Character Sets) of the encodings that Foundation knows.
    private static let charsets: [(name: String, encoding: String.Encoding)] = [
        ("utf-8", .utf8),
        ("us-ascii", .ascii),
        ("iso-8859-1", .isoLatin1),
        ("iso-8859-2", .isoLatin2),
        ("utf-16", .utf16),
        ("utf-16be", .utf16BigEndian),
        ("utf-16le", .utf16LittleEndian),
        ("utf-32", .utf32),
        ("utf-32be", .utf32BigEndian),
        ("utf-32le", .utf32LittleEndian),
        ("windows-1250", .windowsCP1250),
        ("windows-1251", .windowsCP1251),
        ("windows-1252", .windowsCP1252),
        ("windows-1253", .windowsCP1253),
        ("windows-1254", .windowsCP1254),
        ("shift_jis", .shiftJIS),
        ("euc-jp", .japaneseEUC),
        ("iso-2022-jp", .iso2022JP),
        ("macintosh", .macOSRoman),
    ]

    /// What else servers call them.
    private static let aliases: [(name: String, encoding: String.Encoding)] = [
        ("utf8", .utf8), ("ascii", .ascii), ("latin1", .isoLatin1), ("latin-1", .isoLatin1), ("sjis", .shiftJIS),
    ]

    /// The encoding of a charset, by its name in whatever case; nil for one that Foundation doesn't know.
    init?(charset: String) {
        let all = Self.charsets + Self.aliases
        guard let entry = all.first(where: { $0.name.equalsIgnoringASCIICase(charset) }) else { return nil }
        self = entry.encoding
    }

    /// The registered name; nil for encodings that no peer should be sent.
    var charset: String? {
        Self.charsets.first { $0.encoding == self }?.name
    }
}
