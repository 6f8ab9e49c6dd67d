// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded, .tags(.behaviour)) struct HTTPHeadersTests {
    @Test func namesAreFoundWithoutRegardToCaseAndSentAsGiven() {
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
    ]) func repeatedFieldsAreReadAsTheirNameWants(name: HTTPField.Name, joined: String) {
        let headers: HTTPHeaders = [name: "a", .date: "d", name: "b"]

        #expect(headers[name] == joined)
        #expect(headers[values: name] == ["a", "b"])
    }

    @Test func settingReplacesAllInThePlaceOfTheFirst() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]

        headers["a"] = "4"

        #expect(headers.map(\.value) == ["4", "2"])
        headers["A"] = nil
        #expect(headers.map(\.value) == ["2"])
    }

    @Test func addingKeepsWhatIsThere() {
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

    @Test func mergingLeavesTheOriginalAlone() {
        let headers: HTTPHeaders = ["A": "1"]

        #expect(headers.merging(["a": "2"])["A"] == "2" && headers["A"] == "1")
    }

    @Test func removingReturnsWhatWasThere() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]

        #expect(headers[fields: "A"].map(\.description) == ["A: 1", "a: 3"])
        #expect(headers.remove("a").map(\.description) == ["A: 1", "a: 3"])
        #expect(headers.remove("a").isEmpty && headers.count == 1)
    }

    @Test func fieldsAreAddedAndSetWhole() {
        var headers: HTTPHeaders = [.accept(.json), .accept(.xml)]

        headers.add(.userAgent("a"))
        headers.set(.accept(.html))

        #expect(headers.map(\.description) == ["Accept: text/html", "User-Agent: a"])
    }

    @Test func sortingKeepsTheOrderOfOneName() {
        var headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3", "B": "4", "a": "5"]

        headers.sort()

        #expect(headers.map(\.value) == ["3", "5", "1", "4", "2"])
        #expect(headers.names == ["A", "b", "C"])
    }

    @Test func theDictionaryHasEachNameOnce() {
        let headers: HTTPHeaders = ["A": "1", "a": "2", "Cookie": "c", "cookie": "d"]

        #expect(headers.dictionary == ["A": "1, 2", "Cookie": "c; d"])
    }

    /// As `HTTPURLResponse` has them on Apple platforms, where readers split joined cookies again.
    @Test func foundationsResponseHasEveryCookieAndEachNameOnce() throws {
        let raw = "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nx-two: 1\r\nset-cookie: b=2\r\nX-Two: 2\r\n\r\n"
        let fields: HTTPHeaders = [
            .setCookie: "a=1; Path=/", "x-two": "1", "set-cookie": "b=2", "X-Two": "2",
        ]
        for head in [
            HTTPResponseHead(status: .ok, raw: Array(raw.utf8), url: home),
            HTTPResponseHead(status: .ok, headers: fields, url: home),
        ] {
            let response = try #require(head.urlResponse)

            #expect(response.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Path=/, b=2")
            #expect(response.value(forHTTPHeaderField: "X-Two") == "1, 2")
            #expect(response.allHeaderFields.count == 2)
            #expect(HTTPHeaders(response)[values: .setCookie] == ["a=1; Path=/", "b=2"])
        }
    }

    @Test(
        arguments: [
            (["A": "1", "B": "2"], ["b": "2", "a": "1"], true), (["A": "1", "a": "2"], ["A": "2", "A": "1"], false),
            (["A": "1", "A": "1"], ["A": "1", "B": "1"], false), (["A": "1"], [:], false), ([:], [:], true),
            (["A": "1"], ["A": "1", "A": "1"], false),
        ] as [(HTTPHeaders, HTTPHeaders, Bool)]
    )
    func theSameFieldsMayStandInAnotherOrder(one: HTTPHeaders, other: HTTPHeaders, isSame: Bool) {
        #expect(one.hasSameFields(as: other) == isSame && other.hasSameFields(as: one) == isSame)
    }

    @Test func foundationsRequestsHaveThem() throws {
        var request = URLRequest(url: home)

        request.headers = [.accept(.json), HTTPField("X", "1"), HTTPField("x", "2")]
        request.method = .query

        #expect(request.value(forHTTPHeaderField: "x") == "1, 2" && request.httpMethod == "QUERY")
        #expect(request.headers.hasSameFields(as: [.accept(.json), HTTPField("X", "1, 2")]))
        request.headers.remove("X")
        #expect(request.headers == [.accept(.json)] && request.method == .query)
    }

    @Test func invalidFieldIsRefusedAlsoFromAURLRequest() throws {
        for field in [HTTPField("X", "a\r\nX-Evil: 1"), HTTPField("X\r\nX-Evil", "1")] {
            var foundations = URLRequest(url: home)
            foundations.headers = [field]

            #expect(throws: InvalidRequest.self) { try HTTPRequest(foundations).toURLRequest() }
        }
    }

    @Test func foundationsSessionsHaveThem() {
        let configuration = URLSessionConfiguration.ephemeral

        configuration.headers = ["X-A": "1", .accept: "text/plain"]

        #expect(configuration.headers == [.accept: "text/plain", "X-A": "1"])
        configuration.headers = []
        #expect(configuration.httpAdditionalHeaders == nil && configuration.headers.isEmpty)
    }

    @Test func foundationsResponsesHaveThem() throws {
        let response = try #require(
            HTTPURLResponse(url: home, statusCode: 200, httpVersion: nil, headerFields: ["Content-Type": "text/plain"])
        )

        #expect(response.headers[.contentType] == "text/plain")
    }

    @Test func aDictionaryHasAlwaysTheSameOrder() {
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
    func cookiesThatFoundationJoinedAreTakenApart(_ joined: String, _ cookies: [String]) throws {
        let response = HTTPURLResponse(
            url: home,
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Set-Cookie": joined]
        )

        #expect(HTTPHeaders(try #require(response))[values: .setCookie] == cookies)
    }

    @Test func fieldIsFoundAmongManyWithoutComparingTheirTexts() {
        let names = (1000..<1400).map { HTTPField.Name("X-Field-\($0)") }

        let time = ProcessorTime.shortest {
            var headers = HTTPHeaders()
            for name in names { headers[name] = "value" }
        }
        let timeOfTexts = ProcessorTime.shortest {
            var texts: [String] = []
            for name in names {
                guard !texts.contains(where: { name.rawValue.equalsIgnoringASCIICase($0) }) else { continue }
                texts.append(name.rawValue)
            }
        }

        #expect(time * 2 < timeOfTexts)
    }
}

