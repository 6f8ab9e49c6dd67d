// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPLinkTests {
    static let base = URL(string: "https://user:secret@api.example.com/v1/repos?page=1#top")!

    private func links(_ values: String...) -> [HTTPField.Link] { HTTPField.Link.parse(values, of: Self.base) }

    private func head(_ values: String...) -> HTTPResponseHead {
        HTTPResponseHead(status: .ok, headers: HTTPHeaders(values.map { HTTPField(.link, $0) }), url: Self.base)
    }

    @Test(
        arguments: [
            // RFC 8288, 3.5.
            (#"<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter""#, ["previous"]),
            (#"</>; rel="http://example.net/foo""#, ["http://example.net/foo"]),
            (##"</terms>; rel="copyright"; anchor="#foo""##, ["copyright"]),
            (
                #"<http://example.org/>; rel="start http://example.net/relation/other""#,
                [
                    "start", "http://example.net/relation/other",
                ]
            ),
            // Fields of real servers.
            ("<a>;rel=next", ["next"]), ("<a> ; rel = \"NEXT\"", ["next"]), ("<a>; REL=next; rel=prev", ["next"]),
            ("<a>; rel=\"next  prev\t last\"", ["next", "prev", "last"]), ("<a>", []), ("<a>; rel", []),
            ("<a>; rel=\"\"", []), ("<a>; title=\";,<>\"; rel=next", ["next"]),
            ("<a>; title=\"a\\\"; rel=prev\"; rel=next", ["next"]), ("<a>;;; rel=next", ["next"]),
            ("<a>; title=\"x\"y; rel=next", ["next"]), ("<a>; =x; rel=next", ["next"]),
            ("<a,b;c>; rel=next", ["next"]),
        ] as [(String, [String])]
    )
    func parsesRelations(text: String, relations: [String]) throws {
        let links = links(text)

        #expect(links.map(\.relations) == [relations])
    }

    @Test(arguments: ["", " ", ",", "a; rel=next", "<a; rel=next", ">", ";<a>; rel=next", "\"<a>\"; rel=next"])
    func malformedFieldHasNoLinks(text: String) {
        #expect(links(text).isEmpty)
    }

    @Test func parsesLinksOfAllFieldsInOrder() {
        let links = links(#"<a>; rel=first, , <b>;rel="next"; title="b, <c>", <c>"#, "", "x", "<d>; rel=last,")

        #expect(links.map(\.target) == ["a", "b", "c", "d"])
        #expect(links[1][parameter: "TITLE"] == "b, <c>")
    }

    @Test(
        arguments: [
            ("https://other.example/x", "https://other.example/x"),
            ("?page=2", "https://api.example.com/v1/repos?page=2"),
            ("/a", "https://api.example.com/a"), ("a", "https://api.example.com/v1/a"),
            ("../../../a", "https://api.example.com/a"), ("//other.example/a", "https://other.example/a"),
            ("#next", "https://api.example.com/v1/repos?page=1#next"), ("/a b", "https://api.example.com/a%20b"),
            ("https://ada:pw@api.example.com/a", "https://api.example.com/a"), ("HTTP://h", "HTTP://h"),
            ("javascript:alert(1)", nil), ("file:///etc/passwd", nil), ("https://", nil), ("https:///a", nil),
            ("ftp://h/a", nil), ("https://a b/", nil), ("/a\r\nX: y", nil), ("/a\u{0}", nil),
        ] as [(String, String?)]
    )
    func targetsAreResolvedAgainstResponseURL(target: String, url: String?) throws {
        let link = try #require(links("<\(target)>; rel=next").first)

        #expect(link.url?.absoluteString == url)
    }

    @Test(
        arguments: [
            ("title=plain", "plain"), ("title*=UTF-8'de'n%c3%a4chstes%20Kapitel", "nächstes Kapitel"),
            ("title=plain; title*=UTF-8''%e2%82%ac", "€"), ("title=plain; title*=UTF-8''%zz", "plain"),
            ("title*=KOI8-R''a; title*=UTF-8''b", "b"), ("rel=next", nil),
        ] as [(String, String?)]
    )
    func extendedTitleTakesPrecedence(parameters: String, title: String?) throws {
        #expect(try #require(links("<a>; \(parameters)").first).title == title)
    }

    @Test(
        arguments: [
            ("<a>; rel=next", true), ("<a>; rel=next; anchor=\"\"", true), ("<a>; rel=next; anchor=\"#part\"", true),
            ("<a>; rel=next; anchor=\"/v1/repos?page=1\"", true), ("<a>; rel=next; anchor=\"/other\"", false),
            ("<a>; rel=next; anchor=\"https://other.example/\"", false), ("<a>; rel=next; anchor=\"https://\"", false),
        ] as [(String, Bool)]
    )
    func linksAnchoredToOtherResourcesAreIgnored(text: String, isOfResponse: Bool) {
        #expect(links(text).map(\.isOfResponse) == [isOfResponse])
        #expect((head(text).link("next") != nil) == isOfResponse)
    }

    @Test func relationLookupIsCaseInsensitive() {
        let head = head("<?page=9>; rel=last", #"<?page=2>; rel="Next""#)

        #expect(head.link("NEXT")?.query() == "page=2")
        #expect(head.link("prev") == nil)
        #expect(head.links.map(\.description) == ["<?page=9>; rel=last", "<?page=2>; rel=Next"])
    }

    @Test func linkDescriptionRedactsSecrets() throws {
        let text = #"<https://a:hush@h/?page=2&token=hush>; rel=next; anchor="/?api_key=hush""#
        let link = try #require(HTTPField.Link.parse([text], of: Self.base).first)
        var dumped = ""
        dump([link], to: &dumped)

        #expect(link.rawValue == text)
        #expect("\(link)" == #"<https://h/?page=2&token=REDACTED>; rel=next; anchor="/?api_key=REDACTED""#)
        for shown in [dumped, String(reflecting: link), "\([link])", "\(Optional(link) as Any)"] {
            #expect(!shown.contains("hush") && !shown.contains("secret"))
        }
    }

    @Test func absoluteLinkNeedsNoBaseURL() {
        let links = HTTPField.Link.parse(["<https://h/a>; rel=next, <b>; rel=prev"])

        #expect(links.map { $0.url?.absoluteString } == ["https://h/a", nil])
    }

    /// A hundred times the text takes about a hundred times as long; a quadratic parser would take ten thousand times
    /// as long.
    @Test(arguments: ["<", "<>;", "<a>;\"", "<a>;rel=\"", ",", "<a>; rel=next, ", ";=", "\\\""])
    func malformedInputIsParsedInLinearTime(piece: String) {
        func time(_ count: Int) -> Duration {
            let text = String(repeating: piece, count: count)
            return ProcessorTime.shortest { _ = links(text) }
        }
        let count = Scale.pick(100, whole: 1000)
        #expect(time(100 * count) < time(count) * 1000)
    }
}
