// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// Calls the receivers of events, off the loop's thread: one after another where that is fast enough, else at a time as
/// many as there are processors, and more when those are held up.
///
/// A receiver decodes, and may take its time or even wait for something. As long as one worker keeps up, there is one:
/// another would only cost a wake-up, and the loop needs a processor, too. There are more where it doesn't keep up, or is
/// busy with one of them for longer, as many as there are processors. When none has got on for some milliseconds, all may
/// be waiting, and there is one more, so that a receiver that waits holds up nobody but itself.
final class CurlDelivery: Sendable {
    private struct State {
        var ready = FIFO<CurlTransfer>()
        var workers = 0
        var idle: [DispatchQueue] = []
        var made = 0
        var progress = 0
        /// The progress that was seen last, and when that was.
        var (seen, seenAt) = (0, UInt64(0))

        var backlog: Int { ready.count }

        mutating func pop() -> CurlTransfer? {
            guard let transfer = ready.popFirst() else { return nil }
            progress &+= 1
            return transfer
        }

        /// A worker's queue, where one more worker is called for.
        mutating func hire(now: UInt64) -> DispatchQueue? {
            guard backlog > 0 else { return nil }
            if progress != seen || workers == 0 { (seen, seenAt) = (progress, now) }
            let stillness = now &- seenAt
            let isBehind = backlog > workers * CurlDelivery.share || stillness >= CurlDelivery.interval / 2
            let isStuck = stillness >= 5 * CurlDelivery.interval
            guard isBehind && workers < CurlDelivery.processors || isStuck && workers < CurlDelivery.mostWorkers else {
                return nil
            }
            // The next one has as long.
            seenAt = now
            workers += 1
            if let queue = idle.popLast() { return queue }
            made += 1
            // A queue of its own gets a thread whenever it needs one; those of the global queues are few.
            return DispatchQueue(label: "Requests.CurlDelivery.\(made)")
        }
    }

    private static let processors = max(2, ProcessInfo.processInfo.activeProcessorCount)
    private static let mostWorkers = 64
    /// How many transfers may wait for each worker before there is another.
    private static let share = 4
    /// How often to look after the workers while there is a backlog, in nanoseconds.
    static let interval: UInt64 = 1_000_000

    private let state = Locked(State())

    /// Has the receivers of transfers called that have something in their mailbox.
    ///
    /// - Parameters:
    ///   - transfers: The transfers.
    ///   - now: The present, in nanoseconds.
    func schedule(_ transfers: [CurlTransfer], now: UInt64) {
        state.withLock { $0.ready.append(contentsOf: transfers) }
        attend(now: now)
    }

    /// Sees to it that the workers get on; to be called again while ``hasBacklog``, each ``interval`` or so.
    func attend(now: UInt64) {
        guard let queue = state.withLock({ $0.hire(now: now) }) else { return }
        queue.async { [self] in work(on: queue) }
    }

    /// Whether a transfer waits for a worker.
    var hasBacklog: Bool { state.withLock { $0.backlog > 0 } }

    /// Whether a transfer waits, and there may be one more worker for it; else those that there are go on alone.
    var needsAttention: Bool {
        state.withLock { $0.backlog > 0 && $0.workers < Self.mostWorkers }
    }

    private func work(on queue: DispatchQueue) {
        while true {
            let transfer = state.withLock { state -> CurlTransfer? in
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
