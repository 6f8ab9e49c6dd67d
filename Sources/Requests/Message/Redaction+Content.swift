// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Redaction {
    /// The maximum number of forms inside each other that are read: JSON in a string of JSON, and the like.
    private static let mostDepth = 5

    /// Returns content without values that are secrets by their name; `nil` if it names a secret and can't be parsed.
    ///
    /// JSON, lines of JSON, forms, XML and server-sent events are parsed, whatever the type says, and content of these
    /// forms inside each other; only the values are replaced. Any other content that names a secret is left out as a
    /// whole: multipart forms, YAML, tables, cut or binary content, and text. Content without a secret is returned
    /// unchanged, byte for byte.
    ///
    /// - Complexity: O(n).
    package static func content(_ content: Data, type: String?) -> Data? { self.content(content, type: type, depth: 0) }

    /// Returns content of a message with header fields, like ``content(_:type:)``; `nil` if it is encoded.
    ///
    /// Secrets can't be found in compressed content.
    package static func content(_ content: Data, of headers: HTTPHeaders) -> Data? {
        headers.isEncoded ? nil : self.content(content, type: headers[.contentType])
    }

    static func content(_ content: Data, type: String?, depth: Int) -> Data? {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        if let encoding = content.wideEncoding(type?.encoding) {
            guard let text = String(data: content, encoding: encoding) else { return nil }
            return document(text, nil, depth) == text ? content : nil
        }
        if type?.type.lowercasedASCII == "multipart", let boundary = type?[parameter: "boundary"], !boundary.isEmpty {
            return multipart(content, boundary: boundary, depth) ? nil : content
        }
        guard let text = String(utf8: content) else {
            let isMedia = ["image", "audio", "video", "font"].contains(type?.type.lowercasedASCII)
            return !isMedia && (PairScanner(content).namesSecret || namesSecret(inText: content, isBinary: true))
                ? nil : content
        }
        return document(text, type, depth).map { $0 == text ? content : Data($0.utf8) }
    }

    /// Redacts a whole content, in which any word may name a secret if it can't be parsed.
    private static func document(_ text: String, _ type: MediaType?, _ depth: Int) -> String? {
        guard depth < mostDepth else { return namesSecret(inUnread: text) ? nil : text }
        if let lines = jsonLines(text, isJSON: type?.isJSON ?? false) {
            if case .string(let text)? = lines.first?.value, lines.count == 1, document(text, nil, depth + 1) != text {
                return nil
            }
            return json(lines, depth)
        }
        // A form has no quotes: with them, it is cut JSON of a wrong type.
        if type?.essence == MediaType.urlEncodedForm.essence, !text.beginsAsJSON || !text.contains("\"") {
            let shown = pairs(text[...], separatedBy: "&;", depth: depth)
            return PairScanner(shown.utf8).namesSecret ? nil : shown
        }
        if type?.essence == "text/event-stream" || text.beginsAsEvent, let shown = events(text, depth) { return shown }
        if text.beginsAsXML { return xml(text, depth: depth) }
        guard let shown = unparsed(text, depth), !namesSecret(inText: shown.utf8, isBinary: false) else { return nil }
        return shown
    }

    /// Returns a string inside other data, such as a string of JSON, without secrets; `REDACTED` if it names one and
    /// can't be parsed.
    ///
    /// The string may have any form again. A word alone is no name in it, or most error messages would be hidden.
    ///
    /// - Complexity: O(n).
    package static func text(_ text: String) -> String { self.text(text, depth: 0) }

    static func text(_ text: String, depth: Int) -> String {
        guard text.utf8.contains(where: structure.contains) else { return text }
        guard depth < mostDepth else { return namesSecret(inUnread: text) ? "REDACTED" : text }
        if let json = json(text, depth: depth) { return json }
        if text.beginsAsXML { return xml(text, depth: depth) ?? "REDACTED" }
        return unparsed(text, depth) ?? "REDACTED"
    }

    /// The bytes of pairs, addresses and other forms: a string without them has no names.
    private static let structure = ASCIISet("=:/@<>{[%\n")

    /// Redacts the addresses and pairs of a string; `nil` if it names a secret in another way.
    private static func unparsed(_ text: String, _ depth: Int) -> String? {
        let shown = addresses(in: text, depth: depth)
        if shown != text, text.utf8.contains(where: { $0 <= UInt8(ascii: " ") }) {
            // A space ends an address, but not the value of any other pair.
            let words = text.utf8.split { delimiters.contains($0) }.map { String(Substring($0)) }
            guard words.allSatisfy({ isAddress($0) || address($0, depth: depth) == $0 }) else { return nil }
        }
        let scanner = PairScanner(shown.utf8)
        return scanner.namesSecret || scanner.isTableWithSecret || scanner.isFormWithSecret ? nil : shown
    }

    private static func isAddress(_ text: String) -> Bool {
        let name = Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") })
        return name.utf8.contains { "/?".utf8.contains($0) } || text.contains("//") && !secretName(name).isSecret
    }

    /// Whether a string that is nested too deeply to be read names a secret.
    private static func namesSecret(inUnread text: String) -> Bool {
        PairScanner(text.utf8).namesSecret || namesSecret(inText: text.utf8, isBinary: false)
    }

    /// Whether a word names a secret, apart from common words and from names whose value was redacted.
    ///
    /// In binary data, short words appear by chance.
    private static func namesSecret(inText text: some Collection<UInt8>, isBinary: Bool) -> Bool {
        text.split { !ASCIISet.word.contains($0) }.contains { word in
            // No name is as long as a line of base64.
            guard (isBinary ? 5...60 : 2...60).contains(word.count) else { return false }
            let name = String(decoding: word, as: UTF8.self)
            return SecretName.matches(name) && !SecretName.isCommonWord(name)
                && !text[word.endIndex...].starts(with: "=REDACTED".utf8)
        }
    }

    // MARK: JSON

    /// JSON without the values of members that are secrets by their name.
    static func json(_ value: JSONValue, depth: Int = 0) -> JSONValue {
        switch value {
        case .string(let text): return .string(self.text(text, depth: depth + 1))
        case .array(let elements): return .array(elements.map { json($0, depth: depth) })
        case .object(let members):
            // Lists of parameters have a member for the name, and one for the value.
            let names = members.filter { ["name", "key", "field"].contains($0.key.lowercasedASCII) }
            let named = names.lazy.compactMap { _, name -> SecretName? in
                guard case .string(let name) = name else { return nil }
                return secretName(name)
            }
            let name = named.first { $0.isSecret }
            let shown = members.map { member, value in
                if let name, ["value", "content"].contains(member.lowercasedASCII) {
                    return (member, hidden(value, name, depth))
                }
                let name = secretName(member)
                return (member, name.isSecret ? hidden(value, name, depth) : json(value, depth: depth))
            }
            return .object(Dictionary(shown) { first, _ in first })
        default: return value
        }
    }

    /// Hides the strings and numbers of a secret; each keeps its kind, so that it is still decoded.
    private static func hidden(_ value: JSONValue, _ name: SecretName, _ depth: Int) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .integer(let number): name.hides("\(number)", isTyped: true) ? 0 : value
        case .double(let number): name.hides("\(number)", isTyped: true) ? .double(0) : value
        case .string(let text): name.hides(text[...], isTyped: true) ? "REDACTED" : json(value, depth: depth)
        case .array(let elements): .array(elements.map { hidden($0, name, depth) })
        // The keys of a set have names of their own.
        case .object where name.isAlone && name.isPlural: json(value, depth: depth)
        case .object(let members): .object(members.mapValues { hidden($0, name, depth) })
        }
    }

    /// Content that is one value of JSON, or one a line; `nil` if it is something else.
    ///
    /// Empty lines have no value.
    private static func jsonLines(_ text: String, isJSON: Bool) -> [(text: Substring, value: JSONValue?)]? {
        guard isJSON || text.beginsAsJSON, text.utf8.count > 1 else { return nil }
        func value(_ text: Substring) -> JSONValue? {
            try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        }
        if let value = value(text[...]) { return [(text[...], value)] }
        var lines: [(Substring, JSONValue?)] = []
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = Substring(bytes)
            let isEmpty = bytes.allSatisfy { $0 <= UInt8(ascii: " ") }
            let value = isEmpty ? nil : value(line)
            guard isEmpty || value != nil else { return nil }
            lines.append((line, value))
        }
        return lines
    }

    /// JSON without secrets; `nil` if the string is something else.
    static func json(_ text: String, depth: Int) -> String? {
        jsonLines(text, isJSON: false).map { json($0, depth) }
    }

    /// Lines without secrets; those that have none stay as they are.
    private static func json(_ lines: [(text: Substring, value: JSONValue?)], _ depth: Int) -> String {
        let shown = lines.map { line in
            guard let value = line.value else { return String(line.text) }
            let redacted = json(value, depth: depth)
            return redacted == value ? String(line.text) : String(decoding: redacted.serialized, as: UTF8.self)
        }
        return shown.joined(separator: "\n")
    }

    // MARK: Events

    /// Server-sent events without secrets in their data; `nil` if the data names one and can't be parsed, or if lines
    /// end with CR alone.
    private static func events(_ text: String, _ depth: Int) -> String? {
        var (result, data): ([String?], [(index: Int, value: Substring)]) = ([], [])
        func finish() -> Bool {
            defer { data = [] }
            guard let first = data.first else { return true }
            let content = data.map { String($0.value) }.joined(separator: "\n")
            guard let shown = document(content, nil, depth + 1) else { return false }
            guard shown != content else { return true }
            let end = result[first.index]?.utf8.last == UInt8(ascii: "\r") ? "\r" : ""
            // The lines of one event: it has as many as its new data.
            for line in data.dropFirst() { result[line.index] = nil }
            result[first.index] = shown.split(separator: "\n", omittingEmptySubsequences: false)
                .map { "data: \($0)\(end)" }.joined(separator: "\n")
            return true
        }
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let line = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
            if line.contains(UInt8(ascii: "\r")) { return nil }
            if line.isEmpty, !finish() { return nil }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            let value = line[name.endIndex...].dropFirst()
            if name.elementsEqual("data".utf8) {
                data.append((result.count, Substring(value.first == UInt8(ascii: " ") ? value.dropFirst() : value)))
            } else if PairScanner(line).namesSecret {
                return nil
            }
            result.append(String(Substring(bytes)))
        }
        return finish() ? result.compactMap(\.self).joined(separator: "\n") : nil
    }

    // MARK: Multipart

    /// Whether a multipart message has a secret, in the name or the content of a part.
    private static func multipart(_ content: Data, boundary: String, _ depth: Int) -> Bool {
        guard depth < mostDepth else { return true }
        let delimiter = Data("--\(boundary)".utf8)
        var rest = content[...]
        while !rest.isEmpty {
            let end = rest.range(of: delimiter)
            if hasSecret(part: rest[..<(end?.lowerBound ?? rest.endIndex)], depth) { return true }
            rest = end.map { rest[$0.upperBound...] } ?? rest[rest.endIndex...]
        }
        return false
    }

    private static func hasSecret(part: Data, _ depth: Int) -> Bool {
        let ends = ["\r\n\r\n", "\n\n"].compactMap { part.range(of: Data($0.utf8)) }
        guard let end = ends.min(by: { $0.lowerBound < $1.lowerBound }) else {
            return PairScanner(part).namesSecret || PairScanner(part).isFormWithSecret
        }
        let head = part[..<end.lowerBound]
        guard !PairScanner(head).namesSecret, !PairScanner(head).isFormWithSecret else { return true }
        let type = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
            .first { $0.lowercased().hasPrefix("content-type:") }
            .map { String($0.dropFirst("content-type:".utf8.count)).trimmedOfBlanks }
        let body = Data(part[end.upperBound...])
        return content(body, type: type, depth: depth + 1) != body
    }
}

