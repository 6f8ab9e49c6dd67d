// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded, .tags(.behaviour)) struct URITemplateTests {
    /// The variables of RFC 6570, 3.2.
    static let variables: URITemplate.Variables = [
        "count": ["one", "two", "three"], "dom": ["example", "com"], "dub": "me/too", "hello": "Hello World!",
        "half": "50%", "var": "value", "who": "fred", "base": "http://example.com/home/", "path": "/foo/bar",
        "list": ["red", "green", "blue"], "keys": .pairs(["semi": ";", "dot": ".", "comma": ","]), "v": 6, "x": 1024,
        "y": "768", "empty": "", "empty_keys": .pairs([:]), "undef": nil,
    ]

    // RFC 6570, 1.2: the examples of each level that 3.2 doesn't repeat.
    static let levels = [
        ("map?{x,y}", "map?1024,768"), ("{+x,hello,y}", "1024,Hello%20World!,768"), ("X{.var}", "X.value"),
        ("X{.x,y}", "X.1024.768"), ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"), ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="), ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="), ("{+path:6}/here", "/foo/b/here"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
    ]

    // RFC 6570, 3.2.1.
    static let expressions = [
        ("{count}", "one,two,three"), ("{count*}", "one,two,three"), ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"), ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"), ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"), ("{&count*}", "&count=one&count=two&count=three"),
    ]

    // RFC 6570, 3.2.2.
    static let simple = [
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"), ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"), ("?{undef,y}", "?768"), ("{var:3}", "val"), ("{var:30}", "value"),
        ("{list}", "red,green,blue"), ("{list*}", "red,green,blue"), ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
    ]

    // RFC 6570, 3.2.3.
    static let reserved = [
        ("{+var}", "value"), ("{+hello}", "Hello%20World!"), ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"), ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"), ("O{+undef}X", "OX"), ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"), ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"), ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{+path:6}/here", "/foo/b/here"), ("{+list}", "red,green,blue"), ("{+list*}", "red,green,blue"),
        ("{+keys}", "semi,;,dot,.,comma,,"), ("{+keys*}", "semi=;,dot=.,comma=,"),
    ]

    // RFC 6570, 3.2.4.
    static let fragments = [
        ("{#var}", "#value"), ("{#hello}", "#Hello%20World!"), ("{#half}", "#50%25"), ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"), ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("{#path:6}/here", "#/foo/b/here"), ("{#list}", "#red,green,blue"), ("{#list*}", "#red,green,blue"),
        ("{#keys}", "#semi,;,dot,.,comma,,"), ("{#keys*}", "#semi=;,dot=.,comma=,"),
    ]

    // RFC 6570, 3.2.5.
    static let labels = [
        ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.var}", "X.value"), ("X{.empty}", "X."), ("X{.undef}", "X"), ("X{.var:3}", "X.val"),
        ("X{.list}", "X.red,green,blue"), ("X{.list*}", "X.red.green.blue"), ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"), ("X{.empty_keys}", "X"), ("X{.empty_keys*}", "X"),
    ]

    // RFC 6570, 3.2.6.
    static let segments = [
        ("{/who}", "/fred"), ("{/who,who}", "/fred/fred"), ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var}", "/value"), ("{/var,empty}", "/value/"), ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/var:1,var}", "/v/value"), ("{/list}", "/red,green,blue"), ("{/list*}", "/red/green/blue"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"), ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
    ]

    // RFC 6570, 3.2.7.
    static let parameters = [
        ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"), ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"), ("{;v,bar,who}", ";v=6;who=fred"), ("{;x,y}", ";x=1024;y=768"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{;x,y,undef}", ";x=1024;y=768"), ("{;hello:5}", ";hello=Hello"),
        ("{;list}", ";list=red,green,blue"), ("{;list*}", ";list=red;list=green;list=blue"),
        ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"), ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
    ]

    // RFC 6570, 3.2.8.
    static let queries = [
        ("{?who}", "?who=fred"), ("{?half}", "?half=50%25"), ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="), ("{?x,y,undef}", "?x=1024&y=768"), ("{?var:3}", "?var=val"),
        ("{?list}", "?list=red,green,blue"), ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"), ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
    ]

    // RFC 6570, 3.2.9.
    static let continuations = [
        ("{&who}", "&who=fred"), ("{&half}", "&half=50%25"), ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="), ("{&x,y,undef}", "&x=1024&y=768"), ("{&var:3}", "&var=val"),
        ("{&list}", "&list=red,green,blue"), ("{&list*}", "&list=red&list=green&list=blue"),
        ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"), ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
    ]

    static let standard =
        levels + expressions + simple + reserved + fragments + labels + segments + parameters + queries + continuations

    @Test(arguments: standard) func templatesExpandAsTheStandardSays(template: String, expansion: String) throws {
        #expect(try URITemplate(template).expand(Self.variables) == expansion)
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

    @Test(arguments: fine) func expressionsWithoutAStandardExampleAreExpandedByItsRules(
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

    @Test(arguments: malformed) func malformedTemplatesAreErrorsWithAPosition(template: String, offset: Int) {
        let error = #expect(throws: InvalidURITemplate.self) { try URITemplate(template) }

        #expect(error?.offset == offset)
        #expect(
            template.hasSuffix(error?.excerpt ?? "-") || error.map { template.contains($0.excerpt) } == true
                || template.unicodeScalars.contains { $0.value < 32 || (0x7F..<0xA0).contains($0.value) }
        )
    }

    @Test func messageOfAnErrorIsShortAndOneLine() {
        let error = #expect(throws: InvalidURITemplate.self) {
            try URITemplate("{a\r\n" + String(repeating: "x", count: 10_000))
        }

        #expect(error.map { "\($0)".count < 200 && !"\($0)".contains("\n") } == true)
    }

    @Test func malformedLiteralThrowsWhenItIsExpanded() {
        let template: URITemplate = "/a{b}/{c"

        #expect(template.variables == [])
        #expect(template.description == "/a{b}/{c")
        #expect(template.extract(from: "/ax/y") == nil)
        #expect(throws: InvalidURITemplate.self) { try template.expand(["b": 1, "c": 2]) }
    }

    @Test(arguments: ["{list:1}", "{keys:1}", "{?list:3}", "{+keys:3}"])
    func prefixOfManyValuesIsAnError(_ template: String) throws {
        let template = try URITemplate(template)

        #expect(throws: InvalidURITemplate.self) { try template.expand(Self.variables) }
    }

    @Test func prefixOfNoValueIsEmpty() throws {
        #expect(try URITemplate("x{undef:1,empty_keys:1}").expand(Self.variables) == "x")
    }

    @Test func valuesComeFromWhateverIsAText() throws {
        enum Order: String, Query.ValueConvertible { case newest }
        let (id, page, name): (Int, Int?, Substring) = (7, nil, "abc".prefix(2))
        let template: URITemplate = "/{id}/{name}{?page,order,counts*,map*,mixed}"

        let expansion = try template.expand([
            "id": id, "name": name, "page": page, "order": Order.newest, "counts": [1, 2], "map": ["b": 1, "a": 2],
            "mixed": .pairs(["a": 1, "b": nil, "c": "d"]),
        ])

        #expect(expansion == "/7/ab?order=newest&counts=1&counts=2&a=2&b=1&mixed=a,1,c,d")
    }

    @Test func valuesAreMadeFromLiterals() {
        let values: [URITemplate.Value] = ["a", 1, 1.5, true, nil, ["a", 1, nil], ["k": "v", "n": 1]]

        #expect(
            values == [
                .string("a"), .string("1"), .string("1.5"), .string("true"), .undefined, .list(["a", "1"]),
                .pairs(["k": "v", "n": "1"]),
            ]
        )
    }

    @Test func variablesCanBeChanged() throws {
        var variables: URITemplate.Variables = ["a": 1, "a": 2]
        variables["b"] = ["x", "y"]
        variables["c"] = .init(UUID?.none)

        #expect(try URITemplate("{a}{?b,c}").expand(variables) == "2?b=x,y")
    }

    @Test func variablesAreNamedOnceInTheirOrder() {
        #expect(URITemplate("/{b}/{a}{?c*,b:3}{#a.b}").variables == ["b", "a", "c", "a.b"])
        #expect(URITemplate("/plain").variables == [])
    }

    @Test func templatesAreCodedAsStrings() throws {
        let templates: [URITemplate] = ["/users/{id}", "{+base}{?q}"]

        let data = try JSONEncoder().encode(templates)

        #expect(try JSONDecoder().decode([URITemplate].self, from: data) == templates)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([URITemplate].self, from: Data(#"["{a"]"#.utf8))
        }
    }

    @Test func templatesAreEqualWhenTheyExpandToTheSameBytes() {
        let (composed, decomposed): (URITemplate, URITemplate) = ("\u{E9}", "e\u{301}")

        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, composed]).count == 2)
    }

    @Test func variablesOfTheDocumentationExpandAsItSays() throws {
        let posts: URITemplate = "/users/{user}/posts{?page,tags*}"

        #expect(
            try posts.expand(["user": "jürgen", "page": 2, "tags": ["a", "b"]])
                == "/users/j%C3%BCrgen/posts?page=2&tags=a&tags=b"
        )
    }
}
