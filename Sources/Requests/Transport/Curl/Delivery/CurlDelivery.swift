// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation
import Synchronization

/// Calls the receivers of events on worker queues instead of the loop's thread.
///
/// A receiver decodes responses, and may be slow or even block. As long as one worker keeps up, there is only one,
/// because a second worker would cost a wake-up, and the loop needs a processor as well. If the worker doesn't keep up,
/// or one receiver takes too long, workers are added up to the number of processors. If no worker makes progress for
/// some milliseconds, all of them may be blocked. Then one more is added, so that blocked receivers don't delay the
/// others.
final class CurlDelivery: Sendable {
    private struct State {
        var ready = FIFO<CurlTransfer>()
        var workers = 0
        var idle: [DispatchQueue] = []
        var createdCount = 0
        var progress = 0
        /// The last observed progress, and its time.
        var (lastProgress, lastProgressTime) = (0, UInt64(0))

        var backlog: Int { ready.count }
        /// Whether a transfer is waiting for a worker, and another worker could be added for it.
        var needsWorkerCheck: Bool { backlog > 0 && workers < CurlDelivery.maximumWorkers }

        mutating func pop() -> CurlTransfer? {
            guard let transfer = ready.popFirst() else { return nil }
            progress &+= 1
            return transfer
        }

        /// Returns the queue of a new worker if one is needed.
        mutating func addWorkerIfNeeded(now: UInt64) -> DispatchQueue? {
            guard backlog > 0 else { return nil }
            if progress != lastProgress || workers == 0 { (lastProgress, lastProgressTime) = (progress, now) }
            let stalledTime = now &- lastProgressTime
            let isBehind = backlog > workers * CurlDelivery.backlogPerWorker || stalledTime >= CurlDelivery.interval / 2
            let isStuck = stalledTime >= 5 * CurlDelivery.interval
            guard
                isBehind && workers < CurlDelivery.processors || isStuck && workers < CurlDelivery.maximumWorkers
            else { return nil }
            // Restart the measurement, so that the next worker is added only after the same delay.
            lastProgressTime = now
            workers += 1
            if let queue = idle.popLast() { return queue }
            createdCount += 1
            // A separate queue always gets a thread when it needs one, but the global queues have only a few threads.
            return DispatchQueue(label: "Requests.CurlDelivery.\(createdCount)")
        }
    }

    private static let processors = max(2, ProcessInfo.processInfo.activeProcessorCount)
    private static let maximumWorkers = 64
    /// The number of waiting transfers per worker above which another worker is added.
    private static let backlogPerWorker = 4
    /// The time between checks of the workers while there is a backlog, in nanoseconds.
    static let interval: UInt64 = 1_000_000

    private let state = Locked(State())
    /// A copy of the state's `needsWorkerCheck`, which the loop reads in each iteration.
    private let workerCheck = Atomic(false)

    /// Schedules the receivers of transfers that have events in their mailboxes, and adds a worker if necessary.
    ///
    /// Call this about once per ``interval`` while ``needsWorkerCheck`` is true.
    ///
    /// - Parameters:
    ///   - transfers: The transfers; none by default.
    ///   - now: The current time, in nanoseconds.
    func schedule(_ transfers: [CurlTransfer] = [], now: UInt64) {
        let queue = state.withLock { state in
            state.ready.append(contentsOf: transfers)
            defer { workerCheck.store(state.needsWorkerCheck, ordering: .relaxed) }
            return state.addWorkerIfNeeded(now: now)
        }
        guard let queue else { return }
        queue.async { [self] in work(on: queue) }
    }

    /// Whether a transfer is waiting for a worker, and another worker could be added for it.
    var needsWorkerCheck: Bool { workerCheck.load(ordering: .relaxed) }

    private func work(on queue: DispatchQueue) {
        while true {
            let transfer = state.withLock { state -> CurlTransfer? in
                defer { workerCheck.store(state.needsWorkerCheck, ordering: .relaxed) }
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
