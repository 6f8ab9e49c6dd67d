// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct FileNameTests {
    @Test(
        arguments: [
            ("film.mov", "film.mov"), ("Ünïcödé €.txt", "Ünïcödé €.txt"), ("a b.txt", "a b.txt"), ("👩‍👧.png", "👩‍👧.png"),
            (".tar.gz", "tar.gz"), ("a..b", "a..b"), ("-rf", "-rf"), ("~", "~"), ("%2e%2e%2f", "%2e%2e%2f"),
            // Paths.
            ("../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"),
            ("C:\\a\\b.txt", "b.txt"), ("C:b.txt", "C_b.txt"), ("a.txt::$DATA", "a.txt__$DATA"),
            ("\\\\server\\share\\a", "a"), ("a/b\\c", "c"), ("a/..\u{301}b", "\u{301}b"),
            // Names with no safe character.
            ("..", "x"), (".", "x"), ("", "x"), ("/", "x"), ("a/", "x"), ("a/..", "x"), ("   ", "x"), ("\0", "x"),
            (". . .", "x"), ("\u{202E}", "x"), ("\u{200B}.\u{FEFF}", "x"),
            // Invisible characters.
            ("a\0.txt", "a.txt"), ("a\r\nb\t\u{7F}\u{85}", "ab"), ("photo\u{202E}gnp.exe", "photognp.exe"),
            ("\u{2066}a\u{2069}\u{200F}", "a"), ("a\u{2028}b\u{2029}", "ab"), ("\0..\0/\0..", "x"),
            ("\u{200B}.hidden", "hidden"),
            // Characters that are removed at the ends.
            (".bashrc", "bashrc"), ("..a", "a"), ("a.", "a"), ("a. . ", "a"), (" a ", "a"), ("\u{A0}a\u{3000}", "a"),
            // Windows.
            ("CON", "_CON"), ("con.txt", "_con.txt"), ("NUL .tar.gz", "_NUL .tar.gz"), ("com1", "_com1"),
            ("LPT¹.x", "_LPT¹.x"), ("COM", "COM"), ("COM10", "COM10"), ("console", "console"), ("_CON", "_CON"),
            ("conin$", "_conin$"), ("a<b>|?*\"c", "a_b_____c"), ("???", "___"),
        ] as [(String, String)]
    )
    func suggestedNameIsSanitized(suggestion: String, name: String) {
        // Compared as bytes: characters are equal in more than one form.
        #expect(Array(FileName.safe(suggestion, default: "x").utf8) == Array(name.utf8))
    }

    @Test(
        arguments: [
            (nil, "https://example.com/a/film.mov?x=1#y", "film.mov"), ("", "https://example.com/film.mov", "film.mov"),
            ("..", "https://example.com/film.mov", "film.mov"), ("a", "https://example.com/film.mov", "a"),
            (nil, "https://example.com/%2e%2e%2fetc%2fpasswd", "passwd"), (nil, "https://example.com/a%00b", "ab"),
            (nil, "https://example.com/a/", "a"), (nil, "https://example.com/", "x"), (nil, "https://example.com", "x"),
            (nil, "https://example.com/..", "x"), (nil, "https://example.com/%E2%80%AEa", "a"),
        ] as [(String?, String, String)]
    )
    func urlProvidesFallbackName(suggestion: String?, url: String, name: String) throws {
        let url = try #require(URL(string: url))

        #expect(FileName.safe(suggestion, url: url, default: "x") == name)
    }

    @Test(arguments: ["..", "", "/"]) func defaultNameIsSanitized(_ name: String) {
        #expect(FileName.safe(nil, default: name) == "download")
    }

    @Test func longNameIsTruncatedBeforeExtension() {
        let letters = FileName.safe(String(repeating: "é", count: 300) + ".jpeg")
        #expect(letters == String(repeating: "é", count: 125) + ".jpeg")

        let family = FileName.safe(String(repeating: "👩‍👧", count: 100) + ".png")
        #expect(family == String(repeating: "👩‍👧", count: 22) + ".png")

        let accents = FileName.safe("a" + String(repeating: "\u{301}", count: 1000) + ".png")
        #expect(accents == "download")

        #expect(FileName.safe(String(repeating: "a", count: 255)).utf8.count == 255)
        let noExtension = FileName.safe("a." + String(repeating: "b", count: 300))
        #expect(noExtension == "a." + String(repeating: "b", count: 253))
        #expect(FileName.safe("NUL" + String(repeating: " ", count: 300) + ".txt") == "_NUL.txt")
        #expect(FileName.safe("NUL." + String(repeating: "b", count: 300)).utf8.count == 255)
    }

    @Test func responseHeadSuggestsFileName() {
        let url = URL(string: "https://example.com/get/42")
        let named = HTTPResponseHead(
            status: .ok,
            headers: [
                HTTPField(.contentDisposition, "attachment; filename=\"../a.txt\"; filename*=UTF-8''..%2F%e2%82%ac.txt")
            ],
            url: url
        )

        #expect(named.suggestedFileName == "€.txt")
        for (name, safe) in [
            ("..%2F..%2Fetc%2Fpasswd", "passwd"), ("%2e%2e%5Ca.txt", "a.txt"), ("=?utf-8?B?Li4vYS50eHQ=?=", "a.txt"),
            ("..%252Fa.txt", FileName.safe("..%2Fa.txt")), ("a%00b", FileName.safe("a\0b")),
        ] {
            let field = HTTPField(.contentDisposition, "attachment; filename=\"\(name)\"")
            #expect(HTTPResponseHead(status: .ok, headers: [field]).suggestedFileName == safe, "\(name)")
        }
        #expect(HTTPResponseHead(status: .ok, url: url).suggestedFileName == "42")
        #expect(HTTPResponseHead(status: .ok).suggestedFileName == "download")
    }
}