@Suite(.bounded) struct DefaultHeadersTests {
    @Test func defaultHeadersHaveAUserAgentAndLanguages() throws {
        var request = HTTPRequest(url: home, headers: .default)

        try request.validate()

        #expect(request.headers.names == [.acceptLanguage, .userAgent])
        #expect(request.headers[.userAgent]?.hasSuffix(" " + RunningProgram.library) == true)
        #expect(request.headers.allSatisfy { !$0.value.isEmpty && $0.value.utf8.count < 512 })
    }

    @Test(
        arguments: [
            (["de-DE", "en", "fr", "it", "es", "pt", "nl"], "de-DE, en;q=0.9, fr;q=0.8, it;q=0.7, es;q=0.6, pt;q=0.5"),
            ([], "*"), (["a\r\nb", "", "x_y", String(repeating: "a", count: 36)], "*"), (["\0", "en"], "en"),
        ] as [([String], String)]
    )
    func atMostSixLanguagesAreSent(languages: [String], value: String) {
        #expect(HTTPField.preferredLanguages(languages).value == value)
    }

    @Test(
        arguments: [
            (
                RunningProgram(
                    name: "Recipes",
                    version: "2.1",
                    bundle: "com.example.recipes",
                    build: "42",
                    system: "iOS 17.0.1"
                ),
                "Recipes/2.1 (com.example.recipes; build:42; iOS 17.0.1)"
            ),
            (RunningProgram(name: "a b", system: "Linux 6.1.0"), "a_b (Linux 6.1.0)"),
            (RunningProgram(name: "", version: "", system: ""), "Unknown ()"),
            (
                RunningProgram(name: "ü\r\n", version: "1/2", bundle: "(;\\", build: "\0", system: "x"),
                "____/1_2 (___; build:_; x)"
            ),
        ] as [(RunningProgram, String)]
    )
    func userAgentIsValidForAnyBundle(program: RunningProgram, start: String) {
        #expect(program.userAgent == start + " " + RunningProgram.library)
        #expect(program.userAgent.isFieldValue)
    }
}
