// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct MediaTypeTests {
    @Test(
        arguments: [
            ("application/json", "application/json"),
            ("Text/HTML;Charset=\"utf-8\"", "Text/HTML; Charset=utf-8"),
            // RFC 9110, 8.3.1: all four are the same.
            ("text/html;charset=utf-8", "text/html; charset=utf-8"),
            ("text/html; charset=\"utf-8\"", "text/html; charset=utf-8"),
            ("  text/plain \t; a=b ;; c = d ;", "text/plain; a=b; c=d"),
            ("multipart/form-data; boundary=\"a b\\\"c\\\\\"", "multipart/form-data; boundary=\"a b\\\"c\\\\\""),
            ("text/plain; a=\"\"", "text/plain; a=\"\""),
            ("text/plain; a=", "text/plain; a=\"\""),
            ("text/plain; a=\"open", "text/plain; a=open"),
            ("text/plain; a=\"x\"y; b=1", "text/plain; a=x; b=1"),
            ("text/plain; flag; =x; a b=c; d=1; D=2", "text/plain; d=1"),
            ("text/plain; name=naïve", "text/plain; name=\"naïve\""),
            ("application/vnd.a.b+json;v=2", "application/vnd.a.b+json; v=2"),
            ("*/*;q=0.1", "*/*; q=0.1"),
        ] as [(String, String)]
    )
    func parsesAndSerializesMediaTypes(text: String, printed: String) throws {
        let type = try MediaType(parsing: text)

        #expect(type.rawValue == printed)
        #expect(try MediaType(parsing: type.rawValue) == type)
        #expect(type.isValid)
    }

    @Test(arguments: [
        "", "/", "text", "text/", "/plain", "te xt/plain", "text/pl ain", "text/plain, a/b", "text /plain",
        "text/ plain",
        "text/plain\r\nX-Evil: 1", "text/plain; a=\"\n\"", "text/plain; a=\0", "tëxt/plain", "text/plain/x", "\u{7F}/a",
        "text/html;q=0, */*", "text/html; a=\"b\", text/plain",
    ])
    func invalidTypeIsRejected(_ text: String) {
        #expect(throws: InvalidValue.self) { try MediaType(parsing: text) }
        #expect(!MediaType(stringLiteral: text).isValid)
    }

    @Test(
        arguments: [
            (MediaType("text", "plain\r\nX-Evil: 1"), "plain\\r\\nX-Evil"),
            (MediaType("text", "plain; boundary=x"), "boundary"),
            (MediaType("te\"xt", "plain"), "te\"xt"),
            (MediaType("", ""), "type/subtype"),
            (MediaType("text", "plain", parameters: [("a;b", "1")]), "a;b"),
            (MediaType("text", "plain", parameters: [("a\"", "1")]), "a\""),
            (MediaType("text", "plain", parameters: [("", "1")]), "name"),
            (MediaType("text", "plain", parameters: [("a", "\r\nX-Evil: 1")]), "X-Evil"),
            (.formData(boundary: "x\0"), "boundary"),
            (MediaType("a", String(repeating: "ä", count: 10_000)), "…"),
        ] as [(MediaType, String)]
    )
    func errorNamesInvalidComponent(type: MediaType, named: String) {
        let error = #expect(throws: InvalidValue.self) { try type.validated() }

        #expect(error?.kind == .mediaType)
        #expect(error.map { "\($0)".contains(named) && "\($0)".count < 200 && !"\($0)".contains("\n") } == true)
    }

    @Test func onlyParameterValuesAreCaseSensitive() {
        #expect(MediaType("Text", "HTML") == .html)
        #expect(MediaType("Text", "HTML").hashValue == MediaType.html.hashValue)
        #expect(MediaType.html.charset("UTF-8") == ("text/html; CHARSET=utf-8" as MediaType))
        #expect(MediaType.html.charset("UTF-8").hashValue == ("text/html; CHARSET=utf-8" as MediaType).hashValue)
        #expect(MediaType.formData(boundary: "a") != .formData(boundary: "A"))
        #expect(MediaType.html != MediaType.html.charset("utf-8"))
    }

    @Test func parametersKeepTheirOrder() {
        var type = MediaType("a", "b", parameters: [("z", "1"), ("y", "2"), ("x", "3")])

        type[parameter: "Y"] = "4"
        type[parameter: "x"] = nil
        type[parameter: "w"] = "5"
        type[parameter: "v"] = nil

        #expect(type.rawValue == "a/b; z=1; y=4; w=5")
        #expect(type[parameter: "Z"] == "1" && type[parameter: "x"] == nil)
    }

    @Test(
        arguments: [
            ("*/*", "image/png", true), ("image/*", "IMAGE/png", true), ("image/*", "text/plain", false),
            ("image/png", "image/png;a=b", true), ("image/png", "image/*", false), ("image/png", "image/gif", false),
            ("text/plain;format=flowed", "text/plain", false),
            ("text/plain;format=flowed;q=0.5", "text/plain;charset=utf-8;Format=flowed", true),
            ("text/plain;charset=utf-8", "text/plain;charset=UTF-8", true),
        ] as [(MediaType, MediaType, Bool)]
    )
    func mediaRangesMatchTypes(range: MediaType, type: MediaType, isCovered: Bool) {
        #expect(range.matches(type) == isCovered)
    }

    @Test func suffixIdentifiesFormat() {
        #expect(MediaType.problemJSON.suffix == "json" && MediaType.json.suffix == nil)
        #expect(MediaType("a", "b+c+XML").suffix == "xml" && MediaType("a", "b+").suffix == nil)
        #expect(MediaType.json.isJSON && MediaType.problemJSON.isJSON && MediaType("text", "JSON").isJSON)
        #expect(!MediaType.svg.isJSON && MediaType.svg.suffix == "xml")
        #expect(MediaType("TEXT", "Html").charset("x").essence == "text/html")
    }

    @Test(
        arguments: [
            ("utf-8", .utf8), ("UTF8", .utf8), ("us-ascii", .ascii), ("ISO-8859-1", .isoLatin1),
            ("windows-1252", .windowsCP1252), ("Shift_JIS", .shiftJIS), ("latin-1", .isoLatin1), ("nonsense", nil),
        ] as [(String, String.Encoding?)]
    )
    func charsetMapsToStringEncoding(charset: String, encoding: String.Encoding?) {
        #expect(MediaType.plainText.charset(charset).encoding == encoding)
        #expect(MediaType.plainText.encoding == nil)
    }

    @Test(
        arguments: [
            ("json", .json), ("JPG", .jpeg), ("jpeg", .jpeg), ("mov", "video/quicktime"), ("m4a", "audio/mp4"),
            ("gz", .gzip),
            ("", nil), ("unheard-of", nil), ("json\r\n", nil),
        ] as [(String, MediaType?)]
    )
    func fileExtensionDeterminesType(fileExtension: String, type: MediaType?) {
        #expect(MediaType(fileExtension: fileExtension) == type)
    }

    @Test func presetsHaveRegisteredNames() {
        #expect(MediaType.urlEncodedForm.rawValue == "application/x-www-form-urlencoded")
        #expect(MediaType.binary.rawValue == "application/octet-stream")
        #expect(MediaType.formData(boundary: "a b").rawValue == "multipart/form-data; boundary=\"a b\"")
        #expect(MediaType.any.rawValue == "*/*" && MediaType.svg.rawValue == "image/svg+xml")
    }

}
