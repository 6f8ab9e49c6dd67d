// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

/// Lists with an unterminated quote: text inside quotes never becomes a list member.
@Suite(.bounded) struct OpenQuoteTests {
    @Test(arguments: [
        [#"<a>; title="x, <evil>; rel=next"#], [#"<a>; rel=next; title="x, <evil>; rel=next"#],
        [#"<a>; title="x"y"z, <evil>; rel=next"#], [#"<a>; title="x" "y, <evil>; rel=next"#],
        [#"<a>; title=x"y, <evil>; rel=next"#], [#"<a>; "x, <evil>; rel=next"#], [#"<a> "x, <evil>; rel=next"#],
        [#"<a>; title="x\", <evil>; rel=next"#], [#"<a>; x"y=z, <evil>; rel=next"#], [#"<a>; rel="next"#],
        [#"<a>; title="x, <b>; title="y, <evil>; rel=next"#], [#"", <evil>; rel=next"#],
    ])
    func linkInsideUnterminatedQuoteIsIgnored(lines: [String]) {
        let links = HTTPField.Link.parse(lines)

        #expect(links.allSatisfy { $0.relations.isEmpty && $0.target != "evil" })
    }

    @Test func linksOutsideUnterminatedQuoteAreParsed() {
        let lines = [#"<a>; rel=first; title="a, <x>", <b>; title="x, <evil>; rel=next"#, "<c>; rel=next"]

        #expect(HTTPField.Link.parse(lines).map(\.target) == ["a", "c"])
    }

    @Test(
        arguments: [
            (#"Basic realm="x, Bearer error=invalid"#, []), (#"Basic realm="x"#, []),
            (#"Basic realm="x", Digest realm="y, Bearer"#, ["Basic realm=x"]),
            (#"Basic realm="x", Digest realm=y, nonce=n, algorithm="SHA-256"#, ["Basic realm=x"]),
            (#"Basic realm="x"y"z, Bearer"#, []), (#"Basic realm="x"y, Bearer"#, ["Basic realm=x"]),
            (#"Basic realm="x, Bearer realm="y, Negotiate"#, [#"Basic realm="x, Bearer realm=""#]),
            (#"Negotiate, Basic realm=x, "y"#, ["Negotiate", "Basic realm=x"]),
        ] as [(String, [String])]
    )
    func challengeInsideUnterminatedQuoteIsIgnored(text: String, challenges: [String]) {
        #expect(Authorization.Challenge.list(parsing: text).map(\.description) == challenges)
    }

    @Test(
        arguments: [
            (#""a", "b, "c""#, [#""a""#]), (#""a", "b"#, [#""a""#]), (#""a"#, []),
            (#""a\", "b""#, [#""a\""#, #""b""#]),
        ] as [(String, [String])]
    )
    func entityTagInsideUnterminatedQuoteIsIgnored(text: String, tags: [String]) {
        #expect(HTTPField.EntityTag.list(parsing: text).map(\.rawValue) == tags)
    }

    @Test(
        arguments: [
            (#"no-cache="x"#, #"no-cache="""#), (#"no-cache="x, y"#, #"no-cache="""#), ("max-age=abc", "max-age=abc"),
            ("no-store=1", "no-store=1"), (#"max-age="1"#, #"max-age="""#), ("no-cache=\"a\u{1}\"", #"no-cache="""#),
            (#"a, x="b, no-store, c, max-age=5"#, #"a, x="", no-store, max-age=0"#),
            (#"a="b" c", private, d"#, #"a="", private"#), (#"max-age=9, a="b, Max-Age=5"#, #"a="", max-age=0"#),
        ] as [(String, String)]
    )
    func directiveWithInvalidArgumentKeepsName(text: String, printed: String) {
        #expect(CacheControl(parsing: text).rawValue == printed)
    }
}