extension SecretName {
    /// Whether a value of the name is hidden: it isn't empty, no count and, for some names, no ordinary word.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - isTyped: Whether the value is one of JSON and the like, in which `code` may be the name of an error.
    /// - Returns: Whether people mustn't see it.
    func hides(_ value: Substring, isTyped: Bool = false) -> Bool {
        guard isSecret, !value.isEmpty, value != "REDACTED" else { return false }
        if isCount, Double(value) != nil { return false }
        guard mayBeWord, isTyped else { return true }
        if let number = Double(value) { return abs(number) >= 1000 }
        return !value.isOrdinaryWord
    }
}

extension ASCIISet {
    /// The characters of a name.
    static let word = alphanumerics + "_-"
    /// The characters of words, and of names of errors.
    fileprivate static let ordinary = ASCIISet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-. ")
}

extension StringProtocol {
    /// Whether the string is a word in letters, such as the name of an error, and no code in capitals.
    fileprivate var isOrdinaryWord: Bool {
        ASCIISet.ordinary.containsAll(self)
            && utf8.contains { $0 == UInt8(ascii: "_") || $0 &- UInt8(ascii: "a") < 26 }
    }
}

extension String {
    /// Whether the first character begins an object, an array or a string.
    var beginsAsJSON: Bool { utf8.first { !" \t\r\n".utf8.contains($0) }.map { "{[\"".utf8.contains($0) } ?? false }

