// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import Testing

@testable import RequestsTesting

@Suite(.bounded) struct GateTests {
    @Test func openGateReleasesAllWaiters() async throws {
        let gate = Gate()
        let tasks = (0..<10).map { _ in Task { try await gate.wait() } }

        #expect(!gate.isOpen)
        gate.open()
        gate.open()

        for task in tasks { try await task.value }
        try await gate.wait()
        #expect(gate.isOpen)
    }

    @Test func cancellationEndsGateWait() async {
        let gate = Gate()
        let task = Task { try await gate.wait() }

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!gate.isOpen)
    }

    @Test func blockingWaitReturnsWhenGateOpens() async throws {
        let gate = Gate()
        let passed = Gate()
        let thread = Thread {
            #expect(throws: Never.self) { try gate.wait() }
            passed.open()
        }
        thread.start()

        #expect(!passed.isOpen)
        gate.open()

        try await passed.wait()
    }

    @Test func stoppingServerEndsBlockingGateWait() async throws {
        let (gate, ending, passed) = (Gate(), Gate(), Gate())
        let thread = Thread {
            Gate.$currentStopGate.withValue(ending) {
                _ = #expect(throws: CancellationError.self) { try gate.wait() }
            }
            passed.open()
        }
        thread.start()

        ending.open()

        try await passed.wait()
        #expect(!gate.isOpen)
    }

    @Test func cancellationRacesGateOpening() async {
        for _ in 0..<Scale.races {
            let gate = Gate()
            let task = Task { try await gate.wait() }

            async let cancelled: Void = task.cancel()
            async let opened: Void = gate.open()
            _ = await (cancelled, opened)

            _ = await task.result
            #expect(gate.isOpen)
        }
    }
}
