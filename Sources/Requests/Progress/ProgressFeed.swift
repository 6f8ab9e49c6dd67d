// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Tells how far one direction of an operation's transfers has come, to whoever has asked.
final class ProgressFeed: Sendable {
    private struct State: Sendable {
        var meter = ProgressMeter()
        var bulletin = Bulletin<TransferProgress>()
        /// Whether the bytes of the present transfer are those that count.
        var isCounting = false
        /// How many bytes the present transfer has, which may be less than what was told.
        var exact: Int64 = 0
        var timer: DelayedAction?
        var hasTimer = false
        var isOver = false

        /// How long to wait before what was held back is told, where nobody waits for that.
        mutating func startTimer(at time: Duration) -> Duration? {
            guard !isOver, !hasTimer, let due = meter.due else { return nil }
            hasTimer = true
            return max(.zero, due - time)
        }
    }

    private let clock: any Clock<Duration>
    private let time: @Sendable () -> Duration
    private let state = Locked(State())

    init(clock: any Clock<Duration>) {
        self.clock = clock
        time = clock.stopwatch()
    }

    // MARK: What happens

    /// So many bytes are there of so many, in a transfer that tells both at once.
    func reach(_ count: Int64, of total: Int64?) {
        change { state, time in
            state.exact = count
            return state.meter.begin(at: count, total: total, time: time)
        }
    }

    /// A transfer begins whose bytes count; `offset` of them are there already.
    func begin(at offset: Int64 = 0, total: Int64?) {
        change { state, time in
            state.isCounting = true
            state.exact = offset
            return state.meter.begin(at: offset, total: total, time: time)
        }
    }

    /// So many bytes are there, with those that were there at the beginning.
    func reach(_ count: Int64) {
        change { state, time in
            guard state.isCounting else { return nil }
            state.exact = count
            return state.meter.reach(count, at: time)
        }
    }

    /// What comes from now on doesn't count: it is the content of a redirect or an error.
    func rest() {
        state.withLock { $0.isCounting = false }
    }

    /// It is over; the last progress is told, and is exact where all went well.
    func end(isWhole: Bool) {
        change { state, _ in
            state.isOver = true
            return isWhole ? state.meter.finish(state.exact) : state.meter.stop()
        }
    }

    // MARK: Who wants to know

    /// Adds somebody who is told what was told last, if anything, and all that is told from now on; gives the number to
    /// remove them by.
    @discardableResult
    func observe(_ reader: @escaping Bulletin<TransferProgress>.Reader) -> Int {
        let id = state.withLock { $0.bulletin.add(reader) }
        tell()
        return id
    }

    /// Tells somebody no more.
    func remove(_ id: Int) {
        state.withLock { $0.bulletin.remove(id) }
    }

    // MARK: Telling

    private func change(_ change: @Sendable (inout State, Duration) -> TransferProgress?) {
        let time = time()
        let (wait, timer) = state.withLock { state -> (Duration?, DelayedAction?) in
            guard !state.isOver else { return (nil, nil) }
            let news = change(&state, time)
            if let news { state.bulletin.post(news) }
            guard state.isOver else { return (state.startTimer(at: time), nil) }
            state.bulletin.close()
            defer { state.timer = nil }
            return (nil, state.timer)
        }
        tell()
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
            // It may have gone off already.
            if state.hasTimer, !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func tell() {
        while let (readers, progress) = state.withLock({ $0.bulletin.next() }) {
            for read in readers { read(progress) }
            state.withLock { $0.bulletin.told() }
        }
    }
}

/// What tells of the progress of one operation; made when somebody first asks.
final class ProgressFeeds: Sendable {
    /// The content of the response.
    let received: ProgressFeed
    /// The content of the request.
    let sent: ProgressFeed
    private let made = Locked<(received: Progress?, sent: Progress?)>((nil, nil))

    init(clock: any Clock<Duration>) {
        received = ProgressFeed(clock: clock)
        sent = ProgressFeed(clock: clock)
    }

    /// The operation is over.
    func end(isWhole: Bool) {
        sent.end(isWhole: isWhole)
        received.end(isWhole: isWhole)
    }

    /// The one object that follows a feed; made by `make` where there is none.
    func progress(of direction: TransferDirection, make: () -> Progress) -> Progress {
        let new = make()
        let (progress, isNew) = made.withLock { made in
            let known = direction == .upload ? made.sent : made.received
            if let known { return (known, false) }
            if direction == .upload { made.sent = new } else { made.received = new }
            return (new, true)
        }
        if isNew { self[direction].observe { progress.follow($0) } }
        return progress
    }

    subscript(direction: TransferDirection) -> ProgressFeed { direction == .upload ? sent : received }
}

extension Progress {
    /// Takes over what a feed tells.
    fileprivate func follow(_ progress: TransferProgress?) {
        guard let progress else { return }
        // Of nothing, Foundation makes no progress that could be finished.
        guard progress.total != 0 else {
            totalUnitCount = 1
            completedUnitCount = 1
            return
        }
        totalUnitCount = progress.total ?? -1
        completedUnitCount = progress.completed
    }
}
