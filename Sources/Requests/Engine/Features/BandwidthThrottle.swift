// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Pauses the transfers of an operation when their limiter requires it: a feature of the operation.
///
/// The transfer of several operations is that of an operation of its own.
final class BandwidthThrottle: OperationObserver {
    private let limiter: BandwidthLimiter

    init(_ limiter: BandwidthLimiter) {
        self.limiter = limiter
    }

    func observe(_ report: OperationReport) {
        guard case .transfer(.began, let transfer) = report, !transfer.isShared else { return }
        let throttle = TransferThrottle(limiter)
        transfer.state.withLock { $0.observers.append(throttle) }
    }
}

/// Pauses one transfer, which it observes, when its limiter requires it.
final class TransferThrottle: OperationObserver {
    private struct State: Sendable {
        var isWaiting = false
        var isOver = false
        var timer: DelayedAction?
        /// The number of bytes sent so far, as reported by the transport.
        var sent: Int64 = 0

        /// Begins to wait; `false` if the throttle already waits.
        mutating func wait() -> Bool {
            guard !isWaiting, !isOver else { return false }
            isWaiting = true
            return true
        }

        /// Returns how many of the sent bytes haven't been counted; zero if the body is sent again.
        mutating func note(sent count: Int64) -> Int {
            defer { sent = count }
            return Int(max(0, count - sent))
        }
    }

    private let limiter: BandwidthLimiter
    private let state = Locked(State())

    init(_ limiter: BandwidthLimiter) {
        self.limiter = limiter
    }

    func observe(_ report: OperationReport) {
        if case .transfer(let report, let transfer) = report { note(report, transfer.flow) }
    }

    /// Counts the bytes of a step of the transfer.
    func note(_ report: TransferReport, _ flow: FlowControl) {
        switch report {
        case .arrived(let count): take(count, of: flow)
        case .sent(let count, _): take(state.withLock { $0.note(sent: count) }, of: flow)
        case .ended: end()
        default: break
        }
    }

    private func take(_ bytes: Int, of flow: FlowControl) {
        if let pause = limiter.take(bytes) { hold(flow, for: pause) }
    }

    private func hold(_ flow: FlowControl, for pause: Duration) {
        guard state.withLock({ $0.wait() }) else { return }
        flow.set(.bandwidth, true)
        wait(pause, flow)
    }

    /// Resumes after a delay, unless other transfers have used the bandwidth meanwhile.
    private func wait(_ pause: Duration, _ flow: FlowControl) {
        let timer = DelayedAction(after: pause, on: limiter.timing.clock) { [weak self] in
            guard let self else { return }
            if let pause = limiter.owed { return wait(pause, flow) }
            // In this order: another thread that pauses in between leaves the check to the next chunk.
            flow.set(.bandwidth, false)
            state.withLock { $0.isWaiting = false }
            // Bytes that were taken in between began no wait.
            if let pause = limiter.owed { hold(flow, for: pause) }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func end() {
        let timer = state.withLock { state in
            state.isOver = true
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }
}
