// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// A caller's clock, whose code may use the operation that reads the time.
@Suite(.bounded) struct CustomClockTests {
    /// A clock that calls the test each time it is read.
    private final class AskedClock: Clock {
        private let clock = ManualClock()
        private let wasAsked: @Sendable () -> Void

        init(wasAsked: @escaping @Sendable () -> Void) {
            self.wasAsked = wasAsked
        }

        var minimumResolution: Duration { clock.minimumResolution }
        var now: ManualClock.Instant {
            wasAsked()
            return clock.now
        }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test(arguments: 1...2) func clockCanCancelRequestDuringResponse(reading: Int) async {
        let (readings, cancel) = (Locked<Int?>(nil), Locked<@Sendable () -> Void>({}))
        let transport = InMemoryTransport { _ in
            readings.withLock { $0 = 0 }
            return .status(.ok)
        }
        let clock = AskedClock {
            let count = readings.withLock { count in
                count = count.map { $0 + 1 }
                return count
            }
            if count == reading { cancel.withLock { $0 }() }
        }
        let probe = Probe(TextRequest(), on: TestQueue(transport) { $0.clock = clock })
        cancel.withLock { $0 = { probe.operation.cancel() } }
        probe.operation.start()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
    }
}
