// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import RequestsTestSupport
import Testing

@testable import Requests

/// Threads that change a state at the same time, and pass its latest value on outside of the lock.
@Suite(.bounded) struct LockedDrainRaceTests {
    private struct State: Sendable {
        var value = 0
        var passed = 0
        var isPassing = false

        mutating func next() -> Int? {
            guard !isPassing, passed != value else { return nil }
            (isPassing, passed) = (true, value)
            return value
        }
    }

    private struct Calls: Sendable {
        var running = 0
        var most = 0
        var last = 0
    }

    @Test func latestValueIsDeliveredLastAndSerially() async {
        let threads = 4
        for _ in 0..<Scale.races {
            let (state, calls) = (Locked(State()), Locked(Calls()))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<threads {
                    group.addTask {
                        state.withLock { $0.value += 1 }
                        state.drain(
                            next: { $0.next() },
                            completed: { $0.isPassing = false },
                            perform: { value in
                                calls.withLock { calls in
                                    calls.running += 1
                                    calls.most = max(calls.most, calls.running)
                                }
                                calls.withLock { ($0.running, $0.last) = ($0.running - 1, value) }
                            }
                        )
                    }
                }
            }
            let end = calls.withLock { $0 }
            #expect(end.last == threads && end.most == 1)
        }
    }
}
