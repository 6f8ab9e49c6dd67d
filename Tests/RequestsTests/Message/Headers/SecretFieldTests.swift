// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct SecretFieldTests {
    private let marked = HTTPField.Name("X-Mine", isSensitive: true)

    @Test(
        arguments: [
            ("Authorization", true), ("proxy-authorization", true), ("cookie", true), ("Set-Cookie", true),
            ("x-api-key", true), ("X-Vault-Token", true), ("PRIVATE-TOKEN", true),
            ("X-Session-Token", true), ("Ocp-Apim-Subscription-Key", true), ("Idempotency-Key", false),
            ("Access-Control-Allow-Credentials", false), ("Sec-WebSocket-Key", false), ("Accept", false),
            ("X-Monkeys", false), ("", false),
        ]
    )
    func sensitiveNamesAreRedacted(_ name: String, isSensitive: Bool) {
        let field = HTTPField(HTTPField.Name(name), "hush")
        let line = "\(name): " + (isSensitive ? "<redacted>" : "hush")

        #expect(field.name.isSensitive == isSensitive)
        #expect(field.description == line)
        #expect(HTTPHeaders([field]).description == line)
    }

    /// A field with addresses in it, and the part that may be shown.
    @Test(
        arguments: [
            (
                "Link",
                "<https://a.example/?token=hush>; rel=next, <https://ada:hush@b.example/?access_token=hush>; rel=last",
                "<https://a.example/?token=REDACTED>; rel=next, <https://b.example/?access_token=REDACTED>; rel=last"
            ),
            ("Link", "</c;token=hush>,<//ada:hush@b.example/d>", "</c;token=REDACTED>,<//b.example/d>"),
            ("Location", "/login?next=https://ada:hush@b.example/&x=1", "/login?next=https://b.example/&x=1"),
            ("Location", "/login?next=https%3A%2F%2Fb.example%2F%3Ftoken%3Dhush&x=%20", "/login?next=REDACTED&x=%20"),
            ("Location", "/login?next=https%253A%252F%252Fada%253Ahush%2540b.example%252F", "/login?next=REDACTED"),
            ("Location", "/go/https://ada:hush@b.example/x", "/go/https://b.example/x"),
            ("X-Next", "https://a.example/1,https://ada:hush@b.example/2", "https://a.example/1,https://b.example/2"),
            ("Refresh", "5; url=https://ada:hush@b.example/?token=hush", "5; url=https://b.example/?token=REDACTED"),
            (
                "Reporting-Endpoints", #"a="https://ada:hush@b.example/?key=hush""#,
                #"a="https://b.example/?key=REDACTED""#
            ),
            (
                "Content-Security-Policy", "report-uri https://b.example/?token=hush",
                "report-uri https://b.example/?token=REDACTED"
            ),
            ("User-Agent", "Bot/1 (+https://bot.example/info?page=1)", "Bot/1 (+https://bot.example/info?page=1)"),
            ("Accept", "text/html, */*;q=0.8", "text/html, */*;q=0.8"),
        ]
    )
    func urlsInFieldsAreRedacted(_ name: String, _ value: String, _ shown: String) {
        let field = HTTPField(HTTPField.Name(name), value)

        #expect(Redaction.value(of: field) == shown && field.description == "\(name): \(shown)")
    }

    /// An address with a password that looks like a port, and the part that may be shown.
    @Test(
        arguments: [
            ("https://bob:123/456@host/", "https://…"), ("https://bob:123/45/6@host/a", "https://…"),
            ("https://bob:123?456@host/", "https://…"), ("https://bob:123#456@host/", "https://…"),
            ("https://host:123/@scope/package", "https://host:123/@scope/package"),
            ("https://host:123/a?mail=ada@b.example", "https://host:123/a"),
            ("https://host/ada@b.example", "https://host/ada@b.example"),
            ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
        ]
    )
    func passwordsResemblingPortsAreRedacted(_ address: String, _ shown: String) throws {
        let request = HTTPRequest("\(raw: address)")
        let error = RequestError(.timedOut, phase: .sending, request: request)

        #expect("\(request)" == "GET \(shown)")
        #expect("\(error)" == "timedOut while sending for GET \(shown)")
        #expect(InvalidValue(.url, "is wrong", excerpt: address).excerpt == shown)
        #expect(Redaction.displayAddress(address).contains("456") == shown.contains("456"))
    }

    /// Words that can be split in many ways, and text whose pairs are as long as the rest.
    @Test func redactionOfHostileInputIsFast() {
        let names = ["jsjs", "aspx", "apikey", "asp"].map { String(repeating: $0, count: 30).prefix(38) + "qq" }
        for name in names { #expect(!HTTPField.Name(String(name)).isSensitive) }

        let texts = ["a=", "a:", "code=", "data:x\n:\n"].map { String(repeating: $0, count: 100_000) }
        for text in texts { _ = Redaction.value(of: HTTPField("X-Any", text)) }
        let control = String(repeating: "a,", count: 50_000) + "x=\"" + String(repeating: "max-age ", count: 50_000)
        #expect(CacheControl(parsing: control)["max-age"]?.duration == .zero)
    }

    private static let many: HTTPHeaders = [
        "A": "", "B": "", "C": "", "D": "", "E": "", "F": "", "G": "", "H": "", "X-Mine": "new",
    ]

    @Test func secretFieldStaysSecretWithNewValue() {
        let headers = HTTPHeaders([HTTPField("X-Other", "1"), HTTPField(marked, "hush")])
        let changes: [(inout HTTPHeaders) -> Void] = [
            { $0["X-Mine"] = "new" }, { $0.set("new", for: "x-mine") }, { $0.set(HTTPField("x-Mine", "new")) },
            { $0.merge(["X-Mine": "new"]) }, { $0.merge(Self.many) },
        ]

        for change in changes {
            var changed = headers
            change(&changed)
            #expect(changed["X-Mine"] == "new" && changed.secrets.map(\.value) == ["new"])
            #expect(!changed.description.contains("new") && changed.description.contains("X-Other: 1"))
        }
    }

    @Test func secretSecondFieldStaysSecretWhenReplaced() {
        var headers = HTTPHeaders([HTTPField("X-Mine", "first"), HTTPField(marked, "hush")])

        #expect(headers.secrets.map(\.value) == ["first", "hush"])
        headers["X-Mine"] = "new"

        #expect(headers.secrets.map(\.value) == ["new"])
        _ = headers.removeFields(leftBehindBy: .other, withContent: false)
        #expect(headers.isEmpty)
    }
}
