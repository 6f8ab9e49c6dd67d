// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import AsyncHTTPClientTransport
import Requests
import RequestsTesting
import Testing

/// The recipe follows the rules of a transport, except for events that its client doesn't expose.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AsyncHTTPClientTransportTests {
    private static let faults: [String: TransportConformance.KnownFault] = [
        "a head that drips is no silence": .fails("the client tells nothing of a head before it is whole")
    ]

    @Test(arguments: TransportConformance.checks)
    func recipeConforms(_ check: TransportConformance.Check) async throws {
        try await check.run(on: { AsyncHTTPClientTransport() }, knownFault: Self.faults[check.name])
    }
}
