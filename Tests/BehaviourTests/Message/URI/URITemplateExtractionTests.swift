// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct URITemplateExtractionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let template: URITemplate
        let address: String
        let values: [String: URITemplate.Value]?

        var testDescription: String { "\(template) \(address)" }

        init(_ template: URITemplate, _ address: String, _ values: [String: URITemplate.Value]?) {
            (self.template, self.address, self.values) = (template, address, values)
        }
    }

    static let rows: [Row] = [
        Row("", "", [:]), Row("", "a", nil), Row("/a", "/a", [:]), Row("/a", "/a/", nil),
        Row("/users/{id}", "/users/7", ["id": "7"]), Row("/users/{id}", "/users/", [:]),
        Row("/users/{id}", "/users/7/posts", nil), Row("/users/{id}", "/teams/7", nil),
        Row("/files/{name}", "/files/v1.2~b-c_d", ["name": "v1.2~b-c_d"]),
        Row("/files/{name}", "/files/a%20b%2Fc%C3%A9", ["name": "a b/cé"]), Row("/files/{name}", "/files/a:b", nil),
        Row("/{a}/{b}", "/x/y", ["a": "x", "b": "y"]), Row("/{x}-{y}", "/1-2", ["x": "1", "y": "2"]),
        // Characters that are special in regular expressions are literal in templates.
        Row("/v1.0/{a}", "/v1x0/b", nil), Row("/(a*)/{b}", "/(a*)/c", ["b": "c"]), Row("/(a*)/{b}", "/aa/c", nil),
        Row("/a+b?{c}", "/a+b?d", ["c": "d"]), Row("/[x]/{y}", "/x/z", nil),
        // RFC 6570, 1.2, level 2 and 3, read backwards.
        Row("{+path}/here", "/foo/bar/here", ["path": "/foo/bar"]),
        Row("here?ref={+path}", "here?ref=/foo/bar", ["path": "/foo/bar"]),
        Row("{+x,hello,y}", "1024,Hello%20World!,768", ["x": "1024", "hello": "Hello World!", "y": "768"]),
        Row("{+path,x}/here", "/foo/bar,1024/here", ["path": "/foo/bar", "x": "1024"]),
        Row("{#path,x}/here", "#/foo/bar,1024/here", ["path": "/foo/bar", "x": "1024"]),
        Row("X{#var}", "X#value", ["var": "value"]),
        Row("X{#var}", "X#", ["var": ""]), Row("X{#var}", "X", [:]),
        Row("map?{x,y}", "map?1024,768", ["x": "1024", "y": "768"]),
        Row("map?{x,y}", "map?1024", ["x": "1024"]), Row("map?{x,y}", "map?,", ["x": "", "y": ""]),
        Row("X{.x,y}", "X.1024.768", ["x": "1024", "y": "768"]), Row("X{.x}", "X.tar.gz", ["x": "tar.gz"]),
        Row("{/var,x}/here", "/value/1024/here", ["var": "value", "x": "1024"]),
        Row("{/var,x}/here", "/value/here", ["var": "value"]),
        Row("{/var}", "/", ["var": ""]),
        Row("{;x,y,empty}", ";x=1024;y=768;empty", ["x": "1024", "y": "768", "empty": ""]),
        Row("{;x,y}", ";y=768", ["y": "768"]), Row("{;x,xy}", ";xy=1", ["xy": "1"]),
        Row("{?x,y,empty}", "?x=1024&y=768&empty=", ["x": "1024", "y": "768", "empty": ""]),
        Row("{?x,y,z}", "?y=2", ["y": "2"]), Row("{?x,y,z}", "?x=1&z=3", ["x": "1", "z": "3"]),
        Row("{?x,y,z}", "", [:]),
        Row("{?x,y}", "?y=1&x=2", nil), Row("{?x}", "?x", nil), Row("{?x}", "&x=1", nil),
        Row("?fixed=yes{&x,y}", "?fixed=yes&y=1", ["y": "1"]), Row("?fixed=yes{&x,y}", "?fixed=yes", [:]),
        // Several values would match.
        Row("/{id}{+rest}", "/7/a/b", ["id": "7", "rest": "/a/b"]), Row("{a}{b}", "xy", ["a": "xy"]),
        Row("{name}.json", "a.b.json", ["name": "a.b"]), Row("{+a}/x{+b}", "/x/x/x", ["b": "/x/x"]),
        Row("{name}{.extension}", "a.tar.gz", ["name": "a", "extension": "tar.gz"]),
        Row("{+base}{?q}", "http://h/a?q=1", ["base": "http://h/a", "q": "1"]), Row("{+a}", "x?y#z", ["a": "x?y#z"]),
        Row("/{a}/{a}", "/x/x", ["a": "x"]), Row("/{a}/{a}", "/x/y", nil),
        // Escapes.
        Row("/{a}", "/%2f", ["a": "/"]), Row("/caf%c3%a9/{a}", "/caf%C3%A9/b", ["a": "b"]),
        Row("/café/{a}", "/café/b", ["a": "b"]),
        Row("/{a}", "/%FF", nil), Row("/{a}", "/%2", ["a": "%2"]),
        Row("/{+a}", "/x%2Fy/z%20%C3%A9", ["a": "x%2Fy/z é"]),
        Row("/{+a}", "/100%25", ["a": "100%25"]), Row("/{+a}", "/%FF", nil), Row("/{a}b", "/%2Bb", ["a": "+"]),
        Row("/{a}2Fb", "/x%2Fb", nil),
        Row("{a}-{a}", "x-y-x-y", ["a": "x-y"]), Row("/{a}{b}/{a}", "/xy/x", ["a": "x", "b": "y"]),
        // Lists, pairs and prefixes match as strings, or not at all.
        Row("{?fields}", "?fields=id,name", nil), Row("{?fields}", "?fields=id%2Cname", ["fields": "id,name"]),
        Row("{?tags*}", "?tags=a&tags=b", nil), Row("{?tags*}", "", nil), Row("{/path*}/x", "/a/b/x", nil),
        Row("/{a:3}", "/abc", nil), Row("/{a*}", "/abc", nil),
    ]

    @Test(arguments: rows) func extractsTemplateVariables(_ row: Row) {
        #expect(row.template.extract(from: row.address) == row.values)
    }

    @Test(arguments: URITemplate.standard) func extractedRFCExamplesRoundTrip(
        template: String,
        expansion: String
    ) throws {
        let template = try URITemplate(template)
        guard let values = template.extract(from: expansion) else {
            // Prefixes, lists and pairs can't be separated.
            let isOfLevel4 = "\(template)".contains { "*:".contains($0) }
            return #expect(isOfLevel4 || ["keys", "list", "count"].contains { "\(template)".contains($0) })
        }

        #expect(try template.expand(URITemplate.Variables(values)) == expansion)
    }

    @Test func pathTemplateMatchesAbsoluteURL() throws {
        let url = try #require(URL(string: "https://user@example.com:8080/users/7?page=2#top"))

        #expect(
            URITemplate("/users/{id}{?page}{#anchor}").extract(from: url) == ["id": "7", "page": "2", "anchor": "top"]
        )
        #expect(URITemplate("https://{+host}/users/{id}{+rest}").extract(from: url)?["id"] == "7")
        #expect(URITemplate("/teams/{id}").extract(from: url) == nil)
    }

    /// A backtracking matcher would need 2⁴⁰ steps for the first template, and far more for the second.
    @Test func ambiguousTemplatesMatchWithoutBacktracking() throws {
        let many = try URITemplate(String(repeating: "{+a}", count: 40) + "!")
        let optional = try URITemplate(String(repeating: "{?a,b,c,d}{.a,b,c}", count: 40) + "!")

        #expect(many.extract(from: String(repeating: "x", count: Scale.pick(500, whole: 2000))) == nil)
        #expect(optional.extract(from: String(repeating: "?a=.&b=", count: Scale.pick(40, whole: 200))) == nil)
    }
}
