// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A wait for something that calls back: a timer, a limiter.
package enum Suspension {
    /// Waits for a callback, or for the cancellation of the task, whichever comes first.
    ///
    /// - Parameters:
    ///   - begin: Begins to wait, and returns a closure that ends the wait early. It gets the callback, which is called
    ///     at most once, also at once.
    ///   - late: Called if the callback comes after a cancellation, to give back what it granted.
    /// - Throws: `CancellationError` if the task is cancelled first.
    package static func wait(
        _ begin: (_ resume: @escaping @Sendable () -> Void) -> @Sendable () -> Void,
        late: @escaping @Sendable () -> Void = {}
    ) async throws {
        let isGranted = OneShot<Bool>()
        let stop = begin { if !isGranted.fill(true) { late() } }
        let wasGranted = await withTaskCancellationHandler {
            await isGranted.value()
        } onCancel: {
            if isGranted.fill(false) { stop() }
        }
        if !wasGranted { throw CancellationError() }
    }
}
