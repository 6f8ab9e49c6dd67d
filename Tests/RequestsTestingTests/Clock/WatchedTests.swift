// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct WatchedTests {
    private let count = Watched(0)

    private func wait(until isMet: @escaping @Sendable (Int) throws -> Bool) async throws {
        try await count.wait(for: "a count", timeout: .seconds(30), at: SourcePlace(#fileID, #line)) {
            "it is \($0)"
        } until: {
            try isMet($0)
        }
    }

    @Test func everyTaskIsResumedByTheChangeThatItAwaits() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 { group.addTask { try await wait { $0 >= number } } }
            for _ in 1...10 { count.withLock { $0 += 1 } }
            try await group.waitForAll()
        }
        try await wait { $0 == 10 }
    }

    @Test func conditionThatThrowsEndsTheWait() async throws {
        struct Over: Error {}
        let waiting = Task {
            try await wait { count in
                if count > 0 { throw Over() }
                return false
            }
        }

        count.withLock { $0 = 1 }

        await #expect(throws: Over.self) { try await waiting.value }
    }

    @Test func cancelThatRacesTheChangeEndsTheWait() async throws {
        for _ in 0..<Scale.races {
            let count = Watched(0)
            let waiting = Task {
                let place = SourcePlace(#fileID, #line)
                try? await count.wait(for: "1", timeout: .seconds(30), at: place) {
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
