// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Keeps what happened, in its order, and lets a task wait for the next thing to happen.
final class Recorder<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var elements: [Element] { state.withLock { $0.elements } }
    var count: Int { state.withLock { $0.elements.count } }

    func record(_ element: Element) {
        let ready = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    /// Lets go of what happened, which may hold on to what is to go away.
    func forget() {
        state.withLock { $0.elements = [] }
    }

    /// What happened, once there are so many things.
    @discardableResult
    func first(_ count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.elements.count < count else { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
        return elements
    }
}
