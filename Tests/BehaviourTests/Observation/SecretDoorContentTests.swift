// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The redaction that all outputs share, for every form of content.
@Suite(.bounded) struct SecretDoorContentTests {
    private static let marker = "m4rkedS3cret"

    /// A form of content: its name, its type, and the text in which `NAME` has the value `VALUE`.
    struct Form: Sendable, CustomStringConvertible {
        let description: String
        let type: String?
        let text: String

        init(_ description: String, _ type: String?, _ text: String) {
            (self.description, self.type, self.text) = (description, type, text)
        }
    }

    private static func quoted(_ text: String, _ levels: Int) -> String {
        guard levels > 0 else { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return quoted("{\"text\": \"\(escaped)\"}", levels - 1)
    }

    private static let json = #"{"a": 1, "NAME": "VALUE"}"#
    private static let part = "--b\r\nContent-Disposition: form-data; name=NAME\r\n\r\nVALUE\r\n--b--\r\n"

    static let forms = [
        Form("JSON", "application/json", json),
        Form("JSON without a type", nil, json),
        Form("JSON of a wrong type", "application/x-www-form-urlencoded", json),
        Form("lines of JSON", "application/x-ndjson", "{\"b\": 1}\n\(json)\n"),
        Form("a sequence of JSON", "application/json-seq", "\u{1E}{\"b\": 1}\n\u{1E}\(json)\n"),
        Form("JSON in a string", "application/json", quoted(json, 1)),
        Form("JSON in strings, several levels", "application/json", quoted(json, 3)),
        Form("JSON in more strings than are read", "application/json", quoted(json, 7)),
        Form("a form in a string of JSON", "application/json", quoted("a=b&NAME=VALUE", 1)),
        Form("an address in JSON", "application/json", quoted("https://example.com/?a=b;NAME=VALUE", 1)),
        Form("a pair in a string of JSON", "application/json", quoted("invalid NAME: VALUE", 1)),
        Form("an object in JSON", "application/json", #"{"NAME": {"raw": "VALUE"}}"#),
        Form("names and values in JSON", "application/json", #"[{"name": "NAME", "value": "VALUE"}]"#),
        Form("cut JSON", "application/json", #"{"a": 1, "NAME": "VALUE", "b"#),
        Form("cut JSON with escapes", "application/json", #"{"a": 1, "\u0070in": "VALUE", "b"#),
        Form("escaped JSON", "text/plain", #"{\"NAME\": \"VALUE\"}"#),
        Form("JSON of a script", "text/javascript", #"callback({"NAME": "VALUE"})"#),
        Form("JSON in UTF-16", "application/json; charset=utf-16", json),
        Form("a form", "application/x-www-form-urlencoded", "a=b&NAME=VALUE"),
        Form("a form with semicolons", "application/x-www-form-urlencoded", "a=b;NAME=VALUE;c=d"),
        Form("a form with JSON", "application/x-www-form-urlencoded", "payload=%7B%22NAME%22%3A+%22VALUE%22%7D"),
        Form("a form without a type", nil, "a=b&NAME=VALUE"),
        Form("multipart without quotes", "multipart/form-data; boundary=b", part),
        Form("multipart with quotes", "multipart/form-data; boundary=b", part.replacing("NAME", with: "\"NAME\"")),
        Form("multipart in single quotes", "multipart/form-data; boundary=b", part.replacing("NAME", with: "'NAME'")),
        Form("multipart without a boundary", "multipart/form-data", part),
        Form("multipart without a type", nil, part),
        Form(
            "JSON in multipart",
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=a\r\n\r\n\(json)\r\n--b--\r\n"
        ),
        Form("elements of XML", "application/xml", "<?xml version=\"1.0\"?><a><s:NAME>VALUE</s:NAME></a>"),
        Form("nested elements of XML", "application/xml", "<a><NAME><b>VALUE</b></NAME></a>"),
        Form("attributes of XML", "text/xml", "<a b='1' NAME='VALUE'/>"),
        Form("CDATA of XML", nil, "<a><NAME><![CDATA[VALUE]]></NAME></a>"),
        Form("names and values in XML", "application/xml", "<a><add key='NAME' value='VALUE'/></a>"),
        Form("a list of properties", "application/x-plist", "<dict><key>NAME</key><string>VALUE</string></dict>"),
        Form("a form in HTML", "text/html", "<form><input name=NAME value=VALUE></form>"),
        Form("cut XML", "application/xml", "<a><NAME>VALUE"),
        Form("YAML", "application/yaml", "a: 1\nb:\n  - NAME: VALUE\n"),
        Form("YAML in several lines", nil, "a: 1\nNAME: |\n  VALUE\n"),
        Form("CSV", "text/csv", "id,NAME,b\n1,VALUE,2\n"),
        Form("CSV with semicolons and quotes", "text/csv", "\"id\";\"NAME\"\n\"1\";\"VALUE\"\n"),
        Form("CSV with tabs, without a type", nil, "id\tNAME\n1\tVALUE\n"),
        Form("server-sent events", "text/event-stream", "event: a\ndata: \(json)\n\ndata: [DONE]\n\n"),
        Form(
            "an event of several lines",
            "text/event-stream",
            "data: {\"a\": 1,\r\ndata: \"NAME\": \"VALUE\"}\r\n\r\n"
        ),
        Form("events without a type", nil, "data: \(json)\n\n"),
        Form("a pair with an equals sign", "text/plain", "it is NAME=VALUE."),
        Form("a pair with a colon", "text/plain", "it is\nNAME: VALUE\n"),
        Form("a pair with blanks", "text/plain", "NAME = 'VALUE'"),
        Form("a pair with an arrow", "text/plain", "{:NAME=>\"VALUE\"}"),
        Form("an address in a text", "text/plain", "see https://example.com/a;NAME=VALUE"),
        Form("bytes that are no text", "application/octet-stream", "\u{0}\u{1}NAME=VALUE"),
    ]

    private static let names = ["password", "apikey", "accessToken2", "code", "pin", "X-Token-V2", "user[auth_code]"]

    private static func data(_ form: Form, _ name: String) -> Data {
        let text = form.text.replacing("NAME", with: name).replacing("VALUE", with: marker)
        return form.type?.contains("utf-16") == true ? text.data(using: .utf16) ?? Data() : Data(text.utf8)
    }

    @Test(arguments: forms)
    func redactsSecretsInAllContentForms(_ form: Form) async throws {
        let isXML = form.text.hasPrefix("<")
        for name in Self.names where !isXML || !name.contains("[") {
            let type = form.type.flatMap { try? MediaType(parsing: $0) }
            let body = HTTPBody.data(Self.data(form, name), type: type)
            for status in [HTTPStatus.ok, .badRequest] {
                let request = HTTPRequest(url: home, method: .post, body: body)
                for (door, texts) in try await SecretDoor.texts(of: request, status: status) {
                    let isShown = texts.contains { $0.replacing("\0", with: "").contains(Self.marker) }
                    #expect(!isShown, "\(door), \(name), \(status)")
                }
            }
        }
    }

    /// Content as APIs send it, in which nothing is secret.
    static let harmless = [
        Form("an error", "application/json", #"{"error": {"code": "not_found", "message": "It has no token."}}"#),
        Form("a completion", "application/json", #"{"max_tokens": 5, "usage": {"total_tokens": 7}, "tokens": [1, 2]}"#),
        Form("a page", "application/json", #"{"next_page_token": "abc1", "first_key": "k1", "country_code": "de1"}"#),
        Form("a discovery", "application/json", #"{"token_endpoint": "https://example.com/t1", "token_type": "b"}"#),
        Form("animals", "application/json", #"{"monkey": "m1", "keyboard": "k1", "pinned": "p1", "author": "a1"}"#),
        Form("a form", "application/x-www-form-urlencoded", "a=1;b=2&postal_code=12345&tokens=2"),
        Form("multipart", "multipart/form-data; boundary=b", part.replacing("NAME", with: "city")),
        Form("XML", "application/xml", "<a first_key=\"k1\"><Code>NoSuchKey</Code><b>the key</b></a>"),
        Form("YAML", "application/yaml", "a: 1\ncountry_code: de1\n"),
        Form("CSV", "text/csv", "id,country_code\n1,de1\n"),
        Form(
            "events",
            "text/event-stream",
            "event: a\nid: 1\ndata: {\"usage\": {\"total_tokens\": 7}}\n\ndata: [DONE]\n\n"
        ),
        Form("a sentence", "text/plain", "the key: none"),
    ]

    /// A replay needs this content byte for byte.
    @Test(arguments: harmless) func archivePreservesHarmlessContent(_ form: Form) async throws {
        let type = form.type.flatMap { try? MediaType(parsing: $0) }
        let request = HTTPRequest(url: home, method: .post, body: .data(Data(form.text.utf8), type: type))

        let texts = try await SecretDoor.texts(of: request)[.archive]

        #expect(texts?.filter { $0 == form.text }.count == 2)
    }

    /// Values that aren't secret are preserved, and a redacted value keeps its type.
    @Test(arguments: [
        (#"{"a":1,"token":"x1"}"#, nil, #"{"a":1,"token":"REDACTED"}"#),
        (#"{"pin":1234,"otp":null,"mfa":true}"#, nil, #"{"mfa":true,"otp":null,"pin":0}"#),
        ("a=b;password=x1&c", "application/x-www-form-urlencoded", "a=b;password=REDACTED&c"),
        ("<a><b>1</b><token>x1</token></a>", "application/xml", "<a><b>1</b><token>REDACTED</token></a>"),
        ("<a b='1' token='x1'/>", "application/xml", "<a b='1' token='REDACTED'/>"),
        (
            "id: 1\ndata: {\"pin\":\"x1\"}\n\ndata: [DONE]\n\n", "text/event-stream",
            "id: 1\ndata: {\"pin\":\"REDACTED\"}\n\ndata: [DONE]\n\n"
        ),
    ])
    func redactsOnlySecretInParsedContent(text: String, type: String?, expected: String) async throws {
        let type = type.flatMap { try? MediaType(parsing: $0) }
        let request = HTTPRequest(url: home, method: .post, body: .data(Data(text.utf8), type: type))

        #expect(try await SecretDoor.texts(of: request)[.archive]?.filter { $0 == expected }.count == 2)
        #expect(try request.cURL().contains(expected.replacing("'", with: "'\\''")))
    }
}
