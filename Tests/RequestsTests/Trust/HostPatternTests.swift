// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HostPatternTests {
    private func matches(_ pattern: String, _ host: String) throws -> Bool {
        HostPattern.all(matching: host).contains(try HostPattern(pattern))
    }

    @Test(arguments: [
        ("example.com", "example.com"), ("example.com", "EXAMPLE.com"), ("Example.COM.", "example.com"),
        ("example.com", "example.com."), ("*.example.com", "a.example.com"), ("*.example.com", "A.Example.Com."),
        ("*.localhost", "api.localhost"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("*.a_b.example", "c.a_b.example"), ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "127.1"),
        ("127.0.0.1", "0x7f000001"), ("127.0.0.1", "2130706433"), ("::1", "::1"), ("[::1]", "0:0:0:0:0:0:0:1"),
        ("0:0::1", "[::1]"), ("FE80::1", "fe80::1"),
    ])
    func patternMatchesHost(pattern: String, host: String) throws {
        #expect(try matches(pattern, host))
    }

    @Test(arguments: [
        ("example.com", "a.example.com"), ("example.com", "example.org"), ("example.com", "notexample.com"),
        ("*.example.com", "example.com"), ("*.example.com", "a.b.example.com"), ("*.example.com", "aexample.com"),
        ("*.example.com", ".example.com.evil.org"), ("*.example.com", "a.example.com.evil.org"),
        ("127.0.0.1", "127.0.0.2"), ("::1", "::2"), ("localhost", "127.0.0.1"), ("example.com", ""),
        ("*.0.0.example", "127.0.0.1"),
    ])
    func patternDoesNotMatchOtherHost(pattern: String, host: String) throws {
        #expect(try !matches(pattern, host))
    }

    @Test(arguments: [
        "", ".", "*", "*.", "**.example.com", "a.*.com", "*a.example.com", "*.*.example.com", "https://example.com",
        "example.com/", "example.com:443", "user@example.com", "b\u{FF0F}cher.example", "a b", "a..b", ".example.com",
        "*.127.0.0.1", "a\nb", "example.com\0", String(repeating: "a", count: 64) + ".example",
        String(repeating: "a.", count: 127) + "example",
    ])
    func invalidHostNameIsRejected(text: String) {
        let error = #expect(throws: InvalidValue.self) { try HostPattern(text) }
        #expect(error?.kind == .host)
    }

    @Test func hostPrecedesWildcardAndWildcardPrecedesAny() throws {
        let patterns = [try HostPattern("a.example.com"), try HostPattern("*.example.com"), .any]

        #expect(HostPattern.all(matching: "a.example.com") == patterns)
        #expect(HostPattern.all(matching: "b.example.com").dropFirst() == patterns.dropFirst())
    }
}
