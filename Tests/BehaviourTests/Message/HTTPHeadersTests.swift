// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPHeadersTests {
    @Test func nameLookupIgnoresCaseAndPreservesSpelling() {
        let headers: HTTPHeaders = ["x-TRACE": "1"]

        #expect(headers["X-Trace"] == "1" && headers.contains("X-TRACE"))
        #expect(headers.first?.name.rawValue == "x-TRACE")
        #expect(HTTPField.Name("A").hashValue == HTTPField.Name("a").hashValue)
        #expect(HTTPField.Name("Straße") != HTTPField.Name("STRASSE"))
    }

    @Test(arguments: [
        (HTTPField.Name.accept, "a, b"), (.cookie, "a; b"), (.setCookie, "a"), (.authorization, "a"),
        (.contentType, "a"),
        (.location, "a"), (.contentLength, "a, b"), (.host, "a, b"), ("X-Own", "a, b"),
    ]) func repeatedFieldsAreCombinedPerName(name: HTTPField.Name, joined: String) {
        let headers: HTTPHeaders = [name: "a", .date: "d", name: "b"]

        #expect(headers[name] == joined)
        #expect(headers[values: name] == ["a", "b"])
    }

    @Test func settingReplacesAllAtFirstPosition() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]

        headers["a"] = "4"

        #expect(headers.map(\.value) == ["4", "2"])
        headers["A"] = nil
        #expect(headers.map(\.value) == ["2"])
    }

    @Test func addingKeepsExistingFields() {
        var headers: HTTPHeaders = ["A": "1"]

        headers.add("2", for: "a")

        #expect(headers[values: "A"] == ["1", "2"])
        headers.remove("A")
        #expect(headers.isEmpty)
    }

    @Test func mergingReplacesByName() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "A": "3"]

        headers.merge(["a": "4", "C": "5", "a": "6"])

        #expect(headers.map(\.description) == ["B: 2", "a: 4", "C: 5", "a: 6"])
    }

    @Test func removingReturnsRemovedFields() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]

        #expect(headers[fields: "A"].map(\.description) == ["A: 1", "a: 3"])
        #expect(headers.remove("a").map(\.description) == ["A: 1", "a: 3"])
        #expect(headers.remove("a").isEmpty && headers.count == 1)
    }

    @Test func completeFieldsCanBeAddedAndSet() {
        var headers: HTTPHeaders = [.accept(.json), .accept(.xml)]

        headers.add(.userAgent("a"))
        headers.set(.accept(.html))

        #expect(headers.map(\.description) == ["Accept: text/html", "User-Agent: a"])
    }

    @Test func sortingIsStablePerName() {
        var headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3", "B": "4", "a": "5"]

        headers.sort()

        #expect(headers.map(\.value) == ["3", "5", "1", "4", "2"])
        #expect(headers.names == ["A", "b", "C"])
    }

    @Test func dictionaryCombinesRepeatedFields() {
        let headers: HTTPHeaders = ["A": "1", "a": "2", "Cookie": "c", "cookie": "d"]

        #expect(headers.dictionary == ["A": "1, 2", "Cookie": "c; d"])
    }

    /// `HTTPURLResponse` on Apple platforms joins cookies in the same way, and readers split them again.
    @Test func urlResponseKeepsCookiesAndJoinsFields() throws {
        let fields: HTTPHeaders = [
            .setCookie: "a=1; Path=/", "x-two": "1", "set-cookie": "b=2", "X-Two": "2",
        ]
        let response = try #require(HTTPResponseHead(status: .ok, headers: fields, url: home).urlResponse)

        #expect(response.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Path=/, b=2")
        #expect(response.value(forHTTPHeaderField: "X-Two") == "1, 2")
        #expect(response.allHeaderFields.count == 2)
        #expect(HTTPHeaders(response)[values: .setCookie] == ["a=1; Path=/", "b=2"])
    }

    @Test(
        arguments: [
            (["A": "1", "B": "2"], ["b": "2", "a": "1"], true), (["A": "1", "a": "2"], ["A": "2", "A": "1"], false),
            (["A": "1", "A": "1"], ["A": "1", "B": "1"], false), (["A": "1"], [:], false), ([:], [:], true),
            (["A": "1"], ["A": "1", "A": "1"], false),
        ] as [(HTTPHeaders, HTTPHeaders, Bool)]
    )
    func fieldComparisonIgnoresOrderOfNames(one: HTTPHeaders, other: HTTPHeaders, isSame: Bool) {
        #expect(one.hasSameFields(as: other) == isSame && other.hasSameFields(as: one) == isSame)
    }

    @Test func urlRequestBridgesHeaders() throws {
        var request = URLRequest(url: home)

        request.headers = [.accept(.json), HTTPField("X", "1"), HTTPField("x", "2")]
        request.method = .query

        #expect(request.value(forHTTPHeaderField: "x") == "1, 2" && request.httpMethod == "QUERY")
        #expect(request.headers.hasSameFields(as: [.accept(.json), HTTPField("X", "1, 2")]))
        request.headers.remove("X")
        #expect(request.headers == [.accept(.json)] && request.method == .query)
    }

    @Test func invalidURLRequestFieldIsRejected() throws {
        for field in [HTTPField("X", "a\r\nX-Evil: 1"), HTTPField("X\r\nX-Evil", "1")] {
            var foundations = URLRequest(url: home)
            foundations.headers = [field]

            #expect(throws: InvalidValue.self) { try HTTPRequest(foundations).toURLRequest() }
        }
    }

    @Test func urlSessionConfigurationBridgesHeaders() {
        let configuration = URLSessionConfiguration.ephemeral

        configuration.headers = ["X-A": "1", .accept: "text/plain"]

        #expect(configuration.headers == [.accept: "text/plain", "X-A": "1"])
        configuration.headers = []
        #expect(configuration.httpAdditionalHeaders == nil && configuration.headers.isEmpty)
    }

    @Test func httpURLResponseBridgesHeaders() throws {
        let response = try #require(
            HTTPURLResponse(url: home, statusCode: 200, httpVersion: nil, headerFields: ["Content-Type": "text/plain"])
        )

        #expect(response.headers[.contentType] == "text/plain")
    }

    @Test func headersFromDictionaryAreSorted() {
        #expect(HTTPHeaders(["b": "2", "a": "1"] as [String: String]).map(\.name) == ["a", "b"])
    }

    @Test(arguments: [
        ("a=1", ["a=1"]),
        ("a=1, b=2", ["a=1", "b=2"]),
        ("a=1,b=2", ["a=1", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/", ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/"]),
        ("a=\"3,4\", cart[id]=2", ["a=\"3,4\"", "cart[id]=2"]),
        ("a=1, ,; =2,", ["a=1, ,; =2,"]),
        ("", [""]),
    ])
    func cookiesJoinedByFoundationAreSplit(_ joined: String, _ cookies: [String]) throws {
        let response = HTTPURLResponse(
            url: home,
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Set-Cookie": joined]
        )

        #expect(HTTPHeaders(try #require(response))[values: .setCookie] == cookies)
    }

    /// A response head received by libcurl has the same fields.
    @Test func urlResponseKeepsFirstValueOfSingletonFields() throws {
        let fields = [
            "Set-Cookie": "a=1, b=2", "Content-Type": "text/html; a=\"x, y\", text/plain",
            "Accept-Ranges": "bytes, none",
        ]
        let response = HTTPURLResponse(url: home, statusCode: 200, httpVersion: nil, headerFields: fields)

        let head = HTTPResponseHead(try #require(response))

        #expect(head[.setCookie] == "a=1" && head.headers[.setCookie] == "a=1")
        #expect(head[.contentType] == "text/html; a=\"x, y\"" && head.headers[.contentType] == head[.contentType])
        #expect(head[.acceptRanges] == "bytes, none")
    }
}

@Suite(.bounded) struct DefaultHeadersTests {
    @Test func defaultHeadersIncludeUserAgentAndLanguages() async throws {
        let request = try await TestQueue.sent(HTTPRequest(url: home, headers: .default))

        #if os(Linux)
        #expect(request.headers.names == [.userAgent])
        #else
        #expect(request.headers.names == [.acceptLanguage, .userAgent])
        #endif
        #expect(request.headers[.userAgent]?.contains(" Requests/") == true)
        #expect(request.headers.allSatisfy { !$0.value.isEmpty && $0.value.utf8.count < 512 })
    }
}
