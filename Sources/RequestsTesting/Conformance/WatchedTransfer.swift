// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// One transfer of a check: what is reported of it, and its handle.
final class WatchedTransfer: Sendable {
    private struct State {
        var log = EventLog()
        var handle: (any Transfer)?
        var isCancelled = false
        var isPaused = false
        var duration = Duration.zero
    }

    /// The request in a few words.
    let name: String
    /// Opens with the head.
    let head = Gate()
    /// Opens with the first content.
    let content = Gate()
    /// Opens with the first end.
    let end = Gate()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// What was reported so far.
    var log: EventLog { state.withLock { $0.log } }

    /// How long it took until the first end was reported, however late somebody is told who waits for that.
    var duration: Duration { state.withLock { $0.duration } }

    /// Sends the request; `react` is called inside of every event.
    func start(
        _ request: TransportRequest,
        over transport: any HTTPTransport,
        react: @escaping @Sendable (TransferEvent, WatchedTransfer) -> Void
    ) {
        let start = ContinuousClock.now
        let handle = transport.send(request) { [self] event in
            state.withLock { state in
                if case .end = event, !state.log.hasEnded { state.duration = ContinuousClock.now - start }
                state.log.begin(event)
            }
            react(event, self)
            state.withLock { $0.log.finish() }
            switch event {
            case .head: head.open()
            case .data: content.open()
            case .end: end.open()
            case .informational, .sent, .metrics: break
            }
        }
        let (isCancelled, isPaused) = state.withLock { state in
            state.handle = handle
            return (state.isCancelled, state.isPaused)
        }
        if isPaused {
            handle.pause()
            // Whoever has wished for the opposite meanwhile may have been told before.
            if !state.withLock(\.isPaused) { handle.resume() }
        }
        if isCancelled { handle.cancel() }
    }

    // What is wished for before there is a handle, since an event may come before `send` has returned, is done when
    // there is one.

    func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    func pause() { setPaused(true)?.pause() }
    func resume() { setPaused(false)?.resume() }

    private func setPaused(_ isPaused: Bool) -> (any Transfer)? {
        state.withLock { state in
            state.isPaused = isPaused
            return state.handle
        }
    }
}
