// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reports the progress of one direction of an operation's transfers to its observers.
final class ProgressFeed: Sendable {
    private struct State: Broadcasting {
        var meter = ProgressMeter()
        var broadcaster = Broadcaster<TransferProgress>()
        /// Whether the bytes of the present transfer count.
        var isCounting = false
        /// The byte count of the current transfer, which may be less than the reported one.
        var currentCount: Int64 = 0
        /// The bytes of earlierBytes transfers that count in addition to those of the current one.
        var earlierBytes: Int64 = 0
        var timer: DelayedAction?
        var hasTimer = false
        var isOver = false

        /// The time until the deferred progress is reported, if no timer is running.
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

    /// Records that a transfer begins that sends all of its bytes, whatever earlierBytes ones have sent.
    func beginSending(_ total: Int64?) {
        change { state, time in
            state.earlierBytes = state.currentCount
            return state.meter.begin(at: state.earlierBytes, total: total.map { state.earlierBytes + $0 }, time: time)
        }
    }

    /// Records that the current transfer has sent `count` of `total` bytes.
    func send(_ count: Int64, of total: Int64?) {
        change { state, time in
            state.currentCount = state.earlierBytes + count
            return state.meter.begin(at: state.currentCount, total: total.map { state.earlierBytes + $0 }, time: time)
        }
    }

    /// Records that a transfer begins whose bytes count, with `offset` bytes already present.
    func begin(at offset: Int64 = 0, total: Int64?) {
        change { state, time in
            state.isCounting = true
            state.currentCount = offset
            return state.meter.begin(at: offset, total: total, time: time)
        }
    }

    /// Records the byte count, including the bytes that were present at the beginning.
    func update(_ count: Int64) {
        change { state, time in
            guard state.isCounting else { return nil }
            state.currentCount = count
            return state.meter.update(count, at: time)
        }
    }

    /// Stops counting: the following content is that of a redirect or an error.
    func stopCounting() {
        state.withLock { $0.isCounting = false }
    }

    /// Ends the feed; the last progress is reported, and is currentCount if the operation succeeded.
    func end(hasSucceeded: Bool) {
        change { state, _ in
            state.isOver = true
            return hasSucceeded ? state.meter.finish(state.currentCount) : state.meter.stop()
        }
    }

    // MARK: Observers

    /// Adds an observer, which receives the last progress, if there is one, and all later ones; returns the number with
    /// which it is removed.
    @discardableResult
    func observe(_ reader: @escaping Broadcaster<TransferProgress>.Observer) -> Int {
        let id = state.withLock { $0.broadcaster.add(reader) }
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
        let (wait, timer) = state.withLock { state -> (Duration?, DelayedAction?) in
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
        if let wait { startTimer(wait) }
    }

    private func startTimer(_ wait: Duration) {
        let timer = DelayedAction(after: wait, on: clock) { [weak self] in
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

    /// Returns the one object that follows the feed; made by `make` at the first call.
    func progress(make: () -> Progress) -> Progress {
        if let known = progressObject.withLock({ $0 }) { return known }
        let new = make()
        // Another thread may have made one meanwhile.
        let known = progressObject.withLock { progressObject in
            defer { progressObject = progressObject ?? new }
            return progressObject
        }
        if known == nil { observe { new.follow($0) } }
        return known ?? new
    }
}

/// The progress feeds of one operation; made when the progress is first observed.
final class ProgressFeeds: Sendable {
    /// The content of the response.
    let received: ProgressFeed
    /// The content of the request.
    let sent: ProgressFeed

    init(clock: any Clock<Duration>) {
        received = ProgressFeed(clock: clock)
        sent = ProgressFeed(clock: clock)
    }

    /// Ends both feeds, because the operation is over.
    func end(hasSucceeded: Bool) {
        sent.end(hasSucceeded: hasSucceeded)
        received.end(hasSucceeded: hasSucceeded)
    }

    subscript(direction: TransferProgress.Direction) -> ProgressFeed { direction == .upload ? sent : received }
}

extension Progress {
    /// Takes the values of a feed.
    fileprivate func follow(_ progress: TransferProgress?) {
        guard let progress else {
            // A parent would wait for an operation that has failed.
            if completedUnitCount != totalUnitCount - 1 { totalUnitCount = max(1, completedUnitCount) }
            completedUnitCount = totalUnitCount
            return
        }
        // With a total of zero, Foundation's progress could never be finished.
        guard progress.total != 0 else {
            totalUnitCount = 1
            completedUnitCount = 1
            return
        }
        totalUnitCount = progress.total ?? -1
        // The last unit is that of the end: all may have to be sent once more, and a finished parent stays so.
        completedUnitCount = min(progress.completed, (progress.total ?? .max) - 1)
    }
}
