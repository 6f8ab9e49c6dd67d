// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct SecretSpellingTests {
    @Test(arguments: [
        ("TO\u{212A}EN", true), ("id_token_hint", true), ("code", true), ("encode", false), ("Pass-Phrase", true),
        ("42", false), ("tokens", true), ("user[password_confirmation]", true), ("code_verifier", true),
        ("PHPSESSID", true), ("SAMLResponse", true), ("api_keys", true), ("max_tokens", false),
    ])
    func spellingHidesNoSecret(_ name: String, isSensitive: Bool) {
        #expect(SecretName.matches(name) == isSensitive)
    }
}
