// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension HTTPField {
    /// The presentation of content, with a suggested file name (RFC 6266).
    ///
    /// ```swift
    /// let disposition = ContentDisposition(parsing: "attachment; filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt")
    /// disposition?.fileName                                                                 // €.txt
    /// ContentDisposition.attachment(fileName: "€.txt").rawValue
    /// // attachment; filename="_.txt"; filename*=UTF-8''%E2%82%AC.txt
    /// ```
    ///
    /// - Warning: A file name from a server is untrusted input. It may contain `../`, a drive letter or a line break,
    ///   so don't use it as a path.
    public struct ContentDisposition: Sendable, Hashable, CustomStringConvertible {
        /// The disposition type in lower case, such as `attachment`, `inline` or `form-data`.
        public var type: String
        /// The parameters in the order in which they are sent, without the file name.
        public var parameters: [HTTPField.Parameter]
        /// The file name, or `nil` if the field has none.
        public var fileName: String?

        /// Creates a disposition.
        public init(_ type: String, parameters: [HTTPField.Parameter] = [], fileName: String? = nil) {
            self.type = type
            self.parameters = parameters
            self.fileName = fileName
        }

        /// Creates a disposition for content that should be saved as a file.
        public static func attachment(fileName: String? = nil) -> ContentDisposition {
            ContentDisposition("attachment", fileName: fileName)
        }

        /// Accesses the value of the first parameter with this name; `nil` if there is none.
        public subscript(parameter name: String) -> String? {
            get { parameters[named: name] }
            set { parameters[named: name] = newValue }
        }

        /// The disposition as it appears in the field.
        ///
        /// A file name that isn't plain ASCII is sent twice: in ASCII for old clients, with `_` in place of other
        /// characters, and in UTF-8 (RFC 8187).
        public var rawValue: String {
            var text = type
            for parameter in parameters { text += "; \(parameter)" }
            guard let fileName else { return text }
            guard !ASCIISet.quotableASCII.containsAll(fileName) else { return "\(text); filename=\(fileName.quoted)" }
            let plain = String(fileName.map { ASCIISet.quotableASCII.containsAll(String($0)) ? $0 : "_" })
            return "\(text); filename=\(plain.quoted); filename*=UTF-8''\(ASCIISet.extendedValue.encode(fileName))"
        }

        /// The disposition as it appears in the field.
        public var description: String { rawValue }
    }
}

extension HTTPField.ContentDisposition: HTTPField.Value {
    /// Returns the disposition if it can be sent, and throws an error otherwise.
    ///
    /// - Throws: ``InvalidValue`` if the type or the name of a parameter isn't a token, or if the file name or a value
    ///   contains a control character.
    public func validated() throws(InvalidValue) -> HTTPField.ContentDisposition {
        guard type.isToken else {
            throw InvalidValue(in: .contentDisposition, "has an invalid type", excerpt: type)
        }
        if let flaw = parameters.flaw(.headerValue, in: .contentDisposition) { throw flaw }
        guard fileName?.isFieldValue != false else {
            let reason = "has a file name with a control character"
            throw InvalidValue(in: .contentDisposition, reason, excerpt: fileName ?? "")
        }
        return self
    }
}

extension ASCIISet {
    /// The characters that every parser reads literally in a quoted file name.
    ///
    /// The characters need no escape. The set excludes `%`, because some parsers decode it.
    fileprivate static let quotableASCII = token.removing("%") + " (),/:;<=>?@[]{}"
}

// MARK: - Parsing

extension HTTPField.ContentDisposition {
    /// Parses the value of a field; `nil` if no part of it can be parsed.
    ///
    /// If there are two file names, the name with a character set takes precedence (RFC 6266, 4.3), unless it is
    /// invalid. In a plain file name, escapes such as `%E6%8A%A5` and encoded words such as `=?UTF-8?B?5oql?=` (RFC
    /// 2047) are decoded once, as in browsers. Common errors are accepted: a missing type, whitespace in an unquoted
    /// name, or a missing quote. If a parameter is repeated, the first one is used.
    ///
    /// - Complexity: O(n) in the length of the string, and quadratic in the number of parameters, of which at most 64
    ///   are read.
    public init?(parsing text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        scanner.skipBlanks()
        // A value without a type starts with a parameter, so parse it as an attachment with that parameter.
        let hasType = scanner.isAtEnd || scanner.next == UInt8(ascii: ";")
        self.init(hasType && !type.isEmpty ? type.lowercasedASCII : "attachment")
        if !hasType { scanner = FieldScanner(";\(text)") }
        let all = scanner.parameters()
        guard hasType && !type.isEmpty || !all.isEmpty else { return nil }
        var extendedName: String?
        for parameter in all {
            if parameter.name.equalsIgnoringASCIICase("filename*") {
                extendedName = extendedName ?? parameter.value.decodedExtendedValue
            } else if parameter.name.equalsIgnoringASCIICase("filename") {
                fileName = fileName ?? parameter.value.decodedFileName
            } else if self[parameter: parameter.name] == nil {
                parameters.append(parameter)
            }
        }
        fileName = extendedName ?? fileName
    }
}

