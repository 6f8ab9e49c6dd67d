// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Redaction {
    /// The maximum depth to which nested formats are parsed, such as JSON inside a JSON string.
    private static let maximumDepth = 5

    /// Redacts the values with secret names in content; returns `nil` if the content can't be parsed but mentions a
    /// secret.
    ///
    /// JSON, JSON Lines, forms, XML and server-sent events are parsed, regardless of the media type, and even if they
    /// are nested in each other. Only the secret values in them are replaced. Any other content is omitted entirely if
    /// it mentions a secret: multipart forms, YAML, CSV, truncated or binary content, and text. Content without secrets
    /// is returned unchanged, byte for byte.
    ///
    /// - Complexity: O(n).
    package static func content(_ content: Data, type: String?) -> Data? { self.content(content, type: type, depth: 0) }

    /// Redacts the content of a message with these header fields, like ``content(_:type:)``.
    ///
    /// Returns `nil` for compressed content, because secrets can't be found in it.
    package static func content(_ content: Data, of headers: HTTPHeaders) -> Data? {
        headers.isEncoded ? nil : self.content(content, type: headers[.contentType])
    }

    static func content(_ content: Data, type: String?, depth: Int) -> Data? {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        if let encoding = content.wideEncoding(type?.encoding) {
            guard let text = String(data: content, encoding: encoding) else { return nil }
            return redactDocument(text, nil, depth) == text ? content : nil
        }
        if type?.type.lowercasedASCII == "multipart", let boundary = type?[parameter: "boundary"], !boundary.isEmpty {
            return multipartContainsSecret(content, boundary: boundary, depth) ? nil : content
        }
        guard let text = String(utf8: content) else {
            let isMedia = ["image", "audio", "video", "font"].contains(type?.type.lowercasedASCII)
            return !isMedia && (PairScanner(content).hasSecretPair || mentionsSecret(inText: content, isBinary: true))
                ? nil : content
        }
        return redactDocument(text, type, depth).map { $0 == text ? content : Data($0.utf8) }
    }

    /// Redacts a complete document.
    ///
    /// If the document can't be parsed, every word in it is checked, because any of them may be the name of a secret.
    private static func redactDocument(_ text: String, _ type: MediaType?, _ depth: Int) -> String? {
        guard depth < maximumDepth else { return mentionsSecret(inUnread: text) ? nil : text }
        if let lines = jsonLines(text, isJSON: type?.isJSON ?? false) {
            if case .string(let text)? = lines.first?.value, lines.count == 1,
                redactDocument(text, nil, depth + 1) != text
            {
                return nil
            }
            return json(lines, depth)
        }
        // URL-encoded forms contain no quotation marks. With quotation marks, the content is probably truncated JSON
        // with a wrong content type.
        if type?.essence == MediaType.urlEncodedForm.essence, !text.looksLikeJSON || !text.contains("\"") {
            let shown = pairs(text[...], separatedBy: "&;", depth: depth)
            return PairScanner(shown.utf8).hasSecretPair ? nil : shown
        }
        if type?.essence == "text/event-stream" || text.looksLikeEventStream, let shown = redactEvents(text, depth) {
            return shown
        }
        if text.looksLikeXML { return xml(text, depth: depth) }
        guard let shown = redactUnparsed(text, depth), !mentionsSecret(inText: shown.utf8, isBinary: false) else {
            return nil
        }
        return shown
    }

    /// Redacts a string inside other data, such as a JSON string; returns `REDACTED` if it can't be parsed but names a
    /// secret.
    ///
    /// The string itself may be in any supported format. A single word doesn't count as a name here, because otherwise
    /// most error messages would be redacted.
    ///
    /// - Complexity: O(n).
    package static func text(_ text: String) -> String { self.text(text, depth: 0) }

    static func text(_ text: String, depth: Int) -> String {
        guard text.utf8.contains(where: structuralBytes.contains) else { return text }
        guard depth < maximumDepth else { return mentionsSecret(inUnread: text) ? "REDACTED" : text }
        if let json = json(text, depth: depth) { return json }
        if text.looksLikeXML { return xml(text, depth: depth) ?? "REDACTED" }
        return redactUnparsed(text, depth) ?? "REDACTED"
    }

    /// Every supported format contains at least one of these bytes, so a string without them contains no names.
    private static let structuralBytes = ASCIISet("=:/@<>{[%\n")

    /// Redacts the URLs and pairs in a string; returns `nil` if it names a secret in any other way.
    private static func redactUnparsed(_ text: String, _ depth: Int) -> String? {
        let shown = addresses(in: text, depth: depth)
        if shown != text, text.utf8.contains(where: { $0 <= UInt8(ascii: " ") }) {
            // A space ends a URL, but may occur in the value of a pair that isn't part of a URL.
            let words = text.utf8.split { addressDelimiters.contains($0) }.map { String(Substring($0)) }
            guard words.allSatisfy({ isAddress($0) || address($0, depth: depth) == $0 }) else { return nil }
        }
        let scanner = PairScanner(shown.utf8)
        return scanner.hasSecretPair || scanner.isTableWithSecret || scanner.isFormWithSecret ? nil : shown
    }

    private static func isAddress(_ text: String) -> Bool {
        let name = Substring(text.utf8.prefix { $0 != UInt8(ascii: "=") })
        return name.utf8.contains { "/?".utf8.contains($0) } || text.contains("//") && !secretName(name).isSecret
    }

    /// Returns whether a string that is nested too deeply to be parsed names a secret.
    private static func mentionsSecret(inUnread text: String) -> Bool {
        PairScanner(text.utf8).hasSecretPair || mentionsSecret(inText: text.utf8, isBinary: false)
    }

    /// Returns whether any word is the name of a secret, except common words and names whose values have been redacted.
    ///
    /// Short words are ignored in binary data, because they occur by chance.
    private static func mentionsSecret(inText text: some Collection<UInt8>, isBinary: Bool) -> Bool {
        text.split { !ASCIISet.nameCharacters.contains($0) }.contains { word in
            // A longer word isn't a name, but probably a line of Base64.
            guard (isBinary ? 5...60 : 2...60).contains(word.count) else { return false }
            let name = String(decoding: word, as: UTF8.self)
            return SecretName.matches(name) && !SecretName.isCommonWord(name)
                && !text[word.endIndex...].starts(with: "=REDACTED".utf8)
        }
    }

    // MARK: JSON

    /// Redacts the values of JSON members with secret names.
    static func json(_ value: JSONValue, depth: Int = 0) -> JSONValue {
        switch value {
        case .string(let text): return .string(self.text(text, depth: depth + 1))
        case .array(let elements): return .array(elements.map { json($0, depth: depth) })
        case .object(let members):
            // In a list of parameters, each object has one member for the name and another for the value.
            let names = members.filter { ["name", "key", "field"].contains($0.key.lowercasedASCII) }
            let named = names.lazy.compactMap { _, name -> SecretName? in
                guard case .string(let name) = name else { return nil }
                return secretName(name)
            }
            let name = named.first { $0.isSecret }
            let shown = members.map { member, value in
                if let name, ["value", "content"].contains(member.lowercasedASCII) {
                    return (member, redactSecret(value, name, depth))
                }
                let name = secretName(member)
                return (member, name.isSecret ? redactSecret(value, name, depth) : json(value, depth: depth))
            }
            return .object(Dictionary(shown) { first, _ in first })
        default: return value
        }
    }

    /// Redacts the strings and numbers in the value of a secret.
    ///
    /// Each value keeps its type, so that the JSON can still be decoded.
    private static func redactSecret(_ value: JSONValue, _ name: SecretName, _ depth: Int) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .integer(let number): name.redacts("\(number)", isTyped: true) ? 0 : value
        case .double(let number): name.redacts("\(number)", isTyped: true) ? .double(0) : value
        case .string(let text): name.redacts(text[...], isTyped: true) ? "REDACTED" : json(value, depth: depth)
        case .array(let elements): .array(elements.map { redactSecret($0, name, depth) })
        // An object with a plural name, such as `keys`, is a collection, so its members are redacted according to their
        // own names.
        case .object where name.isStandalone && name.isPlural: json(value, depth: depth)
        case .object(let members): .object(members.mapValues { redactSecret($0, name, depth) })
        }
    }

    /// Parses one JSON value, or one per line; returns `nil` if the content is in another format.
    ///
    /// An empty line has no value.
    private static func jsonLines(_ text: String, isJSON: Bool) -> [(text: Substring, value: JSONValue?)]? {
        guard isJSON || text.looksLikeJSON, text.utf8.count > 1 else { return nil }
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

    /// Redacts JSON; returns `nil` if the string is in another format.
    static func json(_ text: String, depth: Int) -> String? {
        jsonLines(text, isJSON: false).map { json($0, depth) }
    }

    /// Redacts JSON Lines.
    ///
    /// Lines without secrets are kept unchanged.
    private static func json(_ lines: [(text: Substring, value: JSONValue?)], _ depth: Int) -> String {
        let shown = lines.map { line in
            guard let value = line.value else { return String(line.text) }
            let redacted = json(value, depth: depth)
            return redacted == value ? String(line.text) : String(decoding: redacted.serialized, as: UTF8.self)
        }
        return shown.joined(separator: "\n")
    }

    // MARK: Events

    /// Redacts the data of server-sent events.
    ///
    /// Returns `nil` if the data can't be parsed but names a secret, or if lines end with only a CR.
    private static func redactEvents(_ text: String, _ depth: Int) -> String? {
        var (result, data): ([String?], [(index: Int, value: Substring)]) = ([], [])
        func finish() -> Bool {
            defer { data = [] }
            guard let first = data.first else { return true }
            let content = data.map { String($0.value) }.joined(separator: "\n")
            guard let shown = redactDocument(content, nil, depth + 1) else { return false }
            guard shown != content else { return true }
            let end = result[first.index]?.utf8.last == UInt8(ascii: "\r") ? "\r" : ""
            // Remove the event's other data lines, because the first one now contains all of the redacted data.
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
            } else if PairScanner(line).hasSecretPair {
                return nil
            }
            result.append(String(Substring(bytes)))
        }
        return finish() ? result.compactMap(\.self).joined(separator: "\n") : nil
    }

    // MARK: Multipart

    /// Returns whether a multipart message contains a secret, in the name or the content of a part.
    private static func multipartContainsSecret(_ content: Data, boundary: String, _ depth: Int) -> Bool {
        guard depth < maximumDepth else { return true }
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
            return PairScanner(part).hasSecretPair || PairScanner(part).isFormWithSecret
        }
        let head = part[..<end.lowerBound]
        guard !PairScanner(head).hasSecretPair, !PairScanner(head).isFormWithSecret else { return true }
        let type = String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline)
            .first { $0.lowercased().hasPrefix("content-type:") }
            .map { String($0.dropFirst("content-type:".utf8.count)).trimmedOfBlanks }
        let body = Data(part[end.upperBound...])
        return content(body, type: type, depth: depth + 1) != body
    }
}

