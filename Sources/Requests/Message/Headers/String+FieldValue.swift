// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension String {
    /// The string as the value of a parameter: as it is where it is a token, else as a quoted string (RFC 9110, 5.6.4).
    ///
    /// A control character has no escaped form. It stays as it is, and is refused with the field that it ends up in.
    var asParameterValue: String {
        isToken ? self : quoted
    }

    /// The string as a quoted string, with quotes and backslashes escaped.
    var quoted: String {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "\""))
        return String(decoding: quoted, as: UTF8.self)
    }

    /// The string without spaces and tabs at either end.
    var trimmedOfBlanks: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = utf8.first, let last = utf8.last, isBlank(first) || isBlank(last) else { return self }
        guard let start = utf8.firstIndex(where: { !isBlank($0) }), let end = utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(self[start...end])
    }

    /// The string with ASCII letters in lower case, and everything else as it is.
    var lowercasedASCII: String {
        String(decoding: utf8.map(ASCII.lowercased), as: UTF8.self)
    }

    /// Whether a field value could hold the string: no CR, LF, NUL or other control character.
    var isFieldValue: Bool {
        utf8.allSatisfy(ASCII.isFieldValue)
    }
}
