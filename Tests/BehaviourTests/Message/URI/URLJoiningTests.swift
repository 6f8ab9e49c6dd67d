// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct URLJoiningTests {
    static let joins: [(base: String, path: String, query: Query, address: String)] = [
        ("https://h", "", [], "https://h"), ("https://h/", "", [], "https://h/"),
        ("https://h/v1", "", [], "https://h/v1"),
        ("https://h/v1/", "", [], "https://h/v1/"), ("https://h", "a", [], "https://h/a"),
        ("https://h", "/", [], "https://h/"),
        ("https://h/v1", "/", [], "https://h/v1/"), ("https://h/v1", "users/1", [], "https://h/v1/users/1"),
        ("https://h/v1/", "users", [], "https://h/v1/users"), ("https://h/v1/", "/users/", [], "https://h/v1/users/"),
        ("https://h/v1//", "//users", [], "https://h/v1/users"),
        ("https://h/a%2Fb", "c%2Fd é", [], "https://h/a%2Fb/c%2Fd%20%C3%A9"),
        ("https://h?k=v", "a", [], "https://h/a?k=v"), ("https://h?k=v", "", ["a": nil], "https://h?k=v&a"),
        ("https://h/p?k=%20+&k#top", "a", ["q": "x y+z"], "https://h/p/a?k=%20+&k&q=x%20y%2Bz"),
        ("https://h/?", "a", [], "https://h/a"),
        ("https://h/?k&", "", ["a": 1], "https://h/?k&a=1"),
        ("https://u:p%40w@h:8080/v1", "a", [], "https://u:p%40w@h:8080/v1/a"),
        ("http://[::1]:80/x", "y", [], "http://[::1]:80/x/y"),
        ("https://h/v1", "a//b/./c", [], "https://h/v1/a//b/./c"),
        ("https://h/v1#frag", "", [], "https://h/v1"), ("https://h/v1?q=a/b?c", "x", [], "https://h/v1/x?q=a/b?c"),
    ]

    @Test(arguments: joins)
    func basePathAndQueryAreKept(base: String, path: String, query: Query, address: String) throws {
        let base = try #require(URL(string: base))

        #expect(try URL.joined(base: base, reference: path, query: query).absoluteString == address)
    }

    static let hostile = [
        "//evil.example", "///evil.example/a", "https://evil.example", "https:evil.example", "@evil.example",
        "user:pw@evil.example",
        "/@evil.example", ":8080", ":80@evil.example/", "\\\\evil.example", "/\\evil.example",
        "%2F%2Fevil.example",
        "a\0b", "a\r\nHost: evil.example", "\r\n", "\t//evil.example", " //evil.example", "😀", "e\u{301}", "％2e％2e",
        "%", "%zz",
        "%00", "%0d%0a", "[::1]", "a;b=c", "{x}", "|", "\u{202E}/x", "．．/", "...", ".hidden", "a..b", "..a",
    ]

    @Test(arguments: hostile) func pathsCannotChangeOrigin(_ path: String) throws {
        for base in ["https://api.example.com", "https://user:pw@api.example.com:8443/v1?k=v"] {
            let base = try #require(URL(string: base))
            let url = try URL.joined(base: base, reference: path)
            let segment = try URL.joined(base: base, reference: path.percentEncodedPathSegment())

            for url in [url, segment] {
                #expect(isOfSameOrigin(url, base))
                #expect(url.user() == base.user() && url.password() == base.password())
                #expect(url.query(percentEncoded: true) == base.query(percentEncoded: true))
                #expect(url.fragment() == nil)
                #expect(url.path(percentEncoded: true).hasPrefix(base.path(percentEncoded: true) + "/"))
                #expect(url.absoluteString.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "\\") })
            }
            let count = base.absoluteString.split(separator: "/").count
            let address = segment.absoluteString.prefix { $0 != "?" }
            #expect(address.split(separator: "/").count == count + 1)
        }
    }

    @Test(
        arguments: [
            "..", "../", "/..", "a/../b", "%2e%2e", "%2E%2e/", ".%2e", "%2e.", "a/%2E./b", "..%2Fa", "a%2f..", "..\\a",
            "a\\..", "%5C..",
            "..%5ca", "a/..?x", "a/..#x",
        ].filter { !$0.contains("?") && !$0.contains("#") }
    )
    func pathsWithParentSegmentsFail(_ path: String) throws {
        let base = try #require(URL(string: "https://h/v1"))

        let error = #expect(throws: InvalidValue.self) { try URL.joined(base: base, reference: path) }

        #expect(error?.kind == .url)
        #expect(throws: InvalidValue.self) { try URL.joined(base: base, reference: path + "?a=b") }
    }

    @Test(arguments: ["/relative", "mailto:a@b", "file:///etc", "data:,x", "https:///x"])
    func baseURLMustHaveHost(_ base: String) throws {
        let base = try #require(URL(string: base))

        #expect(throws: InvalidValue.self) { try URL.joined(base: base, reference: "a") }
    }

    static let references: [(reference: String, address: String)] = [
        ("", "https://h/v1?k=v&c=1"), ("/posts/1", "https://h/v1/posts/1?k=v&c=1"),
        ("/posts/1?page=2&q=a%20b", "https://h/v1/posts/1?k=v&page=2&q=a%20b&c=1"),
        ("?page=2", "https://h/v1?k=v&page=2&c=1"),
        ("/a?b?c#d?e", "https://h/v1/a?k=v&b?c&c=1"), ("a#b", "https://h/v1/a?k=v&c=1"),
        ("a?", "https://h/v1/a?k=v&c=1"),
        ("//evil.example/?x=y z\r\n", "https://h/v1/evil.example/?k=v&x=y%20z%0D%0A&c=1"),
    ]

    @Test(arguments: references) func referenceQueryIsMerged(reference: String, address: String) throws {
        let base = try #require(URL(string: "https://h/v1?k=v"))

        #expect(try URL.joined(base: base, reference: reference, query: ["c": 1]).absoluteString == address)
    }

    @Test(arguments: [
        ("a", "a"), ("", ""), ("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("%2F", "%252F"), ("a@b:c", "a%40b%3Ac"),
        ("\r\n\0", "%0D%0A%00"),
        ("../x", "..%2Fx"), ("...", "..."), ("é", "%C3%A9"), ("%2e%2e", "%252e%252e"),
        ("a b+c;d=e", "a%20b%2Bc%3Bd%3De"), ("~-._", "~-._"),
        ("\\", "%5C"),
    ])
    func pathSegmentIsFullyEscaped(text: String, segment: String) throws {
        #expect(try text.percentEncodedPathSegment() == segment)
    }

    @Test(arguments: [".", ".."]) func dotSegmentsAreRejected(_ text: String) {
        #expect(throws: InvalidValue.self) { try text.percentEncodedPathSegment() }
    }

    @Test func randomPathFailsOrStaysBelowBase() throws {
        var fuzz = Fuzz()
        let base = try #require(URL(string: "https://user:pw@h:81/v1?k=v"))
        let pieces = [
            "..", ".", "/", "//", "\\", "%2e", "%2F", "@", ":", "https:", "?", "#", "[", "]", "é", "\r\n", "%",
        ]
        for _ in 0..<Scale.fuzz(weight: 20) {
            let path = fuzz.text(of: pieces, upTo: 6)
            guard let url = try? URL.joined(base: base, reference: path) else {
                #expect(path.contains(".") || path.contains("%2"), "\(path.debugDescription), seed \(Fuzz.seed)")
                continue
            }
            #expect(isOfSameOrigin(url, base) && url.user() == "user", "\(path.debugDescription), seed \(Fuzz.seed)")
            #expect(url.standardized.path(percentEncoded: true).hasPrefix("/v1"))
        }
    }
}

/// Whether two URLs have the same scheme, host and port.
private func isOfSameOrigin(_ url: URL, _ other: URL) -> Bool {
    url.scheme?.lowercased() == other.scheme?.lowercased()
        && url.host()?.lowercased() == other.host()?.lowercased() && url.port == other.port
}
