// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The names that public APIs use, and whether their values are shown.
@Suite(.bounded) struct SecretDoorFieldTests {
    private static let marker = "m4rkedS3cret"

    /// Harmless values whose names sound secret: hiding them does no harm, and avoids a list of exceptions.
    private static let hiddenHarmless: Set = [
        // The name or address of a user, in a field about authentication.
        "X-Auth-Email", "X-Goog-AuthUser", "X-Auth-CouchDB-Roles", "X-Auth-Request-User",
        "X-Credential-Identifier", "X-Algolia-UserToken",
        // Settings in a field about authentication.
        "X-ClickHouse-SSL-Certificate-Auth", "X-FORMS_BASED_AUTH_ACCEPTED",
        // A postal code that is spelled like a PIN, and the name of a secret.
        "billing_pincode", "SecretId",
    ]

    private static func isHidden(_ sample: FieldSample) -> Bool {
        sample.kind == .credential || hiddenHarmless.contains(sample.name)
    }

    @Test(arguments: FieldSample.fields)
    func redactsOnlyCredentialHeaderFields(_ sample: FieldSample) async throws {
        let request = HTTPRequest(url: home, headers: [HTTPField.Name(sample.name): Self.marker])

        for (door, texts) in try await SecretDoor.texts(of: request, status: .badRequest) {
            #expect(texts.contains { $0.contains(Self.marker) } != Self.isHidden(sample), "\(door)")
        }
    }

    @Test(arguments: FieldSample.parameters)
    func redactsOnlyCredentialParameters(_ sample: FieldSample) async throws {
        let value = Self.marker
        let requests = [
            HTTPRequest(url: home, method: .post, body: .form([sample.name: value])),
            HTTPRequest(url: home, method: .post, body: .json([sample.name: .string(value)] as JSONValue)),
            HTTPRequest("https://example.com/?\(raw: sample.name)=\(raw: value)"),
        ]
        for (index, request) in requests.enumerated() {
            for (door, texts) in try await SecretDoor.texts(of: request, status: .badRequest)
            where door != .description {
                #expect(
                    texts.contains { $0.contains(value) } != Self.isHidden(sample),
                    "\(door), \(["form", "JSON", "address"][index])"
                )
            }
        }
    }
}
