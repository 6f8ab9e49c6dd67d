// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fails an operation after a delay.
private final class Deadline: OperationObserver {
    private let timer = Locked<DelayedAction?>(nil)

    func observe(_ step: OperationStep) {
        if case .delivered = step { replace(by: nil) }
    }

    /// Replaces the timer, and cancels the previous one.
    func replace(by next: DelayedAction?) {
        let previous = timer.withLock { timer in
            defer { timer = next }
            return timer
        }
        previous?.cancel()
    }

    deinit { replace(by: nil) }
}

extension AnyRequestOperation {
    /// Fails the operation after a delay; any previous deadline is replaced.
    final func setDeadline(_ duration: Duration) {
        let deadline = observer(Deadline.self) ?? Deadline()
        add(deadline)
        let timer = DelayedAction(after: duration, on: configuration.environment.clock) { [weak self] in
            guard let self else { return }
            let reason = "the deadline of \(duration) has passed"
            handling.fail(RunFailure(RequestError(.deadlineExceeded, phase: phase, reason: reason), in: phase))
        }
        deadline.replace(by: timer)
        // A result that arrived before the timer was stored couldn't cancel it.
        if core.withLock({ $0.result != nil }) { deadline.observe(.delivered) }
    }

    final func endDeadline() {
        observer(Deadline.self)?.observe(.delivered)
    }
}
