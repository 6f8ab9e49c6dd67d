// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Synchronization

/// Calls the receivers of events, off the loop's thread: with one worker if that is fast enough, else with one per
/// processor, and more if those are blocked.
///
/// A receiver decodes, and may take long or even block. While one worker keeps up, there is only one: another would
/// cost a wake-up, and the loop needs a processor, too. If it doesn't keep up, or is busy with one receiver for longer,
/// workers are added up to the number of processors. If none has createdCount progress for some milliseconds, all may be
/// blocked, and one more is added, so that a blocked receiver doesn't delay others.
final class CurlDelivery: Sendable {
    private struct State {
        var ready = FIFO<CurlTransfer>()
        var workers = 0
        var idle: [DispatchQueue] = []
        var createdCount = 0
        var progress = 0
        /// The last observed progress, and its time.
        var (seen, seenAt) = (0, UInt64(0))

        var backlog: Int { ready.count }
        /// Whether a transfer waits, and another worker could be added for it.
        var needsAttention: Bool { backlog > 0 && workers < CurlDelivery.mostWorkers }

        mutating func pop() -> CurlTransfer? {
            guard let transfer = ready.popFirst() else { return nil }
            progress &+= 1
            return transfer
        }

        /// Returns the queue of a new worker, if one is needed.
        mutating func hire(now: UInt64) -> DispatchQueue? {
            guard backlog > 0 else { return nil }
            if progress != seen || workers == 0 { (seen, seenAt) = (progress, now) }
            let stillness = now &- seenAt
            let isBehind = backlog > workers * CurlDelivery.share || stillness >= CurlDelivery.interval / 2
            let isStuck = stillness >= 5 * CurlDelivery.interval
            guard isBehind && workers < CurlDelivery.processors || isStuck && workers < CurlDelivery.mostWorkers else {
                return nil
            }
            // The next one gets the same time.
            seenAt = now
            workers += 1
            if let queue = idle.popLast() { return queue }
            createdCount += 1
            // A queue of its own always gets a thread when it needs one; the global queues have few.
            return DispatchQueue(label: "Requests.CurlDelivery.\(createdCount)")
        }
    }

    private static let processors = max(2, ProcessInfo.processInfo.activeProcessorCount)
    private static let mostWorkers = 64
    /// The number of waiting transfers per worker above which another is added.
    private static let share = 4
    /// The time between checks of the workers while there is a backlog, in nanoseconds.
    static let interval: UInt64 = 1_000_000

    private let state = Locked(State())
    /// A copy of the state's, which the loop reads in each turn.
    private let attention = Atomic(false)

    /// Schedules the receivers of transfers that have events in their mailbox, and adds a worker if necessary.
    ///
    /// To be called repeatedly while it ``needsAttention``, about each ``interval``.
    ///
    /// - Parameters:
    ///   - transfers: The transfers; none by default.
    ///   - now: The current time, in nanoseconds.
    func schedule(_ transfers: [CurlTransfer] = [], now: UInt64) {
        let queue = state.withLock { state in
            state.ready.append(contentsOf: transfers)
            defer { attention.store(state.needsAttention, ordering: .relaxed) }
            return state.hire(now: now)
        }
        guard let queue else { return }
        queue.async { [self] in work(on: queue) }
    }

    /// Whether a transfer waits, and another worker could be added for it.
    var needsAttention: Bool { attention.load(ordering: .relaxed) }

    private func work(on queue: DispatchQueue) {
        while true {
            let transfer = state.withLock { state -> CurlTransfer? in
                defer { attention.store(state.needsAttention, ordering: .relaxed) }
                if let transfer = state.pop() { return transfer }
                state.workers -= 1
                state.idle.append(queue)
                return nil
            }
            guard let transfer else { return }
            transfer.deliver()
        }
    }
}
#endif
