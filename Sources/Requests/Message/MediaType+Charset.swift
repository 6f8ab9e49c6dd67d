// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension MediaType {
    /// The character set of a text, as its parameter says; setting it replaces the parameter.
    public var charset: String? {
        get { self[parameter: "charset"] }
        set { self[parameter: "charset"] = newValue }
    }

    /// The media type of a text in this character set, such as `.plainText.charset("utf-8")`.
    public func charset(_ charset: String) -> MediaType {
        parameter("charset", charset)
    }

    /// The encoding that the character set stands for, or nil where there is none or Foundation has no name for it.
    public var encoding: String.Encoding? {
        guard let charset else { return nil }
        // The names of the IANA's registry that are seen on the web. `iso-8859-1` is what it says, and not the
        // `windows-1252` that browsers read it as.
        switch charset.lowercasedASCII {
        case "utf-8", "utf8", "unicode-1-1-utf-8": return .utf8
        case "us-ascii", "ascii", "ansi_x3.4-1968": return .ascii
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1": return .isoLatin1
        case "iso-8859-2", "latin2": return .isoLatin2
        case "utf-16": return .utf16
        case "utf-16le": return .utf16LittleEndian
        case "utf-16be": return .utf16BigEndian
        case "utf-32": return .utf32
        case "utf-32le": return .utf32LittleEndian
        case "utf-32be": return .utf32BigEndian
        case "windows-1250", "cp1250": return .windowsCP1250
        case "windows-1251", "cp1251": return .windowsCP1251
        case "windows-1252", "cp1252": return .windowsCP1252
        case "windows-1253", "cp1253": return .windowsCP1253
        case "windows-1254", "cp1254": return .windowsCP1254
        case "shift_jis", "shift-jis", "sjis": return .shiftJIS
        case "euc-jp": return .japaneseEUC
        case "iso-2022-jp": return .iso2022JP
        case "macintosh": return .macOSRoman
        default: return nil
        }
    }
}