extension SecretName {
    /// Returns whether a value with this name should be redacted.
    ///
    /// Empty values and counts aren't redacted, nor, for some names, are ordinary words.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - isTyped: Whether the value comes from JSON or another typed format, in which `code` may be the name of an
    ///     error.
    /// - Returns: Whether the value must be hidden from readers.
    func redacts(_ value: Substring, isTyped: Bool = false) -> Bool {
        guard isSecret, !value.isEmpty, value != "REDACTED" else { return false }
        if isCount, Double(value) != nil { return false }
        guard allowsOrdinaryValues, isTyped else { return true }
        if let number = Double(value) { return abs(number) >= 1000 }
        return !value.isOrdinaryWord
    }
}

extension ASCIISet {
    /// The characters of a name.
    static let nameCharacters = alphanumerics + "_-"
    /// The characters of ordinary words and of error names.
    fileprivate static let ordinary = ASCIISet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-. ")
}

extension StringProtocol {
    /// Whether the string looks like a word, such as the name of an error, rather than like an uppercase code.
    fileprivate var isOrdinaryWord: Bool {
        ASCIISet.ordinary.containsAll(self)
            && utf8.contains { $0 == UInt8(ascii: "_") || $0 &- UInt8(ascii: "a") < 26 }
    }
}

extension String {
    /// Whether the first character starts a JSON object, array or string.
    var looksLikeJSON: Bool { utf8.first { !" \t\r\n".utf8.contains($0) }.map { "{[\"".utf8.contains($0) } ?? false }

