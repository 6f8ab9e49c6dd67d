// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Pauses one transfer when its limiter requires it.
final class BandwidthThrottle: Sendable {
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
    private let flow: FlowControl
    private let state = Locked(State())

    init(_ limiter: BandwidthLimiter, _ flow: FlowControl) {
        self.limiter = limiter
        self.flow = flow
    }

    /// Counts the bytes of one event of the transfer.
    func note(_ event: TransferEvent) {
        switch event {
        case .data(let data): take(data.count)
        case .sent(let count, _): take(state.withLock { $0.note(sent: count) })
        case .end: end()
        case .informational, .head, .trailers, .metrics: break
        }
    }

    private func take(_ bytes: Int) {
        if let pause = limiter.take(bytes) { hold(for: pause) }
    }

    private func hold(for pause: Duration) {
        guard state.withLock({ $0.wait() }) else { return }
        flow.set(.bandwidth, true)
        wait(pause)
    }

    /// Resumes after a delay, unless other transfers have used the bandwidth meanwhile.
    private func wait(_ pause: Duration) {
        let timer = DelayedAction(after: pause, on: limiter.timing.clock) { [weak self] in
            guard let self else { return }
            if let pause = limiter.owed { return wait(pause) }
            // In this order: another thread that pauses in between leaves the check to the next chunk.
            flow.set(.bandwidth, false)
            state.withLock { $0.isWaiting = false }
            // Bytes that were taken in between began no wait.
            if let pause = limiter.owed { hold(for: pause) }
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
