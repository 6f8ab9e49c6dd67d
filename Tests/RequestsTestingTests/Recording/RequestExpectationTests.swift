// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RequestExpectationTests {
    private let request = StubbedRequest(
        url: URL(string: "https://api.example.com:8443/users%2F1?page=1&tag=a&tag=b&token=hush")!,
        method: .post,
        headers: [.accept: "*/*", .authorization: "Bearer hush", "X-A": "1"],
        body: Data(#"{"name":"Bob","tags":["x"],"age":1,"password":"hush","extra":null}"#.utf8)
    )

    private func lines(_ expected: ExpectedRequest) -> [String] {
        request.differences(from: expected).map(\.description)
    }

    @Test func matchingRequestHasNoDifferences() throws {
        let expected = ExpectedRequest(
            .post,
            url: URL(string: "https://API.example.com:8443/users%2f1?tag=a&tag=b&token=hush&page=1"),
            path: "/users%2F1",
            query: ["page": "1", "tag": "a", "tag": "b", "token": "hush"],
            headers: ["accept": "*/*"],
            absentHeaders: [.cookie],
            body: .jsonContaining(["name": "Bob", "age": 1.0])
        )

        #expect(lines(expected) == [])
        #expect(lines(ExpectedRequest()) == [])
        try request.expect(expected)
    }

    @Test func anAddressDiffersPieceByPiece() {
        let expected = ExpectedRequest(.get, url: URL(string: "http://example.com/users?page=2&tag=a&token=other&x")!)

        #expect(
            lines(expected) == [
                "method: expected GET, was POST",
                "scheme: expected http, was https",
                "host: expected example.com, was api.example.com",
                "port: unexpected, was 8443",
                "path: expected /users, was /users%2F1",
                #"query page: expected "2", was "1""#,
                #"query tag: expected "a", was "a", "b""#,
                "query token: expected <redacted>, was another value",
                "query x: expected no value, is missing",
            ]
        )
    }

    @Test func headersDifferOneByOneWithoutSecrets() {
        let headers: HTTPHeaders = [.accept: "text/html", .authorization: "Bearer other", "X-B": "2"]
        let expected = ExpectedRequest(headers: headers, absentHeaders: ["X-A"])

        #expect(
            lines(expected) == [
                "header Accept: expected text/html, was */*",
                "header Authorization: expected Bearer <redacted>, was another value",
                "header X-B: expected 2, is missing",
                "header X-A: unexpected, was 1",
            ]
        )
    }

    @Test func jsonDiffersByPath() {
        let expected: JSONValue = [
            "name": "Ada", "tags": ["x", "y"], "age": [1], "password": "other", "address": ["city": "London"],
        ]

        #expect(
            lines(ExpectedRequest(body: .json(expected))) == [
                "body.address: expected an object of 1, is missing",
                "body.age: expected an array of 1, was 1",
                "body.extra: unexpected, was null",
                #"body.name: expected "Ada", was "Bob""#,
                "body.password: expected <redacted>, was another value",
                #"body.tags[1]: expected "y", is missing"#,
            ]
        )
    }

    @Test func bytesDifferAtTheFirstPlace() {
        var request = request
        request.body = Data("The quick brown fox".utf8)

        func line(_ body: ExpectedRequest.Content) -> String? {
            request.differences(from: ExpectedRequest(body: body)).map(\.description).first
        }

        #expect(
            line(.text("The quick green fox")) == """
                body[10]: expected 71 75 69 63 6b 20 67 72 65 65 6e 20 66 6f “quick green fo” of 19 bytes, \
                was 71 75 69 63 6b 20 62 72 6f 77 6e 20 66 6f “quick brown fo” of 19 bytes
                """
        )
        #expect(line(.data(Data())) == "body: unexpected, was 19 bytes")
        #expect(line(.json(1)) == #"body: expected JSON, was "The quick brown fox", which isn't JSON"#)
        #expect(line(.data(request.body)) == nil)
        request.body = Data("a=1&b=2".utf8)
        #expect(line(.form(["b": "2", "a": "3"])) == #"form a: expected "3", was "1""#)
        request.body = Data()
        #expect(line(.data(Data([1]))) == "body: expected 1 bytes, is missing")
    }

    @Test(arguments: [
        (#"{"a":1,"password":"hush"}"#, "application/json"), (#"{"a":1,"password":"hush"}"#, "text/plain"),
        (#"{"a":1,"password":"hush"}"#, nil), (#"{"a":1,"password":"hush""#, nil), ("a=1&password=hush", nil),
        ("a=1&password=hush", "application/x-www-form-urlencoded"),
        ("a=1&key=hush", "application/x-www-form-urlencoded"),
        ("password: hush", "text/plain"), ("<token>hush</token>", "application/xml"), (#""token=hush""#, nil),
        ("--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nhush\r\n--b--", "multipart/form-data"),
    ])
    func secretsInContentAreNotShown(body: String, type: String?) throws {
        var request = StubbedRequest(url: URL(string: "https://a/")!, method: .post, body: Data(body.utf8))
        request.headers[.contentType] = type
        let other = body.replacingOccurrences(of: "hush", with: "quiet")
        let expectations: [ExpectedRequest.Content] = [
            .text(other), .data(Data(other.utf8)), .data(Data(body.dropLast(2).utf8)), .data(Data()), .text("other"),
            .json(1), .json(["a": 1]), .jsonContaining(["password": "quiet"]), .form(["a": "1"]),
            .form(["password": "quiet"]),
        ]

        for expected in expectations {
            let failure = #expect(throws: ExpectationFailure.self) {
                try [request].expect(ExpectedRequest(body: expected))
            }
            let text = failure?.description ?? ""
            #expect(!text.contains("hus") && !text.contains("quie"), "\(text)")
            #expect(!text.contains("68 75 73") && !text.contains("71 75 69"), "\(text)")
        }
    }

    @Test func otherValuesAreShownBesideASecret() {
        var request = request
        request.headers[.contentType] = "application/x-www-form-urlencoded"
        request.body = Data("password=hush&name=Bob".utf8)

        let text = lines(of: request, .text("password=quiet&name=Ada"))

        #expect(
            text == [
                "body[23]: expected 26 6e 61 6d 65 3d 41 64 61 “&name=Ada” of 26 bytes, "
                    + "was 26 6e 61 6d 65 3d 42 6f 62 “&name=Bob” of 26 bytes"
            ]
        )
        #expect(
            lines(of: request, .text("password=quiet&name=Bob")) == ["body: expected <redacted>, was another value"]
        )
    }

    private func lines(of request: StubbedRequest, _ body: ExpectedRequest.Content) -> [String] {
        request.differences(from: ExpectedRequest(body: body)).map(\.description)
    }

    @Test func nearestOfSeveralIsReported() throws {
        let other = StubbedRequest(url: URL(string: "https://a/x")!)
        let requests = [other, request]

        let found = try requests.expect(.post, path: "/users%2f1")
        #expect(found.url == request.url)

        let failure = #expect(throws: ExpectationFailure.self) {
            try requests.expect(.post, path: "/users%2F1", headers: [.accept: "text/html"], json: ["name": "Bob"])
        }
        #expect(
            failure?.description == """
                no request is as expected: POST /users%2F1
                the nearest of 2: POST https://api.example.com:8443/users%2F1?page=…&tag=…&tag=…&token=…
                - header Accept: expected text/html, was */*
                - body.age: unexpected, was 1
                - body.extra: unexpected, was null
                - body.password: unexpected, was <redacted>
                - body.tags: unexpected, was an array of 1
                """
        )
        let none = #expect(throws: ExpectationFailure.self) { try [StubbedRequest]().expect(.get) }
        #expect(none?.description == "no request is as expected: GET\nthere was none")
        let one = #expect(throws: ExpectationFailure.self) { try other.expect(.post) }
        #expect(
            one?.description == """
                the request isn't as expected: POST
                it is: GET https://a/x
                - method: expected POST, was GET
                """
        )
    }

    @Test func serversAndRecordersAreAskedInTheSameWords() async throws {
        let server = try MockServer { _ in .status(.ok) }
        let recorder = ExchangeRecorder()
        let client = HTTPClient(baseURL: server.url, transport: recorder)

        _ = try await HTTPRequest { request in
            request.path = "/users"
            request.query = ["page": "2"]
            request.method = .post
            request.body = .json(["name": "Ada"])
        }.fetch(on: client)

        try server.requests.expect(.post, path: "/users", query: ["page": "2"], json: ["name": "Ada"])
        try recorder.exchanges.expect(.post, path: "/users", query: ["page": "2"], json: ["name": "Ada"])
        try #require(server.requests.first).expect(ExpectedRequest(url: server.url("/users?page=2")))
    }

    @Test func aFailureStaysShort() {
        var request = request
        request.body = Data("[\(Array(repeating: "1", count: 1000).joined(separator: ","))]".utf8)
        let expected = ExpectedRequest(body: .json(.array(Array(repeating: 2, count: 1000))))

        #expect(request.differences(from: expected).count == 20)
    }
}
