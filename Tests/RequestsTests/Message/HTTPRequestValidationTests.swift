// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HTTPRequestValidationTests {
    private func failure(_ request: HTTPRequest) -> InvalidValue? {
        var request = request
        do throws(InvalidValue) {
            try request.validate()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("GET", true), ("PURGE", true), ("get", true), ("M-SEARCH", true), ("a!#$%&'*+-.^_`|~1", true), ("", false),
        ("GE T", false), ("GET\r\nX: y", false), ("GET\n", false), ("G\0T", false), ("GÉT", false), ("GET:", false),
        ("a/b", false), ("CONNECT", false), ("connect", true),
    ])
    func methodMustBeToken(_ method: String, isFine: Bool) {
        #expect(failure(HTTPRequest(url: home, method: HTTPMethod(method)))?.kind == (isFine ? nil : .method))
    }

    @Test(arguments: ["", "X A", "X\r\nB", "X:", "X\0", "Ä", "X\t", "(X)"]) func headerNameMustBeToken(_ name: String) {
        let request = HTTPRequest(url: home, headers: [HTTPField(HTTPField.Name(name), "v")])

        #expect(failure(request)?.kind == .headerName)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u{1}", "a\u{7F}"])
    func headerValueRejectsControlCharacters(
        _ value: String
    ) {
        let error = failure(HTTPRequest(url: home, headers: [.authorization: "secret" + value]))

        #expect(error?.kind == .headerValue)
        #expect(error.map { !"\($0)".contains("secret") } == true)
    }

    @Test(arguments: [
        ("example.com", true), ("a-b_c.d:8080", true), ("127.0.0.1:1", true), ("[::1]:80", true),
        ("[fe80::1%25eth0]", true), ("", false), ("a b", false), ("a/b", false), ("a%2Fb", false), ("%00", false),
        ("a@b", false), ("a\\b", false), ("a#b", false), ("a?b", false), ("grün", false),
    ])
    func hostFieldMustBeHostAndPort(_ value: String, isFine: Bool) {
        #expect(failure(HTTPRequest(url: home, headers: [.host: value]))?.kind == (isFine ? nil : .headerValue))
    }

    @Test(arguments: ["", "a b", "a\tb", "grün", "\u{80}"]) func otherHeaderValuesAreValid(_ value: String) {
        #expect(failure(HTTPRequest(url: home, headers: ["X-A": value])) == nil)
    }

    @Test(arguments: [
        ("http://host", true), ("HTTPS://host/a?b#c", true), ("http://[::1]:8080/", true), ("http://127.0.0.1/", true),
        ("file:///etc/passwd", false), ("ftp://host/", false), ("javascript:alert(1)", false), ("/relative", false),
        ("http:///x", false), ("http://a%2Fb/", false), ("data:,x", false),
    ])
    func urlMustBeHTTPWithHost(_ address: String, isFine: Bool) throws {
        let url = try #require(URL(string: address))

        #expect(failure(HTTPRequest(url: url))?.kind == (isFine ? nil : .url))
    }

    @Test func urlCredentialsBecomeAuthorizationField() throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://us%40er:p%3Ass@example.com/a?b=c")))

        try request.validate()

        #expect(request.url.absoluteString == "https://example.com/a?b=c")
        #expect(request.headers[.authorization] == "Basic " + Data("us@er:p:ss".utf8).base64EncodedString())
    }

    @Test func authorizationFieldOverridesURLCredentials() throws {
        var request = HTTPRequest(
            url: try #require(URL(string: "https://user:pass@example.com/")),
            headers: [.authorization: "Bearer t"]
        )

        try request.validate()

        #expect(request.url.absoluteString == "https://example.com/")
        #expect(request.headers[values: .authorization] == ["Bearer t"])
    }

    @Test(arguments: [("4", true), ("5", false), ("-4", false), ("x", false), ("", false), ("4, 4", false)])
    func contentLengthMustMatchBody(length: String, isFine: Bool) throws {
        var request = HTTPRequest(
            url: home,
            method: .post,
            headers: [.contentLength: length],
            body: .data(Data("body".utf8))
        )
        #expect((failure(request) == nil) == isFine)
        guard isFine else { return }

        try request.validate()

        #expect(!request.headers.contains(.contentLength))
    }

    /// RFC 9110, 9.3.8.
    @Test func traceWithBodyIsRejected() {
        let body = HTTPBody.data(Data("body".utf8))
        #expect(failure(HTTPRequest(url: home, method: .trace, body: body))?.kind == .body)
        #expect(failure(HTTPRequest(url: home, method: .trace)) == nil)
    }

    @Test func twoContentLengthsAreRejected() {
        let headers: HTTPHeaders = [.contentLength: "4", "content-length": "5"]
        let request = HTTPRequest(url: home, method: .post, headers: headers, body: .data(Data("body".utf8)))

        #expect(failure(request)?.kind == .headerValue)
    }

    @Test func streamTakesDeclaredContentLength() throws {
        let stream = HTTPBody.Stream(opening: { InputStream(data: Data("body".utf8)) })
        var request = HTTPRequest(url: home, method: .post, headers: [.contentLength: "4"], body: .stream(stream))

        try request.validate()

        #expect(request.body.length == 4)
        #expect(request.body.isReplayable)
    }

    @Test(arguments: ["chunked", "identity", ""]) func transferEncodingFieldIsRejected(_ coding: String) {
        #expect(failure(HTTPRequest(url: home, headers: ["transfer-encoding": coding]))?.kind == .headerName)
    }

    @Test(
        arguments: [
            (60, nil), (0.25, .milliseconds(250)), (-1, nil), (0, nil), (.infinity, .seconds(1_000_000_000)),
            (1e300, .seconds(1_000_000_000)),
        ]
            as [(TimeInterval, Duration?)]
    )
    func foundationTimeoutIsConverted(interval: TimeInterval, timeout: Duration?) throws {
        var request = URLRequest(url: home)
        request.timeoutInterval = interval

        #expect(try HTTPRequest(request).timeout == timeout)
    }
}
