// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import TestSupport
import Testing

@testable import Requests

@Suite(.bounded) struct SecretFieldTests {
    private let marked = HTTPField.Name("X-Mine", isSecret: true)

    @Test(
        .tags(.behaviour),
        arguments: [
            ("Authorization", true), ("proxy-authorization", true), ("cookie", true), ("Set-Cookie", true),
            ("x-api-key", true), ("X-Vault-Token", true), ("PRIVATE-TOKEN", true),
            ("X-Session-Token", true), ("Ocp-Apim-Subscription-Key", true), ("Idempotency-Key", false),
            ("Access-Control-Allow-Credentials", false), ("Sec-WebSocket-Key", false), ("Accept", false),
            ("X-Monkeys", false), ("", false),
        ]
    )
    func descriptionLeavesOutSecretsKnownByName(_ name: String, isSecret: Bool) {
        let field = HTTPField(HTTPField.Name(name), "hush")
        let line = "\(name): " + (isSecret ? "<redacted>" : "hush")

        #expect(field.name.isSecret == isSecret)
        #expect(field.description == line)
        #expect(HTTPHeaders([field]).description == line)
    }

    @Test(arguments: [
        ("TO\u{212A}EN", true), ("id_token_hint", true), ("code", true), ("encode", false), ("Pass-Phrase", true),
        ("42", false), ("tokens", false), ("user[password_confirmation]", true), ("code_verifier", true),
        ("PHPSESSID", true), ("SAMLResponse", true), ("api_keys", true), ("max_tokens", false),
    ])
    func spellingHidesNoSecret(_ name: String, isSecret: Bool) {
        #expect(SecretName.matches(name) == isSecret)
    }

    private static let many: HTTPHeaders = [
        "A": "", "B": "", "C": "", "D": "", "E": "", "F": "", "G": "", "H": "", "X-Mine": "new",
    ]

    @Test func aSecretStaysOneWithAnotherValue() {
        let headers = HTTPHeaders([HTTPField("X-Other", "1"), HTTPField(marked, "hush")])
        let changes: [(inout HTTPHeaders) -> Void] = [
            { $0["X-Mine"] = "new" }, { $0.set("new", for: "x-mine") }, { $0.set(HTTPField("x-Mine", "new")) },
            { $0.merge(["X-Mine": "new"]) }, { $0 = $0.merging(["X-Mine": "new"]) },
            { $0.merge(Self.many) },
        ]

        for change in changes {
            var changed = headers
            change(&changed)
            #expect(changed["X-Mine"] == "new" && changed.secrets.map(\.value) == ["new"])
            #expect(!changed.description.contains("new") && changed.description.contains("X-Other: 1"))
        }
    }

    @Test func aSecretStaysOneWhereAnotherFieldOfTheNameStandsFirst() {
        var headers = HTTPHeaders([HTTPField("X-Mine", "first"), HTTPField(marked, "hush")])

        #expect(headers.secrets.map(\.value) == ["first", "hush"])
        headers["X-Mine"] = "new"

        #expect(headers.secrets.map(\.value) == ["new"])
        headers.removeSecrets()
        #expect(headers.isEmpty)
    }
}
