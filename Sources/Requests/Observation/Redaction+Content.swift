// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Redaction {
    /// Content of a type without the texts in it that are credentials by their name, where it is JSON or a form.
    ///
    /// What has none is given back byte for byte. JSON that can't be read, and names one, is left out.
    ///
    /// Fewer names count than elsewhere: what is recorded is to be replayed, and a `code` or a `key` in content is next
    /// to never a secret.
    ///
    /// - Complexity: O(n).
    package static func content(_ content: Data, type: String?) -> Data {
        guard let type = type.flatMap({ try? MediaType(parsing: $0) }) else { return content }
        if type.essence == MediaType.urlEncodedForm.essence {
            return Data(pairs(Substring(decoding: content, as: UTF8.self), separatedBy: "&").utf8)
        }
        guard type.essence == MediaType.json.essence || type.suffix == "json" else { return content }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: content) else {
            // What was cut off can't be taken apart: it goes as a whole where it names a credential.
            let pieces = content.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
            return pieces.contains(where: namesCredential) ? Data() : content
        }
        return credentials(value)?.serialized ?? content
    }

    /// Content as people may read it in a message; nil where it names a secret, and can't be taken apart.
    ///
    /// Whatever its type is: content without one, or of a wrong one, is what a message is most often about. All names
    /// count here, since nothing is replayed from a message; in text that isn't made of names and values, only those do
    /// that are no common words.
    ///
    /// - Complexity: O(n).
    package static func shown(_ content: Data, type: String?) -> Data? {
        let media = type.flatMap { try? MediaType(parsing: $0) }
        if media?.essence == MediaType.urlEncodedForm.essence {
            return Data(pairs(Substring(decoding: content, as: UTF8.self), separatedBy: "&").utf8)
        }
        if let value = try? JSONDecoder().decode(JSONValue.self, from: content) {
            switch value {
            case .object, .array:
                let redacted = json(value)
                return redacted == value ? content : redacted.serialized
            // A text may be anything once more, such as a form in quotes.
            case .string(let text): return namesCredential(inTextOf: text.utf8) ? nil : content
            case .null, .bool, .integer, .double: return content
            }
        }
        return namesCredential(inTextOf: content) ? nil : content
    }

    /// Whether one of the words of a text names a credential.
    private static func namesCredential(inTextOf bytes: some Collection<UInt8>) -> Bool {
        let words = bytes.split { byte in
            !(ASCII.isLetter(ASCII.lowercased(byte)) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-"))
        }
        return words.contains { word in
            let name = String(decoding: word, as: UTF8.self)
            return namesCredential(name) || namesSecret(name) && !isCommonWord(name)
        }
    }

    /// Whether a secret's name is also what people write in a text.
    private static func isCommonWord(_ name: String) -> Bool {
        ["code", "key", "pin", "pass", "session", "cookie", "signature", "assertion"].contains(name.lowercased())
    }

    /// The value without credentials; nil where there are none.
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
                // A number stays one, so that it is still decoded: none of these names is that of a number.
                if case .string(let text) = member, text != "REDACTED", namesCredential(name) {
                    members[name] = "REDACTED"
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

    private static func namesCredential(_ name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        return ["token", "secret", "password", "passwd", "passphrase", "jwt"].contains { letters.hasSuffix($0) }
    }
}
