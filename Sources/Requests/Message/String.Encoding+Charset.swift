// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension String.Encoding {
    /// The registered names (IANA, Character Sets) of the encodings that Foundation knows.
    private static let charsets: [(name: String, encoding: String.Encoding)] = [
        ("utf-8", .utf8),
        ("us-ascii", .ascii),
        ("iso-8859-1", .isoLatin1),
        ("iso-8859-2", .isoLatin2),
        ("utf-16", .utf16),
        ("utf-16be", .utf16BigEndian),
        ("utf-16le", .utf16LittleEndian),
        ("utf-32", .utf32),
        ("utf-32be", .utf32BigEndian),
        ("utf-32le", .utf32LittleEndian),
        ("windows-1250", .windowsCP1250),
        ("windows-1251", .windowsCP1251),
        ("windows-1252", .windowsCP1252),
        ("windows-1253", .windowsCP1253),
        ("windows-1254", .windowsCP1254),
        ("shift_jis", .shiftJIS),
        ("euc-jp", .japaneseEUC),
        ("iso-2022-jp", .iso2022JP),
        ("macintosh", .macOSRoman),
    ]

    /// What else servers call them.
    private static let aliases: [(name: String, encoding: String.Encoding)] = [
        ("utf8", .utf8), ("ascii", .ascii), ("latin1", .isoLatin1), ("latin-1", .isoLatin1), ("sjis", .shiftJIS),
    ]

    /// The encoding of a charset, by its name in whatever case; nil for one that Foundation doesn't know.
    init?(charset: String) {
        let all = Self.charsets + Self.aliases
        guard let entry = all.first(where: { $0.name.equalsIgnoringASCIICase(charset) }) else { return nil }
        self = entry.encoding
    }

    /// The registered name; nil for encodings that no peer should be sent.
    var charset: String? {
        Self.charsets.first { $0.encoding == self }?.name
    }
}
