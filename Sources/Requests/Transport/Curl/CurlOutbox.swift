// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The transfers that something has happened to, until that is handed to the workers who tell their receivers: once a
/// turn of the loop, all at once.
///
/// Ends that come from this side, such as cancels and timeouts, have workers of their own: they are told in time also
/// where receivers that wait hold up all others.
///
/// It belongs to the loop's thread, and is a class because libcurl calls back while a transfer is published.
final class CurlOutbox {
    private var touched: [CurlTransfer] = []
    private let delivery = CurlDelivery()
    private let endings = CurlDelivery()

    /// Notes that something has happened to a transfer; false if it is the last of which that was noted.
    ///
    /// Whatever libcurl does for one transfer comes in a row: the lines of a head, the parts of a buffer.
    @discardableResult
    func put(_ transfer: CurlTransfer) -> Bool {
        guard touched.last !== transfer else { return false }
        touched.append(transfer)
        return true
    }

    /// Has told what has happened since the last time.
    func publish(now: UInt64) {
        guard !touched.isEmpty else { return }
        let ready = touched.filter { $0.publish() }
        touched.removeAll(keepingCapacity: true)
        guard !ready.isEmpty else { return }
        let stopped = ready.filter(\.isStopped)
        guard !stopped.isEmpty else { return delivery.schedule(ready, now: now) }
        endings.schedule(stopped, now: now)
        delivery.schedule(ready.filter { !$0.isStopped }, now: now)
    }

    /// Whether a transfer waits, and there may be one more worker for it; else those that there are go on alone.
    var needsAttention: Bool { delivery.needsAttention || endings.needsAttention }

    /// Sees to it that the workers get on.
    func attend(now: UInt64) {
        if delivery.needsAttention { delivery.attend(now: now) }
        if endings.needsAttention { endings.attend(now: now) }
    }
}
#endif
