// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import RequestsTestSupport
import Testing

/// A process that ends while libcurl is active: OpenSSL then releases memory that the transport's thread still uses.
@Suite(.bounded) struct CurlExitTests {
    @Test(arguments: ["exit", "main", "signal", "receiver", "spawn", "cleanup", "handler", "waiting"])
    func exitDuringHandshakesDoesNotCrash(_ ending: String) async throws {
        for round in 0..<Scale.pick(6, whole: 400) {
            // Half of them end while libcurl is loaded, the others while it is active.
            let milliseconds = round % 2 == 0 ? round / 2 % 12 : 20 + round * 37 % 120

            let (status, isSignal) = try await BuiltProgram.run(
                "RequestsTransportProbe",
                ["end", ending, "\(milliseconds)"]
            )

            #expect(status == 0 && !isSignal, "after \(milliseconds) ms")
        }
    }
}
#endif
