// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct HTTPFieldTests {
    private static let date = Date(timeIntervalSince1970: 784_111_777)

    @Test(
        arguments: [
            (.accept(.json), "Accept: application/json"),
            (.accept([.json, .xml, .any]), "Accept: application/json, application/xml;q=0.9, */*;q=0.8"),
            (
                .accept([.json, .any.parameter("q", "0.1"), .html]),
                "Accept: application/json, */*; q=0.1, text/html;q=0.8"
            ),
            (.acceptLanguage("en-GB", "de", "*"), "Accept-Language: en-GB, de;q=0.9, *;q=0.8"),
            (.acceptLanguage("da, en-gb;q=0.8"), "Accept-Language: da, en-gb;q=0.8"),
            (.acceptLanguage(Locale(identifier: "en_US")), "Accept-Language: en-US"),
            (
                .acceptLanguage(Array(repeating: "a", count: 12)),
                "Accept-Language: a, a;q=0.9, a;q=0.8, a;q=0.7, a;q=0.6, a;q=0.5, a;q=0.4, a;q=0.3, a;q=0.2, a;q=0.1, "
                    + "a;q=0.1, a;q=0.1"
            ),
            (.acceptEncoding("br", "gzip", "deflate"), "Accept-Encoding: br, gzip;q=0.9, deflate;q=0.8"),
            (.acceptCharset("utf-8"), "Accept-Charset: utf-8"), (.acceptRanges(), "Accept-Ranges: bytes"),
            (.contentType(.plainText.charset("utf-8")), "Content-Type: text/plain; charset=utf-8"),
            (.contentDisposition(.attachment(fileName: "a")), "Content-Disposition: attachment; filename=\"a\""),
            (.contentLength(5), "Content-Length: 5"),
            (HTTPField(.contentLanguage, Locale(identifier: "zh_Hant_TW")), "Content-Language: zh-Hant-TW"),
            (.userAgent("Recipes/2.1"), "User-Agent: Recipes/2.1"),
            (.cacheControl(.noStore, .maxAge(.seconds(5))), "Cache-Control: no-store, max-age=5"),
            (.cacheControl([.noStore]), "Cache-Control: no-store"),
            (HTTPField(.retryAfter, 5), "Retry-After: 5"),
            (HTTPField(.date, date), "Date: Sun, 06 Nov 1994 08:49:37 GMT"),
            (.idempotencyKey("abc"), "Idempotency-Key: abc"),
            (
                .ifNoneMatch(HTTPField.EntityTag("a"), HTTPField.EntityTag("b", isWeak: true)),
                "If-None-Match: \"a\", W/\"b\""
            ),
            (.ifNoneMatch(), "If-None-Match: *"), (.ifMatch(HTTPField.EntityTag("a")), "If-Match: \"a\""),
            (.ifMatch(), "If-Match: *"),
            (.ifRange(HTTPField.EntityTag("a")), "If-Range: \"a\""),
            (.ifRange(date), "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"),
            (.ifModifiedSince(date), "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
            (.ifUnmodifiedSince(date), "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
            (.range(0...499), "Range: bytes=0-499"), (.range(500...), "Range: bytes=500-"),
            (.range(last: 5), "Range: bytes=-5"),
            (HTTPField("X", -3), "X: -3"), (HTTPField("X", UInt8(3)), "X: 3"),
            (HTTPField("X", MediaType.json), "X: application/json"),
        ] as [(HTTPField, String)]
    )
    func factoriesProduceExpectedLines(field: HTTPField, line: String) throws {
        var request = HTTPRequest(url: home, headers: [field])
        if field.name == .contentLength { request.body = .data(Data("12345".utf8)) }

        #expect(field.description == line)
        try request.validate()
    }

    @Test(
        arguments: [
            (.authorization(.bearer("abc")), "Authorization: Bearer abc"),
            (.authorization(.oauth("abc")), "Authorization: OAuth abc"),
            (
                .authorization(.basic(username: "Aladdin", password: "open sesame")),
                "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
            ),
            (.authorization(Authorization("A b")), "Authorization: A b"),
            (.proxyAuthorization(.bearer("abc")), "Proxy-Authorization: Bearer abc"),
            (.apiKey("abc"), "X-API-Key: abc"),
            (.cookie(Cookie("a", "1"), Cookie("b", "2")), "Cookie: a=1; b=2"),
            (HTTPField(.setCookie, SetCookie("a", "1")), "Set-Cookie: a=1"),
        ] as [(HTTPField, String)]
    )
    func secretFieldsAreRedactedInDescriptions(field: HTTPField, line: String) {
        #expect("\(field.name): \(field.value)" == line)
        #expect(field.description == "\(field.name): <redacted>")
    }

    static let injections = ["x\r\nX-Evil: 1", "x\nX-Evil: 1", "x\rX-Evil: 1", "x\0", "\u{1}", "\u{7F}"]

    /// Every factory with a string parameter, for each of its parameters.
    static let factories: [@Sendable (String) -> HTTPField] = [
        { HTTPField(HTTPField.Name($0), "x") }, { HTTPField("X", $0) },
        { .accept(MediaType($0, "x")) }, { .accept([.json, MediaType("x", $0)]) },
        { .accept(MediaType("x", "x", parameters: [($0, "x")])) }, { .contentType(MediaType(stringLiteral: $0)) },
        { .contentType(.plainText.charset($0)) }, { .contentType(.formData(boundary: $0)) },
        { .contentType(.plainText.parameter($0, "x")) },
        { .acceptLanguage("de", $0) }, { .acceptEncoding($0) }, { .acceptCharset($0) }, { .acceptRanges($0) },
        { .contentDisposition(HTTPField.ContentDisposition($0)) },
        { .contentDisposition(.attachment(fileName: $0)) },
        { .contentDisposition(HTTPField.ContentDisposition("x", parameters: [.init($0, "x")])) },
        { .contentDisposition(HTTPField.ContentDisposition("x", parameters: [.init("x", $0)])) },
        { .authorization(Authorization($0)) }, { .authorization(Authorization(scheme: $0, token: "x")) },
        { .authorization(Authorization(scheme: "x", token: $0)) },
        { .proxyAuthorization(Authorization(scheme: "x", token: $0)) },
        { .authorization(.bearer($0)) }, { .authorization(.oauth($0)) }, { .apiKey($0) }, { .userAgent($0) },
        { .idempotencyKey($0) },
        { .authorization(.basic(username: $0, password: "x")) },
        { .authorization(.basic(username: "x", password: $0)) },
        { .cacheControl(.init($0)) }, { .cacheControl(.init("x", $0)) },
        { .cookie(Cookie($0, "x")) }, { .cookie(Cookie("x", "x"), Cookie("x", $0)) },
        { HTTPField(.setCookie, SetCookie($0, "x")) }, { HTTPField(.setCookie, SetCookie("x", $0)) },
        { .ifMatch(HTTPField.EntityTag($0)) },
        { .ifNoneMatch(HTTPField.EntityTag("x"), HTTPField.EntityTag($0)) },
        { .ifRange(HTTPField.EntityTag($0)) },
    ]

    @Test(arguments: factories.indices) func factoriesRejectInjectedLines(_ index: Int) {
        for injection in Self.injections {
            for headers in [
                HTTPHeaders([Self.factories[index](injection)]),
                ["A": "b", Self.factories[index](injection).name: "c"],
            ] {
                var request = HTTPRequest(url: home, headers: headers)
                request.headers.merge([Self.factories[index](injection)])

                let error = #expect(throws: InvalidValue.self) { try request.validate() }

                #expect(error.map { "\($0)".count < 250 && !"\($0)".contains { $0.isNewline } } == true)
            }
        }
    }

    @Test(
        arguments: [
            .range(-1...5), .range((-1)...), .range(last: -1), .ifRange(HTTPField.EntityTag("a", isWeak: true)),
            .acceptLanguage("d\"e"), .acceptEncoding(""), .contentType("nonsense"), .accept(MediaType("a", "b; q=1")),
            .authorization(.bearer("")), .authorization(.basic(username: "a:b", password: "c")),
            .cookie(Cookie("a", "b; c=d")),
        ] as [HTTPField]
    )
    func invalidFieldFailsRequest(_ field: HTTPField) {
        var request = HTTPRequest(url: home, headers: [field])

        #expect(throws: InvalidValue.self) { try request.validate() }
    }

    @Test func settingValidValueClearsError() throws {
        var field = HTTPField.contentType("nonsense")
        #expect(field.value.isEmpty && field.flaw != nil && HTTPField.range((-1)...).flaw != nil)

        field.value = "text/plain"

        var request = HTTPRequest(url: home, headers: [field])
        try request.validate()
        #expect(field == .contentType(.plainText))
    }

    @Test func customFieldCanBeDefined() {
        let field: HTTPField = .attempt(2)

        #expect(field.description == "X-Attempt: 2")
    }

    @Test func idempotencyKeysAreUnique() {
        #expect(HTTPField.idempotencyKey() != .idempotencyKey())
    }
}

extension HTTPField {
    fileprivate static func attempt(_ number: Int) -> HTTPField { HTTPField("X-Attempt", number) }
}
