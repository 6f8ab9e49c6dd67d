// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Content as an HTTP archive has it: as text where that says the same bytes again, else in base64.
struct ArchiveContent {
    let members: [String: JSONValue]

    init(_ data: Data, type: String?) {
        if let text = Self.text(data, type) {
            members = ["text": .string(text)]
        } else {
            members = ["text": .string(data.base64EncodedString()), "encoding": "base64"]
        }
    }

    private static func text(_ data: Data, _ type: String?) -> String? {
        // A reader takes the text for one in the encoding that the type names, and wouldn't get the same bytes.
        let charset = type.flatMap { try? MediaType(parsing: $0) }?.charset
        if let charset, !["utf-8", "utf8"].contains(charset.lowercased()) { return nil }
        guard let text = String(utf8: data) else { return nil }
        // Some readers drop the mark at the beginning, and NUL is the sign of what isn't text.
        return text.unicodeScalars.first == "\u{FEFF}" || text.utf8.contains(0) ? nil : text
    }
}
