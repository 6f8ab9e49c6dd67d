// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reports the progress of one direction of an operation's transfers to its observers.
final class ProgressFeed: Sendable {
    private struct State: Broadcasting {
        var meter = ProgressMeter()
        var broadcaster = Broadcaster<TransferProgress>()
        /// Whether the bytes of the current transfer count.
        var isCounting = false
        /// The byte count of the current transfer, which may be less than the reported byte count.
        var currentCount: Int64 = 0
        /// The bytes of earlier transfers that count in addition to the bytes of the current transfer.
        var earlierBytes: Int64 = 0
        var timer: DelayedAction?
        var hasTimer = false
        var isOver = false

        /// Returns the time until the deferred progress must be reported, unless a timer is already running.
        mutating func startTimer(at time: Duration) -> Duration? {
            guard !isOver, !hasTimer, let due = meter.due else { return nil }
            hasTimer = true
            return max(.zero, due - time)
        }
    }

    private let clock: any Clock<Duration>
    private let time: @Sendable () -> Duration
    private let state = Locked(State())
    private let progressObject = Locked<Progress?>(nil)

    init(clock: any Clock<Duration>) {
        self.clock = clock
        time = clock.stopwatch()
    }

    // MARK: Events

    /// Records the beginning of a transfer that sends the entire body, even if an earlier transfer has sent a part of
    /// it.
    func beginSending(_ total: Int64?) {
        change { state, time in
            state.earlierBytes = state.currentCount
            return state.meter.begin(at: state.earlierBytes, total: total.map { state.earlierBytes + $0 }, time: time)
        }
    }

    /// Records that the current transfer has sent `count` of `total` bytes.
    func didSend(_ count: Int64, of total: Int64?) {
        change { state, time in
            state.currentCount = state.earlierBytes + count
            return state.meter.begin(at: state.currentCount, total: total.map { state.earlierBytes + $0 }, time: time)
        }
    }

    /// Records the beginning of a transfer whose bytes count, after `offset` bytes from earlier transfers.
    func begin(at offset: Int64 = 0, total: Int64?) {
        change { state, time in
            state.isCounting = true
            state.currentCount = offset
            return state.meter.begin(at: offset, total: total, time: time)
        }
    }

    /// Records the byte count, including the bytes from earlier transfers.
    func update(_ count: Int64) {
        change { state, time in
            guard state.isCounting else { return nil }
            state.currentCount = count
            return state.meter.update(count, at: time)
        }
    }

    /// Stops counting, because the following content belongs to a redirect or an error.
    func stopCounting() {
        state.withLock { $0.isCounting = false }
    }

    /// Ends the feed, and reports the last progress, which is exact if the operation succeeded.
    func end(hasSucceeded: Bool) {
        change { state, _ in
            state.isOver = true
            return hasSucceeded ? state.meter.finish(state.currentCount) : state.meter.stop()
        }
    }

    // MARK: Observers

    /// Adds an observer, which receives the latest progress, if any, and every update after it.
    ///
    /// - Returns: The ID for ``remove(_:)``.
    @discardableResult
    func observe(_ observer: @escaping Broadcaster<TransferProgress>.Observer) -> Int {
        let id = state.withLock { $0.broadcaster.add(observer) }
        state.notifyObservers()
        return id
    }

    /// Removes an observer.
    func remove(_ id: Int) {
        state.withLock { $0.broadcaster.remove(id) }
    }

    // MARK: Reporting

    private func change(_ change: @Sendable (inout State, Duration) -> TransferProgress?) {
        let time = time()
        let (delay, timer) = state.withLock { state -> (Duration?, DelayedAction?) in
            guard !state.isOver else { return (nil, nil) }
            let progress = change(&state, time)
            if let progress { state.broadcaster.publish(progress) }
            guard state.isOver else { return (state.startTimer(at: time), nil) }
            state.broadcaster.close()
            defer { state.timer = nil }
            return (nil, state.timer)
        }
        state.notifyObservers()
        timer?.cancel()
        if let delay { startTimer(delay) }
    }

    private func startTimer(_ delay: Duration) {
        let timer = DelayedAction(after: delay, on: clock) { [weak self] in
            self?.change { state, time in
                (state.timer, state.hasTimer) = (nil, false)
                return state.meter.flush(at: time)
            }
        }
        let isOver = state.withLock { state in
            // The timer may have fired already.
            if state.hasTimer, !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    /// Returns the `Progress` object that follows the feed, created by `make` at the first call.
    func progress(make: () -> Progress) -> Progress {
        if let existing = progressObject.withLock({ $0 }) { return existing }
        let new = make()
        // Another thread may have created an object in the meantime.
        let existing = progressObject.withLock { progressObject in
            defer { progressObject = progressObject ?? new }
            return progressObject
        }
        if existing == nil { observe { new.update($0) } }
        return existing ?? new
    }
}

/// The progress feeds of one operation, created when the progress is first observed.
final class ProgressFeeds: Sendable {
    /// The content of the response.
    let received: ProgressFeed
    /// The content of the request.
    let sent: ProgressFeed

    init(clock: any Clock<Duration>) {
        received = ProgressFeed(clock: clock)
        sent = ProgressFeed(clock: clock)
    }

    /// Ends both feeds, because the operation has ended.
    func end(hasSucceeded: Bool) {
        sent.end(hasSucceeded: hasSucceeded)
        received.end(hasSucceeded: hasSucceeded)
    }

    subscript(direction: TransferProgress.Direction) -> ProgressFeed { direction == .upload ? sent : received }
}

extension Progress {
    /// Copies the values of a feed; `nil` ends the progress.
    fileprivate func update(_ progress: TransferProgress?) {
        guard let progress else {
            // Complete the progress even if the operation failed, because its parent would otherwise wait forever.
            if completedUnitCount != totalUnitCount - 1 { totalUnitCount = max(1, completedUnitCount) }
            completedUnitCount = totalUnitCount
            return
        }
        // With a total of zero, Foundation's `Progress` could never finish.
        guard progress.total != 0 else {
            totalUnitCount = 1
            completedUnitCount = 1
            return
        }
        totalUnitCount = progress.total ?? -1
        // The last unit is reserved for the end, because a retry may send the entire body again. A parent that has
        // finished can't restart.
        completedUnitCount = min(progress.completed, (progress.total ?? .max) - 1)
    }
}
