// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A wait of a call for something that calls back: a timer, a limiter.
///
/// It ends once, by the callback or by a cancel of the task, whichever comes first.
final class Suspension: Sendable {
    private enum State: Sendable {
        case waiting(UnsafeContinuation<Bool, Never>?)
        case resumed
        case cancelled
    }

    private let state = Locked(State.waiting(nil))

    private init() {}

    /// Waits for a callback.
    ///
    /// - Parameters:
    ///   - begin: Begins to wait, and returns what ends that early. It gets the callback, which may come at once; more
    ///     than one call of it has no effect.
    ///   - late: Called if the callback comes after a cancel: what was granted is to be returned.
    /// - Throws: `CancellationError` if the task is cancelled first.
    static func wait(
        _ begin: (_ resume: @escaping @Sendable () -> Void) -> @Sendable () -> Void,
        late: @escaping @Sendable () -> Void = {}
    ) async throws {
        let suspension = Suspension()
        let stop = begin { if !suspension.resume() { late() } }
        let isResumed = await withTaskCancellationHandler {
            await withUnsafeContinuation { suspension.attach($0) }
        } onCancel: {
            if suspension.cancel() { stop() }
        }
        if !isResumed { throw CancellationError() }
    }

    private func attach(_ continuation: UnsafeContinuation<Bool, Never>) {
        let result = state.withLock { state -> Bool? in
            switch state {
            case .waiting:
                state = .waiting(continuation)
                return nil
            case .resumed: return true
            case .cancelled: return false
            }
        }
        if let result { continuation.resume(returning: result) }
    }

    /// Ends the wait; false if it has been cancelled.
    private func resume() -> Bool {
        end(as: .resumed, returning: true)
    }

    private func cancel() -> Bool {
        end(as: .cancelled, returning: false)
    }

    private func end(as next: State, returning value: Bool) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, UnsafeContinuation<Bool, Never>?) in
            switch state {
            case .waiting(let continuation):
                state = next
                return (true, continuation)
            case .resumed: return (value, nil)
            case .cancelled: return (!value, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }
}
