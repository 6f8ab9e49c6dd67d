// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct StreamCoreRaceTests {
    /// A pause that is decided first and applied last would stop the server for ever, since no event could undo it.
    @Test func pauseRacesChunkConsumption() async throws {
        for _ in 0..<Scale.races {
            let known = Locked(false)
            let context = ReceivingContext(HTTPResponseHead(status: .ok))
            let core = StreamCore(limit: 1, in: context) { isPaused in known.withLock { $0 = isPaused } }

            async let put: Void = core.receive(Data("ab".utf8))
            async let taken = core.next()

            #expect(try await taken == Data("ab".utf8))
            try await put
            #expect(!known.withLock { $0 })
        }
    }
}
