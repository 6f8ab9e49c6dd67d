// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Suspends a task until a callback is called, for example by a timer or a limiter.
package enum Suspension {
    /// Waits until a callback is called or the task is cancelled, whichever happens first.
    ///
    /// - Parameters:
    ///   - begin: Starts the operation to wait for, and returns a closure that cancels it. Its callback `resume` must
    ///     be called at most once, and may be called before `begin` returns.
    ///   - late: Called if `resume` is called after the cancellation, to give back what was granted.
    /// - Throws: `CancellationError` if the task is cancelled before `resume` is called.
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
