// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct CoalescedPriorityTests {
    @Test func sharedTransferTakesHighestPriority() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let clock = ManualClock()
        let limiter = RateLimiter(1, per: .seconds(1), burst: 1, clock: clock)
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.rateLimiter = limiter
            $0.baseURL = server
        }
        let joined = Recorder<Void>()
        func start(_ path: String, _ priority: Operation.QueuePriority = .normal) -> Operation {
            let operation = queue.makeOperation(for: HTTPRequest("\(raw: path)"), coalescing: true)
            operation.queuePriority = priority
            operation.addMonitor(.events { event, _ in if case .operationJoined = event { joined.record(()) } })
            operation.start()
            return operation
        }
        await start("first").end()
        let normal = start("normal")
        try await clock.waitForSleepers(1)
        let (calm, urgent) = (start("shared", .veryLow), start("shared", .veryHigh))
        await joined.first(4)
        try await eventually { limiter.count == 2 }

        clock.advance(by: .seconds(1))
        try await eventually { transport.requests.count == 2 }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))

        for operation in [normal, calm, urgent] { await operation.end() }
        #expect(transport.requests.map(\.url.lastPathComponent) == ["first", "shared", "normal"])
    }
}