    /// Whether the first character begins a tag.
    fileprivate var beginsAsXML: Bool {
        let text = utf8.drop { " \t\r\n".utf8.contains($0) || $0 >= 0x80 }
        guard text.first == UInt8(ascii: "<"), let next = text.dropFirst().first else { return false }
        if "!?".utf8.contains(next) { return true }
        // A link may stand in the same brackets.
        let end = text.dropFirst().drop { ASCIISet.word.contains($0) || ":.".utf8.contains($0) }
        let isTag = end.first.map { " \t\r\n>".utf8.contains($0) } ?? true || end.starts(with: "/>".utf8)
        return ASCII.isLetter(next) && isTag
    }

    /// Whether the first line is one of a server-sent event.
    fileprivate var beginsAsEvent: Bool {
        let line = utf8.drop { "\r\n".utf8.contains($0) || $0 >= 0x80 }
        return ["data:", "event:", "id:", "retry:", ":"].contains { line.starts(with: $0.utf8) }
    }
}

extension Data {
    /// The encoding, if it has more than one byte for each character; a byte order mark says so, too.
    fileprivate func wideEncoding(_ encoding: String.Encoding?) -> String.Encoding? {
        let wide: [String.Encoding] = [
            .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian, .unicode,
        ]
        if let encoding, wide.contains(encoding) { return encoding }
        return starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) ? .utf16 : nil
    }
}
