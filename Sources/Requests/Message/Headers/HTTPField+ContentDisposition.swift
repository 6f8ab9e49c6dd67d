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
    /// - Warning: A name from a server is untrusted: it may contain `../`, a drive, a line break. Don't use it as a
    ///   path.
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

        /// The value of the first parameter of a name, or `nil` if the field doesn't have it.
        public subscript(parameter name: String) -> String? {
            get { parameters[named: name] }
            set { parameters[named: name] = newValue }
        }

        /// The disposition as it stands in the field.
        ///
        /// A name that isn't plain ASCII is sent twice: in ASCII for old readers, with `_` for other characters, and in
        /// UTF-8 (RFC 8187).
        public var rawValue: String {
            var text = type
            for parameter in parameters { text += "; \(parameter)" }
            guard let fileName else { return text }
            guard !ASCIISet.plain.containsAll(fileName) else { return "\(text); filename=\(fileName.quoted)" }
            let plain = String(fileName.map { ASCIISet.plain.containsAll(String($0)) ? $0 : "_" })
            return "\(text); filename=\(plain.quoted); filename*=UTF-8''\(ASCIISet.extendedValue.encode(fileName))"
        }

        /// The value as it stands in the field.
        public var description: String { rawValue }
    }
}

extension HTTPField.ContentDisposition: HTTPField.Value {
    /// The disposition itself, if it can be sent.
    ///
    /// - Throws: ``InvalidValue`` if the type or the name of a parameter isn't a token, or the file name or a value
    ///   has a control character.
    public func validated() throws(InvalidValue) -> HTTPField.ContentDisposition {
        guard type.isToken else {
            throw InvalidValue(.headerValue, "of Content-Disposition has an invalid type", excerpt: type)
        }
        if let flaw = parameters.flaw(.headerValue, "of Content-Disposition ") { throw flaw }
        guard fileName?.isFieldValue != false else {
            let reason = "of Content-Disposition has a control character in the file name"
            throw InvalidValue(.headerValue, reason, excerpt: fileName ?? "")
        }
        return self
    }
}

extension ASCIISet {
    /// What every reader takes literally in a quoted name: it needs no escape, and isn't a `%`, which some decode.
    fileprivate static let plain = token.removing("%") + " (),/:;<=>?@[]{}"
}

// MARK: - Parsing

extension HTTPField.ContentDisposition {
    /// Reads the value of a field; `nil` if no part of it can be read.
    ///
    /// If there are two file names, the one with a character set takes precedence (RFC 6266, 4.3), unless it can't be
    /// read. In the other one, escapes such as `%E6%8A%A5` and encoded words such as `=?UTF-8?B?5oql?=` (RFC 2047) are
    /// decoded, once, as browsers do it. Common errors of servers are accepted: no type, blanks in a name without
    /// quotes, a missing quote, a repeated parameter, of which the first counts.
    ///
    /// - Complexity: O(n) in the length of the text, and in the number of parameters squared, of which 64 are read.
    public init?(parsing text: String) {
        var scanner = FieldScanner(text)
        scanner.skipBlanks()
        let type = scanner.token()
        scanner.skipBlanks()
        // Without a type, the text begins with a parameter. It is read as a parameter of an attachment.
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

/// Values of parameters in a character set of their own (RFC 8187).
extension String {
    /// The decoded text of `UTF-8'en'%e2%82%ac`; `nil` if the character set isn't UTF-8 or ISO-8859-1, or it is
    /// malformed.
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
    /// The name without the escapes or encoded words of servers that don't know RFC 8187; unchanged if it has none, or
    /// if they can't be read.
    fileprivate var decodedFileName: String { decodedWords ?? decodedEscapes ?? self }

    /// The name without its escapes; `nil` if it has none, or if the result isn't UTF-8.
    private var decodedEscapes: String? {
        let bytes = Array(utf8)
        guard bytes.indices.contains(where: bytes.isTriplet) else { return nil }
        return String(utf8: bytes.percentDecoded())
    }

    /// The name with its encoded words decoded, between which blanks don't count (RFC 2047, 6.2); `nil` if it has none
    /// that can be read.
    private var decodedWords: String? {
        var (text, blanks, isBehindWord, hasWord) = ("", "", false, false)
        var rest = utf8[...]
        while !rest.isEmpty {
            let blank = rest.prefix(while: ASCII.isBlank)
            rest = rest[blank.endIndex...]
            blanks = String(Substring(blank))
            let word = rest.prefix { !ASCII.isBlank($0) }
            rest = rest[word.endIndex...]
            let decoded = String(Substring(word)).decodedWord
            text += (isBehindWord && decoded != nil ? "" : blanks) + (decoded ?? String(Substring(word)))
            isBehindWord = decoded != nil
            hasWord = hasWord || isBehindWord
        }
        return hasWord ? text : nil
    }

    /// The text of one encoded word (RFC 2047, 2), which may name a language (RFC 2231, 5); `nil` if it is none.
    private var decodedWord: String? {
        let parts = split(separator: "?", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "=", parts[4] == "=" else { return nil }
        let bytes: [UInt8]? =
            switch parts[2].lowercased() {
            case "b": Data(base64Encoded: String(parts[3])).map(Array.init)
            case "q": String(parts[3]).quotedBytes
            default: nil
            }
        return bytes.flatMap { String($0, charset: String(parts[1].prefix { $0 != "*" })) }
    }

    /// The bytes of a word in the form of Q; `nil` if an escape isn't complete.
    private var quotedBytes: [UInt8]? {
        let escaped = replacing("%", with: "%25").replacing("_", with: " ").replacing("=", with: "%")
        let bytes = Array(escaped.utf8)
        guard bytes.indices.allSatisfy({ bytes[$0] != UInt8(ascii: "%") || bytes.isTriplet(at: $0) }) else {
            return nil
        }
        return bytes.percentDecoded()
    }

    /// Reads bytes in a character set; `nil` for one that isn't known, and for bytes that aren't in it.
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
