// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// Counts live objects: an object under test holds a ``Life``, and the test waits until the last one is deallocated.
///
/// A weak reference shows that an object is deallocated; only a deinitialiser shows when.
package final class Census: Sendable {
    private struct State {
        var born = 0
        var gone = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    package final class Life: Sendable {
        private let census: Census

        fileprivate init(_ census: Census) {
            self.census = census
        }

        deinit {
            census.bury()
        }
    }

    private let state = Locked(State())

    package init() {}

    package func life() -> Life {
        state.withLock { $0.born += 1 }
        return Life(self)
    }

    /// Waits until all objects are deallocated. A leak exceeds the suite's time limit.
    package func extinction() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.born == state.gone { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    private func bury() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.gone += 1
            guard state.born == state.gone else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