    /// Whether the string starts with a tag.
    fileprivate var looksLikeXML: Bool {
        let text = utf8.drop { " \t\r\n".utf8.contains($0) || $0 >= 0x80 }
        guard text.first == UInt8(ascii: "<"), let next = text.dropFirst().first else { return false }
        if "!?".utf8.contains(next) { return true }
        // Angle brackets may also enclose a URL.
        let end = text.dropFirst().drop { ASCIISet.nameCharacters.contains($0) || ":.".utf8.contains($0) }
        let isTag = end.first.map { " \t\r\n>".utf8.contains($0) } ?? true || end.starts(with: "/>".utf8)
        return ASCII.isLetter(next) && isTag
    }

    /// Whether the first line is a line of a server-sent event.
    fileprivate var looksLikeEventStream: Bool {
        let line = utf8.drop { "\r\n".utf8.contains($0) || $0 >= 0x80 }
        return ["data:", "event:", "id:", "retry:", ":"].contains { line.starts(with: $0.utf8) }
    }
}

extension Data {
    /// Returns the declared encoding if it is UTF-16 or UTF-32, or UTF-16 if the data starts with a UTF-16 byte order
    /// mark; otherwise `nil`.
    fileprivate func wideEncoding(_ encoding: String.Encoding?) -> String.Encoding? {
        let wide: [String.Encoding] = [
            .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian, .unicode,
        ]
        if let encoding, wide.contains(encoding) { return encoding }
        return starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) ? .utf16 : nil
    }
}
