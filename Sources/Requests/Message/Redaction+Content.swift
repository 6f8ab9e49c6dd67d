// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Redaction {
    /// Returns content of a type without texts that are credentials by their name, if it is JSON or a form.
    ///
    /// Content without credentials is returned unchanged. Invalid JSON, and a multipart form, is left out if it names a
    /// credential. Content is JSON by its type or, if that doesn't say so, by its first character.
    ///
    /// Fewer names count than elsewhere: recorded content is to be replayed, and a `code` or a `key` in content is
    /// hardly ever a secret.
    ///
    /// - Complexity: O(n).
    package static func content(_ content: Data, type: String?) -> Data {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        if type?.essence == MediaType.urlEncodedForm.essence, !content.beginsAsJSON || jsonLines(content) == nil {
            let text = String(decoding: content, as: UTF8.self)
            let redacted = pairs(text[...], separatedBy: "&")
            let form = redacted == text ? content : Data(redacted.utf8)
            return content.beginsAsJSON ? whole(form, unless: isNumber) : form
        }
        let isMultipart = type.map { $0.essence.hasPrefix("multipart/") } ?? false
        let isJSON = type?.essence == MediaType.json.essence || type?.suffix == "json" || content.beginsAsJSON
        guard isMultipart || isJSON else { return content }
        guard isJSON, let lines = jsonLines(content) else {
            return isMultipart ? whole(content) { _ in false } : whole(content, unless: isNumber)
        }
        let redacted = lines.map { line in line.value.flatMap(credentials)?.serialized ?? line.text }
        return Data(redacted.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// Content that can't be parsed: it is left out if it names a credential, unless the text behind the name shows
    /// that it isn't one.
    private static func whole(_ content: Data, unless isHarmless: (_ behind: String) -> Bool) -> Data {
        let pieces = content.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
        let isSecret = pieces.indices.contains { index in
            guard namesCredential(pieces[index]) else { return false }
            return index + 1 == pieces.endIndex || namesCode(pieces[index]) || !isHarmless(pieces[index + 1])
        }
        return isSecret ? Data() : content
    }

    /// Whether a colon and a number follow a name in JSON.
    private static func isNumber(behind text: String) -> Bool {
        let letters = text.utf8.drop { $0 <= UInt8(ascii: " ") }
        guard letters.first == UInt8(ascii: ":") else { return false }
        let value = letters.dropFirst().prefix { !",}]".utf8.contains($0) }
        let number = String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return !number.isEmpty && number.utf8.allSatisfy { ASCII.isDigit($0) || "+-.eE".utf8.contains($0) }
            && number.utf8.contains(where: ASCII.isDigit)
    }

    /// Returns content of a message with header fields, like ``content(_:type:)``; empty if it is encoded.
    ///
    /// Secrets can't be found in compressed content.
    package static func content(_ content: Data, of headers: HTTPHeaders) -> Data {
        headers.isEncoded ? Data() : self.content(content, type: headers[.contentType])
    }

    /// Returns content of a message with header fields, like ``shown(_:type:)``; `nil` if it is encoded.
    package static func shown(_ content: Data, of headers: HTTPHeaders) -> Data? {
        headers.isEncoded ? nil : shown(content, type: headers[.contentType])
    }

    /// Returns content for display in a message; `nil` if it names a secret, and can't be parsed.
    ///
    /// Its type is ignored: a message is often about content without a type, or with a wrong one. All names count here,
    /// since a message isn't replayed. Common words, such as `code`, count only as names: in a multipart form, in
    /// quotes before a colon or behind `name=`, and before an equals sign.
    ///
    /// - Complexity: O(n).
    package static func shown(_ content: Data, type: String?) -> Data? {
        let media = type.flatMap { try? MediaType(parsing: $0) }
        if media?.essence == MediaType.urlEncodedForm.essence, !content.beginsAsJSON {
            return Data(pairs(Substring(decoding: content, as: UTF8.self), separatedBy: "&").utf8)
        }
        let isForm = media?.essence.hasPrefix("multipart/") ?? false
        guard !isForm, let lines = jsonLines(content) else {
            return namesSecret(inText: content, isForm: isForm) ? nil : content
        }
        var shownLines: [Data] = []
        for line in lines {
            guard let shown = line.value.map({ shown($0, writtenAs: line.text) }) ?? line.text else { return nil }
            shownLines.append(shown)
        }
        return Data(shownLines.joined(separator: [UInt8(ascii: "\n")]))
    }

    private static func shown(_ value: JSONValue, writtenAs text: Data) -> Data? {
        switch value {
        case .object, .array:
            let redacted = json(value)
            return redacted == value ? text : redacted.serialized
        // A text may contain any format again, such as a form in quotes.
        case .string(let content): return namesSecret(inText: content.utf8, isForm: false) ? nil : text
        case .null, .bool, .integer, .double: return text
        }
    }

    /// Content that is one value of JSON, or one a line; `nil` if it is something else.
    ///
    /// Empty lines have no value.
    private static func jsonLines(_ content: Data) -> [(text: Data, value: JSONValue?)]? {
        if let value = try? JSONDecoder().decode(JSONValue.self, from: content) { return [(content, value)] }
        var lines: [(Data, JSONValue?)] = []
        for line in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard line.contains(where: { $0 > UInt8(ascii: " ") }) else {
                lines.append((Data(line), nil))
                continue
            }
            guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(line)) else { return nil }
            lines.append((Data(line), value))
        }
        return lines
    }

    /// Whether one of the words of a text names a secret; in a form each word may be a name.
    private static func namesSecret(inText text: some Collection<UInt8>, isForm: Bool) -> Bool {
        let pieces = text.split(omittingEmptySubsequences: false) { "\"'".utf8.contains($0) }
        return pieces.indices.contains { index in
            let behind = index + 1 < pieces.endIndex ? pieces[index + 1].first { $0 > UInt8(ascii: " ") } : nil
            let isName = isForm || behind == UInt8(ascii: ":") || index > 0 && endsInName(pieces[index - 1])
            return namesSecret(pieces[index], isName: isName)
        }
    }

    private static func namesSecret(_ piece: some Collection<UInt8>, isName: Bool) -> Bool {
        piece.split(whereSeparator: { !isOfWord($0) }).contains { word in
            let name = String(decoding: word, as: UTF8.self)
            guard !namesCredential(name) else { return true }
            guard namesSecret(name) else { return false }
            let behind = piece[word.endIndex...].first { $0 != UInt8(ascii: "]") }
            return isName || behind == UInt8(ascii: "=") || !isCommonWord(name)
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        ASCII.isLetter(ASCII.lowercased(byte)) || ASCII.isDigit(byte) || "_-".utf8.contains(byte)
    }

    /// Whether a text ends with `name=`, which is followed by a name.
    private static func endsInName(_ text: some Collection<UInt8>) -> Bool {
        text.suffix(5).map(ASCII.lowercased).elementsEqual("name=".utf8)
    }

    /// Whether a secret's name is also a common word.
    private static func isCommonWord(_ name: String) -> Bool {
        ["code", "key", "pin", "pass", "session", "cookie", "signature", "assertion"].contains(name.lowercased())
    }

    /// The value without credentials; `nil` if it has no credentials.
    private static func credentials(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .array(var elements):
            var isChanged = false
            for index in elements.indices {
                guard let element = credentials(elements[index]) else { continue }
                elements[index] = element
                isChanged = true
            }
            return isChanged ? .array(elements) : nil
        case .object(var members):
            var isChanged = false
            for (name, member) in members {
                if namesCredential(name), let hidden = hidden(member, isCode: namesCode(name)) {
                    members[name] = hidden
                } else if let inner = credentials(member) {
                    members[name] = inner
                } else {
                    continue
                }
                isChanged = true
            }
            return isChanged ? .object(members) : nil
        default: return nil
        }
    }

    /// The value of a credential without its texts; `nil` if it has no text.
    ///
    /// A number stays one, so that it is still decoded.
    private static func hidden(_ value: JSONValue, isCode: Bool) -> JSONValue? {
        switch value {
        case .integer(1...) where isCode: 0
        case .string("REDACTED"): nil
        case .string: "REDACTED"
        case .array(let elements) where elements.contains { hidden($0, isCode: isCode) ?? credentials($0) != nil }:
            .array(elements.map { hidden($0, isCode: isCode) ?? credentials($0) ?? $0 })
        default: nil
        }
    }

    private static func namesCredential(_ name: String) -> Bool {
        let letters = singular(name)
        return endings.contains { letters.hasSuffix($0) } || letters == "otp"
    }

    /// Whether a credential of that name may be a number.
    private static func namesCode(_ name: String) -> Bool {
        let letters = singular(name)
        return letters == "otp" || letters.hasSuffix("passcode")
    }

    /// The letters of a name, without the `s` of a plural.
    private static func singular(_ name: String) -> String {
        var letters = name.lowercased().filter(\.isLetter)
        if letters.hasSuffix("s"), !letters.hasSuffix("ss") { letters.removeLast() }
        return letters
    }

    private static let endings = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "pwd", "jwt", "apikey", "accesskey",
        "privatekey",
        "secretkey", "authorization", "credential", "sessionid",
    ]
}

extension Data {
    /// Whether the first character begins an object or an array.
    fileprivate var beginsAsJSON: Bool {
        let first = first {
            ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n")].contains($0)
        }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }
}
