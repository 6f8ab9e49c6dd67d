// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct AwaitableStateTests {
    private let count = AwaitableState(0)

    @discardableResult
    private func wait(until isMet: @escaping @Sendable (Int) -> Bool) async throws -> Int {
        try await count.wait(for: "a count", timeout: .seconds(30), at: CallSite(#fileID, #line)) {
            "it is \($0)"
        } until: {
            isMet($0)
        }
    }

    @Test func eachWaiterResumesOnItsChange() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 { group.addTask { try await wait { $0 >= number } } }
            for _ in 1...10 { count.withLock { $0 += 1 } }
            try await group.waitForAll()
        }
        #expect(try await wait { $0 >= 10 } == 10)
    }

    @Test func waitReturnsStateThatMetCondition() async throws {
        let asked = Gate()
        let waiting = Task {
            try await wait {
                asked.open()
                return $0 == 1
            }
        }
        try await asked.wait()

        for number in 1...3 { count.withLock { $0 = number } }

        #expect(try await waiting.value == 1)
        #expect(try await wait { $0 > 0 } == 3)
    }

    @Test func cancellationRacesStateChange() async throws {
        for _ in 0..<Scale.races {
            let count = AwaitableState(0)
            let waiting = Task {
                let callSite = CallSite(#fileID, #line)
                _ = try? await count.wait(for: "1", timeout: .seconds(30), at: callSite) {
                    "\($0)"
                } until: {
                    $0 == 1
                }
            }
            async let cancelled: Void = waiting.cancel()
            async let changed: Void = count.withLock { $0 = 1 }
            _ = await (cancelled, changed)
            await waiting.value
        }
    }
}
