// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct StubConditionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let condition: StubCondition
        var url = "https://api.example.com/users/7?page=2&tag=a&tag=b"
        var method = HTTPMethod.post
        var headers: HTTPHeaders = ["X-Version": "1", "Accept": "text/html", "Accept": "text/plain"]
        var body = ""
        /// The reason of the mismatch; `nil` if the condition holds.
        let reason: String?

        var testDescription: String { "\(condition): \(reason ?? "holds")" }

        var request: ReceivedRequest {
            ReceivedRequest(
                url: URL(string: url)!,
                method: method,
                headers: headers,
                body: Data(body.utf8)
            )
        }
    }

    private static let page = "https://api.example.com/users/7?page=2&tag=a&tag=b"

    static let addresses: [Row] = [
        Row(condition: .any, reason: nil),
        Row(condition: .method(.post), reason: nil),
        Row(condition: .method(.get, .post), reason: nil),
        Row(condition: .method(.get), reason: "the method is POST"),
        Row(condition: .url(page), reason: nil),
        Row(condition: .url("HTTPS://API.example.com:443/users/7?tag=a&page=2&tag=b#top"), reason: nil),
        Row(
            condition: .url("https://api.example.com/users/7?page=2&tag=b&tag=a"),
            reason: #"the parameter tag is "a" and "b", not "b" and "a""#
        ),
        Row(condition: .url("https://api.example.com/users/7"), reason: "the parameter page isn't expected"),
        Row(condition: .url("https://api.example.com/users/7", ignoring: [.query]), reason: nil),
        Row(condition: .url("https://api.example.com/users/7?x=1", ignoring: [.query]), reason: nil),
        Row(condition: .url("https://api.example.com/x", ignoring: [.query, .path]), reason: nil),
        Row(
            condition: .url("http://other.example.com:8080/users/8", ignoring: [.query]),
            reason: "the scheme is https, not http, the host is api.example.com, not other.example.com, "
                + "the port is the default, not 8080, the path is /users/7, not /users/8"
        ),
        Row(condition: .url("http://x:8080/users/7", ignoring: [.scheme, .host, .port, .query]), reason: nil),
        Row(condition: .url("http://[::1"), reason: "\"http://[::1\" isn't a valid URL"),
        Row(condition: .url(matching: "users/[0-9]+"), reason: nil),
        Row(
            condition: .url(matching: "^users"),
            reason: "the URL https://api.example.com/users/7?page=…&tag=…&tag=… doesn't match /^users/"
        ),
        Row(condition: .url(matching: "("), reason: "/(/ isn't a valid regular expression"),
        Row(condition: .host("API.example.com"), reason: nil),
        Row(condition: .host("example.com"), reason: "the host is api.example.com, not example.com"),
        Row(condition: .path("/users/7"), reason: nil),
        Row(condition: .path("/users"), reason: "the path is /users/7, not /users"),
        Row(condition: .path("/a b/é"), url: "https://a/a%20b/%c3%a9", reason: nil),
        Row(condition: .path("/a%20b/%C3%a9"), url: "https://a/a%20b/%c3%a9", reason: nil),
        Row(condition: .path("/"), url: "https://a", reason: nil),
        Row(condition: .path("/a/b"), url: "https://a/a%2Fb", reason: "the path is /a%2Fb, not /a/b"),
        Row(condition: .path("/a%2fb"), url: "https://a/a%2Fb", reason: nil),
        Row(condition: .query(["tag": "a", "page": 2, "tag": "b"]), reason: nil),
        Row(condition: .query(["page": 2]), reason: "the parameter tag isn't expected"),
        Row(condition: .query(containing: ["page": 2]), reason: nil),
        Row(condition: .query(containing: ["tag": "b"]), reason: nil),
        Row(condition: .query(containing: ["page": 3]), reason: #"the parameter page is "2", not "3""#),
        Row(condition: .query(containing: ["size": 3]), reason: "the parameter size is missing"),
        Row(condition: .template("https://api.example.com/users/{id}"), reason: nil),
        Row(condition: .template("/users/{id}"), reason: nil),
        Row(condition: .template("/users/{id}{?page,tag}"), url: "https://a/users/7?page=2", reason: nil),
        Row(
            condition: .template("/teams/{id}"),
            url: "https://a/users/7",
            reason: "the URL https://a/users/7 doesn't match the template /teams/{id}"
        ),
        Row(condition: .not(.method(.get)), reason: nil),
        Row(condition: .not(.method(.post)), reason: "the request meets the negated condition: method POST"),
        Row(condition: .where("a short path") { $0.path.count < 9 }, reason: nil),
        Row(condition: .where("a short path") { $0.path.count < 5 }, reason: "a short path isn't met"),
    ]

    @Test(arguments: addresses) func urlConditionsMatch(_ row: Row) {
        #expect(row.condition.mismatch(for: row.request) == row.reason)
    }

    static let headers: [Row] = [
        Row(condition: .header("x-version"), reason: nil),
        Row(condition: .header("X-Other"), reason: "the header X-Other is missing"),
        Row(condition: .header("X-Version", "1"), reason: nil),
        Row(condition: .header("Accept", "text/plain"), reason: nil),
        Row(condition: .header("X-Version", "2"), reason: "the header X-Version is 1, not 2"),
        Row(condition: .header("X-Other", "2"), reason: "the header X-Other is missing"),
        Row(condition: .header("Accept", matching: "plain$"), reason: nil),
        Row(condition: .header("Accept", matching: "^plain"), reason: "the header Accept doesn't match /^plain/"),
        Row(condition: .headerName(matching: "^X-"), reason: nil),
        Row(condition: .headerName(matching: "^Y-"), reason: "the list of header names doesn't match /^Y-/"),
    ]

    @Test(arguments: headers) func headerConditionsMatch(_ row: Row) {
        #expect(row.condition.mismatch(for: row.request) == row.reason)
    }

    static let bodies: [Row] = [
        Row(condition: .body("ab"), body: "ab", reason: nil),
        Row(condition: .body("ab"), body: "ac", reason: #"the content is "ac", not "ab""#),
        Row(condition: .body(Data()), reason: nil),
        Row(condition: .body("ab"), reason: #"the content is "", not "ab""#),
        Row(condition: .body(matching: "b+"), body: "abbb", reason: nil),
        Row(condition: .body(matching: "c"), body: "abbb", reason: "the content doesn't match /c/"),
        Row(condition: .jsonBody(["a": 1, "b": [true, nil]]), body: #"{"b":[true,null],"a":1.0}"#, reason: nil),
        Row(condition: .jsonBody(["a": 1]), body: "x", reason: "the content isn't JSON"),
        Row(
            condition: .jsonBody(["a": 1]),
            body: #"{"a":1,"b":2}"#,
            reason: "the JSON differs: b isn't expected"
        ),
        Row(condition: .jsonBody(containing: ["a": 1]), body: #"{"a":1,"b":2}"#, reason: nil),
        Row(
            condition: .jsonBody(containing: ["a": ["b": [["c": "x"]]]]),
            body: #"{"a":{"b":[{"c":"y","d":1}]}}"#,
            reason: #"the JSON differs: a.b[0].c is "y", not "x""#
        ),
        Row(
            condition: .jsonBody(containing: ["a": ["b"]]),
            body: #"{"a":[]}"#,
            reason: "the JSON differs: a has 0 elements, not 1"
        ),
        Row(
            condition: .jsonBody(containing: ["a": 1]),
            body: #"{"a":"1"}"#,
            reason: #"the JSON differs: a is "1", not 1"#
        ),
        Row(
            condition: .jsonBody(containing: ["a": 1]),
            body: "[]",
            reason: "the JSON differs: it is an array, not an object"
        ),
        Row(condition: .jsonBody(containing: ["a": 1]), body: "{}", reason: "the JSON differs: a is missing"),
        Row(condition: .jsonBody(encoding: User(id: "7")), body: #"{"id":"7"}"#, reason: nil),
        Row(
            condition: .jsonBody(encoding: Double.nan),
            body: "1",
            reason: "the expected value can't be encoded as JSON"
        ),
        Row(condition: .formBody(["a": "x y", "b": "+"]), body: "b=%2B&a=x+y", reason: nil),
        Row(condition: .formBody(["a": "x"]), body: "a=x&b=1", reason: "the form field b isn't expected"),
        Row(condition: .formBody(containing: ["a": "x"]), body: "a=x&b=1", reason: nil),
        Row(condition: .formBody(containing: ["c": "x"]), body: "a=x&b=1", reason: "the form field c is missing"),
    ]

    @Test func mismatchShowsContentFromFirstDifference() {
        let body = Data("The quick brown fox jumps over".utf8)
        let request = ReceivedRequest(url: URL(string: "https://a/")!, body: body)

        let reason = StubCondition.body("The quick brown fox jumped over").mismatch(for: request)

        #expect(reason == #"the content is …"fox jumps over", not …"fox jumped over""#)
    }

    @Test(arguments: [
        (#"{"a":1,"password":"hush"}"#, "application/json"), (#"{"a":1,"password":"hush"}"#, "text/plain"),
        (#"{"a":1,"password":"hush"}"#, nil), (#"{"a":1,"password":"hush""#, nil), ("a=1&password=hush", nil),
        ("a=1&password=hush", "application/x-www-form-urlencoded"),
        ("a=1&key=hush", "application/x-www-form-urlencoded"),
        ("password: hush", "text/plain"), ("<token>hush</token>", "application/xml"), (#""token=hush""#, nil),
        ("--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nhush\r\n--b--", "multipart/form-data"),
    ])
    func contentMismatchRedactsSecrets(body: String, type: String?) throws {
        var request = ReceivedRequest(url: URL(string: "https://a/")!, method: .post, body: Data(body.utf8))
        request.headers[.contentType] = type
        let other = body.replacingOccurrences(of: "hush", with: "quiet")
        let conditions: [StubCondition] = [
            .body(other), .body(String(body.dropLast(2))), .body(Data()), .body("other"), .jsonBody(1),
            .jsonBody(["a": 1]), .jsonBody(containing: ["password": "quiet"]), .formBody(["a": "1"]),
            .formBody(["password": "quiet"]), .formBody(containing: ["key": "quiet"]),
        ]

        for condition in conditions {
            let failure = #expect(throws: UnmetExpectations.self) { try [request].expect(condition) }
            let text = failure?.description ?? ""
            #expect(!text.contains("hus") && !text.contains("quie"), "\(text)")
        }
    }

    @Test(arguments: bodies) func bodyConditionsMatch(_ row: Row) {
        #expect(row.condition.mismatch(for: row.request) == row.reason)
    }

    @Test func templateExtractsVariables() {
        let request = ReceivedRequest(url: URL(string: "https://a/users/a%20b/posts?page=2")!)
        let conditions: [StubCondition] = [.template("/users/{user}/posts{?page}"), .method(.get)]

        let variables = conditions.evaluate(request).variables

        #expect(variables == ["user": "a b", "page": "2"])
    }

    @Test func malformedTemplateIsReported() throws {
        let request = ReceivedRequest(url: URL(string: "https://a/x")!)

        let reason = try #require(StubCondition.template("/{x").mismatch(for: request))

        #expect(reason.contains("malformed"))
    }

    @Test func hiddenBodyNeverMatches() {
        var request = ReceivedRequest(url: URL(string: "https://a/x")!)
        request.isBodyHidden = true

        #expect(StubCondition.body(Data()).mismatch(for: request)?.contains("isn't available") == true)
    }

    @Test func mismatchesRedactSecrets() {
        let request = ReceivedRequest(
            url: URL(string: "https://user:pass@a/x?token=s3cret")!,
            headers: ["Authorization": "Bearer s3cret"],
            body: Data(#"{"password":"s3cret"}"#.utf8)
        )
        let conditions: [StubCondition] = [
            .url("https://a/x?token=0ther"), .url(matching: "^x"), .header("Authorization", "Bearer 0ther"),
            .jsonBody(["password": "0ther"]), .body("0ther"), .query(["token": "0ther"]),
        ]

        let texts = conditions.map(\.description) + conditions.evaluate(request).mismatches + [request.description]

        #expect(conditions.evaluate(request).mismatches.count == conditions.count)
        for text in texts {
            #expect(!text.contains("s3cret") && !text.contains("0ther") && !text.contains("pass@"))
        }
    }
}

private struct User: Codable, Sendable {
    var id: String
}
