// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A number of places that are granted in the order of the requests, one or all at a time.
final class Places: Sendable {
    private struct State {
        var free: Int
        var line: [(count: Int, turn: CheckedContinuation<Void, Never>)] = []

        /// Takes the requests that can be granted. The first is never overtaken, so that a request for all places is
        /// granted.
        mutating func admit() -> [CheckedContinuation<Void, Never>] {
            var admitted: [CheckedContinuation<Void, Never>] = []
            while let first = line.first, first.count <= free {
                free -= first.count
                admitted.append(first.turn)
                line.removeFirst()
            }
            return admitted
        }
    }

    private let all: Int
    private let state: Locked<State>

    init(_ count: Int) {
        all = count
        state = Locked(State(free: count))
    }

    /// Runs a closure while it holds one place, or all of them.
    func withPlace(alone: Bool, _ body: () async throws -> Void) async rethrows {
        let count = alone ? all : 1
        await withCheckedContinuation { turn in
            change { $0.line.append((count, turn)) }
        }
        defer { change { $0.free += count } }
        try await body()
    }

    private func change(_ change: (inout State) -> Void) {
        let admitted = state.withLock { state in
            change(&state)
            return state.admit()
        }
        for turn in admitted { turn.resume() }
    }
}
