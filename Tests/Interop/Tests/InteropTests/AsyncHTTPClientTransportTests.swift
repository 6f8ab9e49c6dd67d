// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Requests
import RequestsConformance
import RequestsTesting
import Testing

/// The recipe follows the rules of a transport, except for events that its client doesn't expose.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AsyncHTTPClientTransportTests {
    private static let faults: [String: Comment] = [
        "a slow head doesn't time out while bytes arrive": "the client tells nothing of a head before it is whole"
    ]

    @Test(arguments: TransportConformance.checks)
    func recipeConforms(_ check: TransportConformance.Check) async throws {
        guard let fault = Self.faults[check.name] else {
            try await check.run(on: { AsyncHTTPClientTransport() })
            return
        }
        await withKnownIssue(fault) { _ = try await check.run(on: { AsyncHTTPClientTransport() }) }
    }
}
