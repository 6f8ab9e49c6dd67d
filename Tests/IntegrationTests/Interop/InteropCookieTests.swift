// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// The place of the suite from `Scripts/interop`; `nil` in any other run.
private enum CookieSuite {
    static let folder = ProcessInfo.processInfo.environment["REQUESTS_INTEROP_COOKIES"].map { URL(fileURLWithPath: $0) }
}

/// The suite of cookie tests at github.com/abarth/http-state, which accompanied the writing of RFC 6265.
@Suite(
    .bounded,
    .enabled(if: CookieSuite.folder != nil, "Scripts/interop fetches the suite")
)
struct InteropCookieTests {
    private struct Case: Decodable {
        struct Sent: Decodable {
            let name: String
            let value: String
        }

        let test: String
        let received: [String]
        let sent: [Sent]
        let target: String?

        enum CodingKeys: String, CodingKey {
            case test, received, sent
            case target = "sent-to"
        }
    }

    private struct DateCase: Decodable {
        let test: String
        let expected: String?
    }

    /// The tests that fail, each with its reason.
    private static let deviations = [
        "DISABLED_CHROMIUM0022": "a control character: RFC 6265bis, 5.6 ignores the cookie",
        "DISABLED_CHROMIUM0023": "a control character: RFC 6265bis, 5.6 ignores the cookie",
        "DISABLED_PATH0029": "paths are compared as they are written",
        "OPTIONAL_DOMAIN0042": "RFC 6265bis, 5.6.3: an empty Domain is that of the host",
    ]

    /// The tests of cookies without a name, which RFC 6265 ignores, and which browsers and RFC 6265bis, 5.6, keep.
    private static let nameless: Set = [
        "0004", "0021", "0023", "0024", "0025", "0026", "0027", "0028", "CHROMIUM0009", "CHROMIUM0010", "CHROMIUM0012",
        "MOZILLA0012", "MOZILLA0014", "MOZILLA0015", "MOZILLA0016", "MOZILLA0017", "NAME0023", "NAME0028", "NAME0031",
        "NAME0032", "NAME0033",
    ]

    @Test func cookieJarPassesStandardSuite() throws {
        let file = try #require(CookieSuite.folder).appendingPathComponent("parser.json")
        let base = try #require(URL(string: "http://home.example.org:8888/"))
        // A time that precedes those at which cookies of the suite expire; the last of them was in 2019.
        let now = Date(timeIntervalSince1970: 1_300_000_000)
        var count = 0
        for test in try JSONDecoder().decode([Case].self, from: Data(contentsOf: file)) {
            let jar = CookieJar { now }
            let origin = try #require(URL(string: "/cookie-parser?\(test.test)", relativeTo: base)?.absoluteURL)
            jar.store(test.received.compactMap { SetCookie(parsing: $0) }, from: origin)
            let target = test.target ?? "/cookie-parser-result?\(test.test)"
            let url = try #require(URL(string: target, relativeTo: base)?.absoluteURL)

            let cookies = jar.cookies(for: url)

            let expected = test.sent.map { "\($0.name)=\($0.value)" }
            if Self.nameless.contains(test.test) {
                let named = cookies.filter { !$0.name.isEmpty }
                #expect(named.count < cookies.count, "\(test.test) is listed as one without a name, and isn't one")
                #expect(named.map(\.rawValue) == expected, "\(test.test): \(test.received)")
            } else if Self.deviations[test.test] == nil {
                #expect(cookies.map(\.rawValue) == expected, "\(test.test): \(test.received)")
            } else {
                #expect(cookies.map(\.rawValue) != expected, "\(test.test) is listed as a deviation, and isn't one")
            }
            count += 1
        }
        #expect(count >= 222)
    }

    @Test(arguments: ["examples", "bsd-examples"])
    func parsesCookieDates(name: String) throws {
        let file = try #require(CookieSuite.folder).appendingPathComponent("dates/\(name).json")
        // One of them begins with a comment, which isn't JSON.
        let text = try String(contentsOf: file, encoding: .utf8)
        let json = text.split(separator: "\n").filter { !$0.hasPrefix("//") }.joined(separator: "\n")
        for test in try JSONDecoder().decode([DateCase].self, from: Data(json.utf8)) {
            let date = SetCookie(parsing: "a=b; Expires=\(test.test)")?.expires
            #expect(date?.description == test.expected, "\(test.test)")
        }
    }
}
