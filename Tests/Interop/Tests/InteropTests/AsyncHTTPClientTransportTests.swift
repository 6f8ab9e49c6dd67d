// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Requests
import RequestsTesting
import Testing

/// The recipe keeps the rules of a transport, but for what its client doesn't tell or leaves to chance.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AsyncHTTPClientTransportTests {
    private static let faults: [String: TransportConformance.KnownFault] = [
        "a head that drips is no silence": .fails("the client tells nothing of a head before it is whole"),
        "content beyond its length isn't the content": .mayFail(
            "the connection may be given to the next request before the client sees what is wrong with it"
        ),
    ]

    @Test(arguments: TransportConformance.checks)
    func recipeConforms(_ check: TransportConformance.Check) async throws {
        try await check.run(on: { AsyncHTTPClientTransport() }, knownFault: Self.faults[check.name])
    }
}
