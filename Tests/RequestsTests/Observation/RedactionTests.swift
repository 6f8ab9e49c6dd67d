// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct RedactionTests {
    @Test(arguments: [
        ("https://a.com/b?c=d&e#f", "https://a.com/b?c=d&e#f"),
        ("https://user:hush@a.com/b", "https://a.com/b"),
        ("//hush@a.com", "//a.com"),
        ("https://u:hush;hush,hush&hush@a.com/b", "https://a.com/b"),
        ("/login?to=https://u:hush@a.com/b", "/login?to=https://a.com/b"),
        ("https://u:a@hush@a.com/x@y", "https://a.com/x@y"),
        ("/b?access_token=hush&page=2", "/b?access_token=REDACTED&page=2"),
        ("/b?page=2;API-Key=hush", "/b?page=2;API-Key=REDACTED"),
        ("/b?%74oken=hush&tokens=2", "/b?%74oken=REDACTED&tokens=2"),
        ("/b?token[]=hush&token[0]=hush", "/b?token[]=REDACTED&token[0]=REDACTED"),
        ("/b?X-Amz-Signature=hush&X-Amz-Date=1", "/b?X-Amz-Signature=REDACTED&X-Amz-Date=1"),
        (
            "/callback?code=hush&state=1#access_token=hush&x=1",
            "/callback?code=REDACTED&state=1#access_token=REDACTED&x=1"
        ),
        ("/b;jsessionid=hush/c?q=1", "/b;jsessionid=REDACTED/c?q=1"),
        ("/b?token=\u{301}hush", "/b?token=REDACTED"),
        ("/b?token", "/b?token"),
        ("", ""),
    ])
    func urlSecretsAreRedacted(_ address: String, _ expected: String) {
        #expect(Redaction.address(address) == expected)
    }

    @Test(arguments: [
        (HTTPField("Authorization", "Bearer hush"), "Bearer <redacted>"),
        (HTTPField("Cookie", "a=hush"), "<redacted>"),
        (HTTPField("Set-Cookie", "a=hush"), "<redacted>"),
        (HTTPField("X-Vault-Token", "hush"), "<redacted>"),
        (HTTPField("Ocp-Apim-Subscription-Key", "hush"), "<redacted>"),
        (HTTPField(.init("X-Mine", isSensitive: true), "hush"), "<redacted>"),
        (HTTPField("Location", "https://a.com/?token=hush"), "https://a.com/?token=REDACTED"),
        (HTTPField("Link", "<https://a.com/?token=hush>; rel=next"), "<https://a.com/?token=REDACTED>; rel=next"),
        (HTTPField("Idempotency-Key", "1"), "1"),
        (HTTPField("Access-Control-Allow-Credentials", "true"), "true"),
        (HTTPField("Accept", "text/plain"), "text/plain"),
    ])
    func fieldSecretsAreRedacted(_ field: HTTPField, _ expected: String) {
        #expect(Redaction.value(of: field) == expected)
    }

    @Test func secretJSONMembersAreRedacted() {
        let value: JSONValue = ["user": "ann", "password": "hush", "more": [["apiKey": "hush", "n": 1]]]

        let shown = String(decoding: Redaction.json(value).serialized, as: UTF8.self)

        #expect(shown == #"{"more":[{"apiKey":"REDACTED","n":1}],"password":"REDACTED","user":"ann"}"#)
    }
}

@Suite(.bounded) struct RedactionFuzzTests {
    @Test func urlSecretsAreRedactedAtAnyPosition() {
        var fuzz = Fuzz()
        let pieces = [
            "https://", "a.com", "/", "?", "&", ";", "#", "=", "@", ":", "%74", "x", "page=2", "\u{301}", "//",
        ]
        for _ in 0..<Scale.fuzz(weight: 4) {
            let text = fuzz.text(of: pieces)
            let redacted = Redaction.address(text)
            #expect(redacted.utf8.count <= text.utf8.count + 8 * (text.utf8.count { $0 == UInt8(ascii: "=") }))
            #expect(Redaction.address(redacted).utf8.count <= redacted.utf8.count)

            let rest = text.replacing("#", with: "").replacing("?", with: "").replacing("=", with: "")
            #expect(!Redaction.address("https://a.com/?token=HUSH&" + rest).contains("HUSH"))
        }
    }

    /// Whatever a server sends is read, and an archive that is written again stays the same.
    @Test func redactionIsIdempotent() {
        var fuzz = Fuzz()
        let pieces = [
            "<", "</", ">", "/>", "a", "password", "code", "key", "token", "=", "\"", "'", "{", "}", "[", "]", ":", ",",
            "\n", "\r\n", "data: ", "--b", "Content-Disposition: form-data; name=", "<!--", "-->", "<![CDATA[", "]]>",
            "<?", "?>", "\\", "%7B", "%22", "&", ";", "x1", "null", "12", "\u{301}", "=>", "https://", "?", "<a key='",
            "{\"token\":", "<token>", "</token>", " ", "REDACTED",
        ]
        let types = [nil, "application/json", "text/xml", "text/event-stream", "multipart/form-data; boundary=b"]
        for _ in 0..<Scale.fuzz(weight: 4) {
            let content = Data(fuzz.text(of: pieces, upTo: 20).utf8)
            let type = types.randomElement(using: &fuzz) ?? nil
            guard let shown = Redaction.content(content, type: type) else { continue }
            let again = Redaction.content(shown, type: type)
            #expect(again == nil || again == shown, "\(String(decoding: content, as: UTF8.self)), seed \(Fuzz.seed)")
        }
    }

    /// A server must not keep a log busy.
    @Test(arguments: [
        "<code>a", "<token><a>", "<input name=token>", "data: ", "[\"", "<!--", "\\u00", "%7B%22", "a=<", "--b",
    ])
    func redactionTakesLinearTime(piece: String) {
        func time(_ count: Int) -> Duration {
            let content = Data(String(repeating: piece, count: count).utf8)
            return ProcessorTime.shortest {
                _ = Redaction.content(content, type: nil)
                _ = Redaction.content(content, type: "multipart/form-data; boundary=b")
            }
        }
        #expect(time(800) < time(100) * 32)
    }

    @Test func printableTextIsSingleBoundedLine() {
        var fuzz = Fuzz()
        for _ in 0..<Scale.fuzz(weight: 4) {
            let text = fuzz.text(of: ["\u{1B}[2J", "\r\n", "\u{202E}", "\u{2028}", "\u{9B}", "é", "界", "a"])
            let shown = text.shortened(to: 8)
            #expect(
                shown.unicodeScalars.allSatisfy { !"\u{1B}\r\n\u{202E}\u{2028}\u{9B}\0".unicodeScalars.contains($0) }
            )
            #expect(shown.unicodeScalars.count <= 8 * 12 + 1)
            #expect(shown.shortened(to: .max) == shown)
        }
    }
}
