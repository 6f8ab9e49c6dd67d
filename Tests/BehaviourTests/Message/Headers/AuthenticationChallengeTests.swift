// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct AuthenticationChallengeTests {
    @Test(
        arguments: [
            ("Basic realm=\"WallyWorld\"", ["Basic realm=WallyWorld"]),
            // RFC 9110, 11.6.1.
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                [#"Newauth realm=apps, type=1, title="Login to \"apps\"""#, "Basic realm=simple"]
            ),
            // RFC 7616, 3.9.1, in part.
            (
                #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, Digest qop="auth""#,
                [#"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256"#, "Digest qop=auth"]
            ),
            ("Negotiate", ["Negotiate"]), ("Negotiate YWJj==, NTLM", ["Negotiate YWJj==", "NTLM"]),
            ("Bearer error=\"invalid_token\" , , Basic", ["Bearer error=invalid_token", "Basic"]),
            ("Basic realm = \"a\"", ["Basic realm=a"]), ("Basic  realm=\"open", []),
            ("realm=\"nobody's\", Basic realm=b", ["Basic realm=b"]), ("", []), (",,", []), ("=, \"x\"", []),
            // Fields have no control characters, but a caller's string may have them.
            ("Digest \r\n\t\t *x", ["Digest"]),
            // An unterminated quote in a list would swallow the rest of the list.
            ("Digest \"\t\", a=b", ["Digest a=b"]), ("Negotiate YW\"Jj", []),
        ] as [(String, [String])]
    )
    func parsesListOfChallenges(text: String, challenges: [String]) {
        #expect(Authorization.Challenge.list(parsing: text).map(\.description) == challenges)
    }

    @Test func parameterNamesAreCaseInsensitive() throws {
        let challenge = try #require(Authorization.Challenge.list(parsing: "Bearer REALM=\"a\", Error=x").first)

        #expect(challenge.realm == "a" && challenge["error"] == "x" && challenge["scope"] == nil)
        #expect(challenge.scheme == "Bearer" && challenge.token == nil)
    }
}
