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
        // Words, wherever they are.
        ("X-Token-V2", true), ("accessToken2", true), ("APIKey", true), ("X_AUTH_TOKEN", true), ("IDToken", true),
        ("JWTs", true), ("passWord", true), ("pass_code", true), ("secretBackup", true), ("tokenizer", false),
        // Spellings without borders.
        ("apikey", true), ("accesstoken", true), ("sessionid", true), ("X-APIKEY", true), ("authtoken", true),
        ("lgpassword", true), ("X-Skypetoken", true), ("author", false), ("authority", false), ("obsession", false),
        // Words that need another.
        ("auth_code", true), ("verificationPin", true), ("accessKey", true), ("privateKey", true), ("user[pin]", true),
        ("country_code", false), ("monkey", false), ("keyboard", false), ("first_key", false), ("postal_code", false),
        ("pinned", false), ("bypass", true), ("compass", false), ("X-OAuth-Scopes", false),
        // Words about a secret, and tokens of pages.
        ("token_type", false), ("access_token_expires_in", false), ("next_page_token", false),
        ("nextRefreshToken", true),
    ])
    func secretNamesMatchInAnySpelling(_ name: String, isSensitive: Bool) {
        #expect(SecretName.matches(name) == isSensitive)
    }
}
