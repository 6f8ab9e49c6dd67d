// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Redaction {
    /// Returns content of a type without texts that are credentials by their name, if it is JSON or a form.
    ///
    /// Content without credentials is returned unchanged. Invalid JSON, and a multipart form, is left out if it names a
    /// credential. Content is JSON by its type or, if that doesn't say so, by its first character.
    ///
    /// Fewer names count than elsewhere: ``SecretName/isCredential(_:)``.
    ///
    /// - Complexity: O(n).
    package static func content(_ content: Data, type: String?) -> Data {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        let isMultipart = type?.essence.hasPrefix("multipart/") ?? false
        let mayBeJSON = type?.isJSON ?? false || content.beginsAsJSON
        if mayBeJSON, let lines = jsonLines(content) {
            guard !isMultipart else { return namesCredential(content) ? Data() : content }
            return joined(lines.map { line in line.value.flatMap(credentials)?.serialized ?? line.text })
        }
        var content = content
        if type?.essence == MediaType.urlEncodedForm.essence {
            let text = String(decoding: content, as: UTF8.self)
            let redacted = pairs(text[...], separatedBy: "&")
            if redacted != text { content = Data(redacted.utf8) }
        }
        return (isMultipart || mayBeJSON) && namesCredential(content, besideNumbers: !isMultipart) ? Data() : content
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
        let type = type.flatMap { try? MediaType(parsing: $0) }
        if type?.essence == MediaType.urlEncodedForm.essence, !content.beginsAsJSON {
            return Data(pairs(Substring(decoding: content, as: UTF8.self), separatedBy: "&").utf8)
        }
        let isForm = type?.essence.hasPrefix("multipart/") ?? false
        guard !isForm, let lines = jsonLines(content) else {
            return namesSecret(inText: content, isForm: isForm) ? nil : content
        }
        let shown = lines.map { line -> Data? in
            // A text may contain any format again, such as a form in quotes.
            if case .string(let text) = line.value, namesSecret(inText: text.utf8, isForm: false) { return nil }
            guard let value = line.value else { return line.text }
            let redacted = json(value)
            return redacted == value ? line.text : redacted.serialized
        }
        return shown.contains(nil) ? nil : joined(shown.compactMap(\.self))
    }

    /// Content that is one value of JSON, or one a line; `nil` if it is something else.
    ///
    /// Empty lines have no value.
    private static func jsonLines(_ content: Data) -> [(text: Data, value: JSONValue?)]? {
        func value(_ text: Data) -> JSONValue? { try? JSONDecoder().decode(JSONValue.self, from: text) }
        if let value = value(content) { return [(content, value)] }
        var lines: [(Data, JSONValue?)] = []
        for line in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map({ Data($0) }) {
            let isEmpty = line.allSatisfy { $0 <= UInt8(ascii: " ") }
            let value = isEmpty ? nil : value(line)
            guard isEmpty || value != nil else { return nil }
            lines.append((line, value))
        }
        return lines
    }

    private static func joined(_ lines: [Data]) -> Data { Data(lines.joined(separator: [UInt8(ascii: "\n")])) }

    /// Whether content that can't be parsed names a credential between quotes, also beside a number that may be a code.
    private static func namesCredential(_ content: Data, besideNumbers: Bool = false) -> Bool {
        let pieces = content.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
        return pieces.indices.contains { index in
            guard SecretName.isCredential(pieces[index]) else { return false }
            let isLast = index + 1 == pieces.endIndex
            return !besideNumbers || isLast || SecretName.isCode(pieces[index]) || !pieces[index + 1].beginsWithNumber
        }
    }

    /// Whether one of the words of a text names a secret; in a form each word may be a name.
    private static func namesSecret(inText text: some Collection<UInt8>, isForm: Bool) -> Bool {
        let pieces = text.split(omittingEmptySubsequences: false) { "\"'".utf8.contains($0) }
        return pieces.indices.contains { index in
            let behind = index + 1 < pieces.endIndex ? pieces[index + 1].first { $0 > UInt8(ascii: " ") } : nil
            // `name=` is followed by a name.
            let isName =
                isForm || behind == UInt8(ascii: ":")
                || index > 0 && pieces[index - 1].suffix(5).map(ASCII.lowercased).elementsEqual("name=".utf8)
            return pieces[index].split(whereSeparator: { !ASCIISet.word.contains($0) }).contains { word in
                let name = String(decoding: word, as: UTF8.self)
                guard !SecretName.isCredential(name) else { return true }
                guard namesSecret(name) else { return false }
                let next = pieces[index][word.endIndex...].first { $0 != UInt8(ascii: "]") }
                return isName || next == UInt8(ascii: "=") || !SecretName.isCommonWord(name)
            }
        }
    }

    /// The value without credentials; `nil` if it has no credentials.
    private static func credentials(_ value: JSONValue) -> JSONValue? {
        switch value {
        case .array(let elements):
            let redacted = elements.map { credentials($0) }
            return redacted.contains { $0 != nil } ? .array(zip(redacted, elements).map { $0 ?? $1 }) : nil
        case .object(let members):
            let redacted = members.compactMap { name, member -> (String, JSONValue)? in
                let hidden =
                    SecretName.isCredential(name) ? hidden(member, isCode: SecretName.isCode(name)) : nil
                return (hidden ?? credentials(member)).map { (name, $0) }
            }
            return redacted.isEmpty ? nil : .object(members.merging(redacted) { $1 })
        default: return nil
        }
    }

    /// The value of a credential without its texts; `nil` if it has no text.
    ///
    /// A number stays one, so that it is still decoded.
    private static func hidden(_ value: JSONValue, isCode: Bool) -> JSONValue? {
        switch value {
        case .integer(1...) where isCode: return 0
        case .string(let text): return text == "REDACTED" ? nil : "REDACTED"
        case .array(let elements):
            let redacted = elements.map { hidden($0, isCode: isCode) ?? credentials($0) }
            return redacted.contains { $0 != nil } ? .array(zip(redacted, elements).map { $0 ?? $1 }) : nil
        default: return nil
        }
    }
}

extension ASCIISet {
    /// The characters of a name.
    fileprivate static let word = alphanumerics + "_-"
}

extension String {
    /// Whether a colon and a number come first, as behind a name in JSON.
    fileprivate var beginsWithNumber: Bool {
        let text = utf8.drop { $0 <= UInt8(ascii: " ") }
        guard text.first == UInt8(ascii: ":") else { return false }
        let value = Substring(text.dropFirst().prefix { !",}]".utf8.contains($0) })
        return Double(value.trimmingCharacters(in: .whitespacesAndNewlines)) != nil
    }
}

extension Data {
    /// Whether the first character begins an object or an array.
    fileprivate var beginsAsJSON: Bool {
        first { !" \t\r\n".utf8.contains($0) }.map { "{[".utf8.contains($0) } ?? false
    }
}