// MARK: - Extended value

/// Parameter values with an explicit character set (RFC 8187).
extension String {
    /// The decoded value of a string such as `UTF-8'en'%e2%82%ac`.
    ///
    /// The result is `nil` if the string is malformed, or if its character set isn't UTF-8 or ISO-8859-1.
    var decodedExtendedValue: String? {
        let parts = utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let value = Array(parts[2])
        guard value.indices.allSatisfy({ value[$0] != UInt8(ascii: "%") || value.isTriplet(at: $0) }) else {
            return nil
        }
        return String(value.percentDecoded(), charset: String(Substring(parts[0])))
    }
}

// MARK: - File names of servers

extension String {
    /// The file name with its escapes or encoded words decoded, because some servers don't support RFC 8187.
    ///
    /// A name without valid escapes or encoded words is returned unchanged.
    fileprivate var decodedFileName: String { decodedWords ?? decodedEscapes ?? self }

    /// The name with its escapes decoded; `nil` if it has none, or if the result isn't valid UTF-8.
    private var decodedEscapes: String? {
        let bytes = Array(utf8)
        guard bytes.indices.contains(where: bytes.isTriplet) else { return nil }
        return String(utf8: bytes.percentDecoded())
    }

    /// The name with its encoded words decoded; `nil` if it has none that are valid.
    ///
    /// Whitespace between encoded words is ignored (RFC 2047, 6.2).
    private var decodedWords: String? {
        var (text, blanks, followsWord, hasWord) = ("", "", false, false)
        var rest = utf8[...]
        while !rest.isEmpty {
            let blank = rest.prefix(while: ASCII.isBlank)
            rest = rest[blank.endIndex...]
            blanks = String(Substring(blank))
            let word = rest.prefix { !ASCII.isBlank($0) }
            rest = rest[word.endIndex...]
            let decoded = String(Substring(word)).decodedWord
            text += (followsWord && decoded != nil ? "" : blanks) + (decoded ?? String(Substring(word)))
            followsWord = decoded != nil
            hasWord = hasWord || followsWord
        }
        return hasWord ? text : nil
    }

    /// The text of one encoded word (RFC 2047, 2), which may specify a language (RFC 2231, 5); `nil` if it isn't valid.
    private var decodedWord: String? {
        let parts = split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=" else { return nil }
        let bytes: [UInt8]? =
            switch parts[2].lowercased() {
            case "b": Data(base64Encoded: String(parts[3])).map(Array.init)
            case "q": String(parts[3]).qDecodedBytes
            default: nil
            }
        return bytes.flatMap { String($0, charset: String(parts[1].prefix { $0 != "*" })) }
    }

    /// The bytes of a word in the Q encoding; `nil` if an escape is incomplete.
    private var qDecodedBytes: [UInt8]? {
        let escaped = replacing("%", with: "%25").replacing("_", with: " ").replacing("=", with: "%")
        let bytes = Array(escaped.utf8)
        guard bytes.indices.allSatisfy({ bytes[$0] != UInt8(ascii: "%") || bytes.isTriplet(at: $0) }) else {
            return nil
        }
        return bytes.percentDecoded()
    }

    /// Decodes bytes in a character set; `nil` if the character set is unknown, or if the bytes are invalid.
    fileprivate init?(_ bytes: [UInt8], charset: String) {
        switch charset.lowercasedASCII {
        case "utf-8", "utf8", "us-ascii": self.init(utf8: bytes)
        case "iso-8859-1": self.init(latin1: bytes)
        default:
            guard let encoding = Encoding(charset: charset) else { return nil }
            self.init(data: Data(bytes), encoding: encoding)
        }
    }
}
