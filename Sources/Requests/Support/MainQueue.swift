// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The main queue, as the completion queue for closures that are isolated to the main actor.
///
/// ```swift
/// client.addRequest(GetUser(id: 1), completionQueue: .main) { [weak self] result in self?.user = try? result.get() }
/// ```
///
/// Every function with a closure and a `DispatchQueue` has an overload for `.main`. In that overload, the closure can
/// access main-actor-isolated state, such as the properties of a view controller.
public enum MainQueue: Sendable {
    /// The main queue.
    case main

    /// Wraps a main-actor-isolated closure in a closure for `DispatchQueue.main`, the queue of the main actor.
    func isolating<each Value: Sendable>(
        _ body: @escaping @MainActor (repeat each Value) -> Void
    ) -> @Sendable (repeat each Value) -> Void {
        { (value: repeat each Value) in MainActor.assumeIsolated { body(repeat each value) } }
    }
}
