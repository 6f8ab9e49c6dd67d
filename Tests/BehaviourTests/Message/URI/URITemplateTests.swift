// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct URITemplateTests {
    @Test(arguments: URITemplate.standard) func expandsRFC6570Examples(
        template: String,
        expansion: String
    ) throws {
        #expect(try URITemplate(template).expand(.ofTheStandard) == expansion)
    }

    @Test func templateCredentialsAreSentAsAuthorization() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }

        _ = try await HTTPClient(transport: transport).send(
            HTTPRequest(
                URI: "https://{user}:{password}@api.example.com/{path}",
                variables: ["user": "ada", "password": "p@ss/:w\u{F6}rd", "path": "a"]
            )
        )

        #expect(transport.requests.map(\.url.absoluteString) == ["https://api.example.com/a"])
        #expect(
            transport.requests.map { $0.headers[.authorization] }
                == [Authorization.basic(username: "ada", password: "p@ss/:w\u{F6}rd").rawValue]
        )
    }

    static let fine = [
        ("", ""), ("/plain?a=b#c", "/plain?a=b#c"), ("café/{var}", "caf%C3%A9/value"), ("😀{var}", "%F0%9F%98%80value"),
        ("a%20b/%C3%A9/{var}", "a%20b/%C3%A9/value"), ("'{var}'", "'value'"), ("{+triplet}", "admin%2F"),
        ("{#triplet}", "#admin%2F"), ("{triplet}", "admin%252F"), ("{+broken}", "100%25%252"), ("{missing}", ""),
        ("{;none}{&none}{?none}{/none}{.none}{#none}{+none}{none}", ""), ("{;none*}{/nopairs}{?nopairs*}", ""),
        ("{flag:1}", "%F0%9F%87%A9"), ("{accent:1}", "e"), ("{+triplet:6}", "admin%2F"), ("{+triplet:5}", "admin"),
        ("{?yes,no,pi}", "?yes=true&no=false&pi=3.5"), ("{a.b}{c%20d}", "12"), ("{_1}", "u"),
        ("{hostile}", "%0D%0AX%3A%20y%00"), ("{+hostile}", "%0D%0AX:%20y%00"), ("{/empties*}", "//"),
        ("{;blank*}", ";k"), ("{?blank*}", "?k="),
    ]

    @Test(arguments: fine) func expandsCasesBeyondRFCExamples(
        template: String,
        expansion: String
    ) throws {
        let variables: URITemplate.Variables = [
            "var": "value", "triplet": "admin%2F", "broken": "100%%2", "none": [] as [String],
            "nopairs": [:] as [String: String], "flag": "🇩🇪", "accent": "e\u{301}", "yes": true, "no": false, "pi": 3.5,
            "a.b": 1, "c%20d": 2, "_1": "u", "hostile": "\r\nX: y\0", "empties": ["", ""], "blank": .pairs(["k": ""]),
        ]

        #expect(try URITemplate(template).expand(variables) == expansion)
    }

    static let malformed: [(template: String, offset: Int)] = [
        ("{", 1), ("}", 0), ("a{b", 3), ("a}b", 1), ("{}", 1), ("{+}", 2), ("{,}", 1), ("{a,}", 3), ("{,a}", 1),
        ("{a}}", 3),
        ("{{a}}", 1), ("{a b}", 2), ("{ a}", 1), ("{a }", 2), ("{a-b}", 2), ("{=a}", 1), ("{!a}", 1), ("{@a}", 1),
        ("{|a}", 1), ("{$a}", 1), ("{??a}", 2), ("{/?a}", 2), ("{~a}", 1), ("{*a}", 1), ("{a**}", 3), ("{a*:3}", 3),
        ("{a:3*}", 4), ("{a:}", 3), ("{a:0}", 3), ("{a:03}", 3), ("{a:10000}", 7), ("{a:x}", 3), ("{a:-1}", 3),
        ("{a=b}", 2), ("{.a.}", 4), ("{a..b}", 3), ("{?.a}", 2), ("{a%2}", 2), ("{a%zz}", 2), ("{é}", 1), ("{a\0}", 2),
        ("a b", 1), ("a\"b", 1), ("a<b>", 1), ("a\\b", 1), ("a^b", 1), ("a`b", 1), ("a|b", 1), ("100%", 3), ("a%2", 1),
        ("a%zz", 1), ("a\r\nb", 1), ("a\0", 1), ("a\u{7F}", 1), ("é\u{85}", 2), ("{a}{b", 5), ("/h{#hello+}", 9),
        ("{var}{-prefix|/-/|var}", 6), ("{?query){&graph*}", 7),
    ]

    @Test(arguments: malformed) func malformedTemplateErrorHasPosition(template: String, offset: Int) {
        let error = #expect(throws: InvalidValue.self) { try URITemplate(template) }

        #expect(error?.kind == .template && error?.reason.hasSuffix(", at byte \(offset)") == true)
        #expect(
            template.hasSuffix(error?.excerpt ?? "-") || error.map { template.contains($0.excerpt) } == true
                || template.unicodeScalars.contains { $0.value < 32 || (0x7F..<0xA0).contains($0.value) }
        )
    }

    @Test func errorMessageIsShortAndOneLine() {
        let error = #expect(throws: InvalidValue.self) {
            try URITemplate("{a\r\n" + String(repeating: "x", count: 10_000))
        }

        #expect(error.map { "\($0)".count < 200 && !"\($0)".contains("\n") } == true)
    }

    @Test func malformedLiteralThrowsOnExpansion() {
        let template: URITemplate = "/a{b}/{c"

        #expect(template.variables == [])
        #expect(template.description == "/a{b}/{c")
        #expect(template.extract(from: "/ax/y") == nil)
        #expect(throws: InvalidValue.self) { try template.expand(["b": 1, "c": 2]) }
    }

    @Test(arguments: ["{list:1}", "{keys:1}", "{?list:3}", "{+keys:3}"])
    func prefixModifierOnListFails(_ template: String) throws {
        let template = try URITemplate(template)

        #expect(throws: InvalidValue.self) { try template.expand(.ofTheStandard) }
    }

    @Test func undefinedValuePrefixIsEmpty() throws {
        #expect(try URITemplate("x{undef:1,empty_keys:1}").expand(.ofTheStandard) == "x")
    }

    @Test func variablesAcceptStringConvertibleValues() throws {
        enum Order: String, Query.ValueConvertible { case newest }
        let (id, page, name): (Int, Int?, Substring) = (7, nil, "abc".prefix(2))
        let template: URITemplate = "/{id}/{name}{?page,order,counts*,map*,mixed}"

        let expansion = try template.expand([
            "id": id, "name": name, "page": page, "order": Order.newest, "counts": [1, 2], "map": ["b": 1, "a": 2],
            "mixed": .pairs(["a": 1, "b": nil, "c": "d"]),
        ])

        #expect(expansion == "/7/ab?order=newest&counts=1&counts=2&a=2&b=1&mixed=a,1,c,d")
    }

    @Test func valuesAcceptLiterals() {
        let values: [URITemplate.Value] = ["a", 1, ["a", 1, nil]]

        #expect(values == [.string("a"), .string("1"), .list(["a", "1"])])
        #expect(URITemplate.Value(Query(["k": "v"])) == .pairs(["k": "v"]) && URITemplate.Value(nil) == .undefined)
    }

    @Test func variablesCanBeChanged() throws {
        var variables: URITemplate.Variables = ["a": 1, "a": 2]
        variables["b"] = ["x", "y"]
        variables["c"] = .init(UUID?.none)

        #expect(try URITemplate("{a}{?b,c}").expand(variables) == "2?b=x,y")
    }

    @Test func variablesAreUniqueAndInOrder() {
        #expect(URITemplate("/{b}/{a}{?c*,b:3}{#a.b}").variables == ["b", "a", "c", "a.b"])
        #expect(URITemplate("/plain").variables == [])
    }

    @Test func templateEqualityComparesBytes() {
        let (composed, decomposed): (URITemplate, URITemplate) = ("\u{E9}", "e\u{301}")

        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test func documentationExamplesExpandAsShown() throws {
        let posts: URITemplate = "/users/{user}/posts{?page,tags*}"

        #expect(
            try posts.expand(["user": "jürgen", "page": 2, "tags": ["a", "b"]])
                == "/users/j%C3%BCrgen/posts?page=2&tags=a&tags=b"
        )
    }
}
