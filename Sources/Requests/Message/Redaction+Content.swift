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
        let mediaType = type.flatMap { try? MediaType(parsing: $0) }
        let isParsed = mediaType?.isMultipart ?? false || mediaType?.isJSON ?? false || content.beginsAsJSON
        return redacted(content, mediaType, json: credentials) { isParsed && namesCredential($0) } ?? Data()
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
    /// Content of any type is read as JSON if it is JSON: a message is often about content without a type, or with a
    /// wrong one. All names count here, since a message isn't replayed. In a text, a name that isn't a credential for
    /// certain, such as `code`, counts only before a colon or an equals sign.
    ///
    /// - Complexity: O(n).
    package static func shown(_ content: Data, type: String?) -> Data? {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        return redacted(content, type, json: json) { namesSecret(in: $0, isForm: type?.isMultipart ?? false) }
    }

    /// Content without the secrets in its JSON or its form; `nil` if content of another format has a secret.
    private static func redacted(
        _ content: Data,
        _ type: MediaType?,
        json: (JSONValue) -> JSONValue,
        isSecret: (Data) -> Bool
    ) -> Data? {
        // A text in quotes may have any format again.
        if type?.isMultipart != true, content.first != UInt8(ascii: "\""),
            let value = try? JSONDecoder().decode(JSONValue.self, from: content)
        {
            let redacted = json(value)
            return redacted == value ? content : redacted.serialized
        }
        guard type?.essence == MediaType.urlEncodedForm.essence else { return isSecret(content) ? nil : content }
        let text = String(decoding: content, as: UTF8.self)
        let redacted = pairs(text[...], separatedBy: "&")
        let form = redacted == text ? content : Data(redacted.utf8)
        return content.beginsAsJSON && isSecret(form) ? nil : form
    }

    /// Whether content that can't be parsed names a credential between quotes, and not a mere number as its value.
    private static func namesCredential(_ content: Data) -> Bool {
        let pieces = content.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
        return pieces.indices.contains { index in
            guard SecretName.isCredential(pieces[index]) else { return false }
            let value = pieces[(index + 1)...].first?.utf8.first { !": ".utf8.contains($0) }
            return SecretName.isCode(pieces[index]) || value.map(ASCII.isDigit) != true
        }
    }

    /// Whether a text names a secret; in a form each word may be a name.
    private static func namesSecret(in text: Data, isForm: Bool) -> Bool {
        let isForm = isForm || text.range(of: Data("name=\"".utf8)) != nil
        return text.split { !ASCIISet.word.contains($0) }.contains { word in
            let name = String(decoding: word, as: UTF8.self)
            guard !SecretName.isCredential(name) else { return true }
            guard namesSecret(name) else { return false }
            let next = text[word.endIndex...].first { !"\\\"'] ".utf8.contains($0) }
            return isForm || next == UInt8(ascii: "=") || next == UInt8(ascii: ":")
        }
    }

    /// The value without the texts of credentials; a number stays one, so that it is still decoded.
    private static func credentials(_ value: JSONValue) -> JSONValue {
        replacing(in: value) { name, member in
            SecretName.isCredential(name) ? hidden(member, isCode: SecretName.isCode(name)) : Optional.none
        }
    }

    private static func hidden(_ value: JSONValue, isCode: Bool) -> JSONValue {
        switch value {
        case .integer(1...) where isCode: 0
        case .string: "REDACTED"
        case .array(let elements): .array(elements.map { hidden($0, isCode: isCode) })
        default: credentials(value)
        }
    }
}

extension MediaType {
    fileprivate var isMultipart: Bool { type.equalsIgnoringASCIICase("multipart") }
}

extension ASCIISet {
    /// The characters of a name.
    fileprivate static let word = alphanumerics + "_-"
}

extension Data {
    /// Whether the first character begins an object or an array.
    fileprivate var beginsAsJSON: Bool {
        first { !" \t\r\n".utf8.contains($0) }.map { "{[".utf8.contains($0) } ?? false
    }
}
