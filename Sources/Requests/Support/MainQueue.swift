// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The main queue, for a closure that is isolated to the main actor.
///
/// ```swift
/// client.addRequest(GetUser(id: 1), completionQueue: .main) { [weak self] result in self?.user = try? result.get() }
/// ```
///
/// Every function that takes a closure and its `DispatchQueue` has a form that takes `.main`. There, the closure may
/// use what is isolated to the main actor, such as the properties of a view controller.
public enum MainQueue: Sendable {
    /// The main queue.
    case main

    /// Returns a closure for `DispatchQueue.main`, which runs on the main actor's executor.
    func isolating<each Value: Sendable>(
        _ body: @escaping @MainActor (repeat each Value) -> Void
    ) -> @Sendable (repeat each Value) -> Void {
        { (value: repeat each Value) in MainActor.assumeIsolated { body(repeat each value) } }
    }
}
