// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests
import RequestsTestSupport
import Testing

@Suite(.bounded) struct HTTPMethodTests {
    @Test(
        arguments: [
            (.get, true, true), (.head, true, true), (.options, true, true), (.trace, true, true), (.query, true, true),
            (.put, false, true), (.delete, false, true), (.post, false, false), (.patch, false, false),
            (.connect, false, false), ("PURGE", false, false), ("patch", false, false),
        ] as [(HTTPMethod, Bool, Bool)]
    )
    func methodsReportSafetyAndIdempotency(method: HTTPMethod, isSafe: Bool, isIdempotent: Bool) {
        // RFC 9110, 9.2; an unknown method counts as neither safe nor idempotent.
        #expect(method.isSafe == isSafe && method.isIdempotent == isIdempotent)
    }

    /// The Fetch standard normalizes six methods. All others are sent verbatim.
    @Test(
        arguments: [
            ("get", "GET"), ("Post", "POST"), ("pUT", "PUT"), ("delete", "DELETE"), ("head", "HEAD"),
            ("options", "OPTIONS"), ("patch", "patch"), ("Patch", "Patch"), ("purge", "purge"), ("query", "query"),
            ("gét", "gét"), ("", ""),
        ]
    )
    func standardMethodsAreNormalizedToUppercase(text: String, sent: String) {
        #expect(HTTPMethod(text).rawValue == sent && HTTPMethod(rawValue: text).rawValue == sent)
        #expect(HTTPMethod(stringLiteral: text) == HTTPMethod(sent))
    }

    @Test func standardMethodsAreUniqueTokens() {
        #expect(HTTPMethod.standard.allSatisfy(\.rawValue.isToken) && Set(HTTPMethod.standard).count == 10)
        #expect(HTTPMethod(rawValue: "QUERY") == .query && HTTPMethod.query.description == "QUERY")
    }
}
