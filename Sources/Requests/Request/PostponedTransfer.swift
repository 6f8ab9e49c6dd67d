// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A transfer that begins when what others owe a limiter is made good, unless it is called off before.
///
/// To begin and pause at once would come too late: what is small is over before the pause takes effect.
final class PostponedTransfer: Transfer {
    private let limiter: BandwidthLimiter
    private let state: Locked<PostponedTransferState>
    private let flow = FlowControl()

    /// Makes a transfer that waits.
    ///
    /// - Parameters:
    ///   - pause: How long what is owed takes.
    ///   - limiter: Whom it is owed to.
    ///   - plan: What is done then, and let go of.
    init(for pause: Duration, _ limiter: BandwidthLimiter, _ plan: PostponedTransferState.Plan) {
        self.limiter = limiter
        state = Locked(PostponedTransferState(plan))
        wait(for: pause)
    }

    /// Begins after a while, unless others have taken what would make it good.
    private func wait(for pause: Duration) {
        guard let number = state.withLock({ $0.wait() }) else { return }
        let timer = DelayedAction(after: pause, on: limiter.clock) { [self] in
            if let pause = limiter.owed { return wait(for: pause) }
            guard let begin = state.withLock({ $0.begin() }) else { return }
            let transfer = begin()
            flow.attach(transfer)
            if state.withLock({ $0.keep(transfer) }) { transfer.cancel() }
        }
        if state.withLock({ $0.keep(timer, of: number) }) { timer.cancel() }
    }

    func cancel() {
        switch state.withLock({ $0.cancel() }) {
        case .none: break
        case .giveUp(let giveUp, let timer):
            timer?.cancel()
            giveUp()
        case .cancel(let transfer): transfer.cancel()
        }
    }

    func pause() { flow.set(.user, true) }
    func resume() { flow.set(.user, false) }
}
