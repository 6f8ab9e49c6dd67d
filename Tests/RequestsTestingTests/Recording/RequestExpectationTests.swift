// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestExpectationTests {
    private let request = StubbedRequest(
        url: URL(string: "https://api.example.com:8443/users%2F1?page=1&tag=a&tag=b&token=hush")!,
        method: .post,
        headers: [.accept: "*/*", .authorization: "Bearer hush", "X-A": "1"],
        body: Data(#"{"name":"Bob","tags":["x"],"age":1,"password":"hush","extra":null}"#.utf8)
    )

    private func lines(_ expected: ExpectedRequest) -> [String] {
        request.differences(from: expected).map(\.description)
    }

    @Test func whatIsAsExpectedHasNoDifferences() throws {
        let expected = ExpectedRequest(
            .post,
            url: URL(string: "https://API.example.com:8443/users%2f1?tag=a&tag=b&token=hush&page=1"),
            path: "/users/1",
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

    @Test func theNearestOfSeveralIsTold() throws {
        let other = StubbedRequest(url: URL(string: "https://a/x")!)
        let requests = [other, request]

        let found = try requests.expect(.post, path: "/users/1")
        #expect(found.url == request.url)

        let failure = #expect(throws: ExpectationFailure.self) {
            try requests.expect(.post, path: "/users/1", headers: [.accept: "text/html"], json: ["name": "Bob"])
        }
        #expect(
            failure?.description == """
                no request is as expected: POST /users/1
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
        try server.requests[0].expect(ExpectedRequest(url: server.url("/users?page=2")))
    }

    @Test func aFailureStaysShort() {
        var request = request
        request.body = Data("[\(Array(repeating: "1", count: 1000).joined(separator: ","))]".utf8)
        let expected = ExpectedRequest(body: .json(.array(Array(repeating: 2, count: 1000))))

        #expect(request.differences(from: expected).count == 20)
    }
}
