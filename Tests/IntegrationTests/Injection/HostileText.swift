// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Texts that try to break out of the place that they are put into.
enum HostileText {
    static let all = lines + delimiters + places + unusual

    /// The plainest attempt: the end of a line, and a separate field.
    static let newField = "a\r\nX-Evil: 1"

    /// Texts that end a line for some parsers, and begin another line.
    static let lines = [
        "\r", "\n", "\r\n", "\0", newField, "a\nX-Evil: 1", "a\rX-Evil: 1", "a\0X-Evil: 1",
        " HTTP/1.1\r\nX-Evil: 1\r\n\r\n", "\r\n\r\nGET /evil HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "a\r\n X-Evil: 1", "\r\n0\r\n\r\n", "--boundary--\r\n", "a\r\n--boundary\r\nX-Evil: 1\r\n\r\n",
        // Each is one Swift character that differs from the line break in it.
        "a\r\n\u{301}X-Evil: 1", "a\u{301}\nX-Evil: 1", "\r\u{200D}\nX-Evil: 1",
        // Texts that become line breaks if only the low byte is kept, and Unicode line separators.
        "\u{10D}\u{10A}X-Evil: 1", "\u{560D}\u{560A}X-Evil: 1", "\u{2028}X-Evil: 1\u{2029}", "\u{85}X-Evil: 1",
        "\u{B}\u{C}X-Evil: 1", "%0d%0aX-Evil:%201", "%00", "%250d%250a", "\\r\\nX-Evil: 1",
    ]

    /// Texts with delimiters of fields, queries and forms.
    static let delimiters = [
        "", " ", "\t", " a ", "\"", "\"; x=\"1", "'", "a;b=c", "a,b", "a: b", "=", "==", "&", "&evil=1", "+", "\\",
        "\\\"",
        "{x}", "}{", "%", "%2", "%zz", "*", "<>", "(", "|", "`id`", "$(id)", "q=0",
        "'; id; '", "'\u{301}; id; '\u{301}", "\"\u{301}; x=\"\u{301}", ";\u{301}a=b", "&\u{301}evil=1",
        "@\u{301}/etc/passwd",
    ]

    /// Texts that lead to another address.
    static let places = [
        ".", "..", "../../evil", "a/../../../evil", "..\\evil", "%2e%2e/%2e%2e", "..%2fevil", "%2F%2Fevil.example",
        "//evil.example", "///evil.example", "/\\evil.example", "\\\\evil.example\\", "http://evil.example/",
        "https:evil.example", "http:/evil.example", "user:pass@evil.example", "@evil.example", ":80@evil.example",
        "?evil=1", "#evil", "a?b#c", "javascript:1", "[::1]", ":1", "/", "//", ";a=b",
    ]

    /// Unusual text: control characters, marks, invalid UTF-8, and very long text.
    static let unusual = [
        "\u{7F}", "\u{1}\u{1B}[2J", "\u{FEFF}", "\u{202E}evil", "grün 🥞", "e\u{301}",
        String(decoding: [0x61, 0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80, 0xFF] as [UInt8], as: UTF8.self),
        String(decoding: [0xC0, 0x8D, 0xC0, 0x8A, 0x61] as [UInt8], as: UTF8.self),
        String(repeating: "a", count: 10_000), String(repeating: "ü\" ", count: 2_000),
    ]
}
