// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// Decides when libcurl should discard dead connections, and makes it do so.
///
/// libcurl checks its connections only when it is about to open another connection, and at most once a second. So we
/// run a dummy handle for an unreachable address: it fails immediately, without using a file descriptor or sending a
/// packet.
struct DeadConnectionReaper {
    /// The time of the next sweep; `nil` if no connection is expected to close.
    private(set) var due: UInt64?
    private var last: UInt64?
    private var handle: CurlHandle?

    /// The minimum time between two sweeps: libcurl's own interval of one second, with a margin.
    private static let interval: UInt64 = 1_050_000_000

    /// Schedules a sweep after the given time, when a connection may have closed, unless a sweep is already scheduled.
    mutating func schedule(in time: UInt64, now: UInt64) {
        if due == nil { due = now &+ time }
    }

    /// Schedules a sweep as soon as possible, because a connection has closed.
    mutating func scheduleSoon(now: UInt64) {
        let earliest = max(now, last.map { $0 &+ Self.interval } ?? now)
        due = min(due ?? earliest, earliest)
    }

    /// Sets the time of the next sweep.
    mutating func reschedule(at due: UInt64?) {
        self.due = due
    }

    /// Closes the dead connections.
    mutating func run(in multi: CurlMulti, now: UInt64) {
        last = now
        if handle == nil, let new = ccurl_handle_new() {
            if ccurl_easy_prepare_sweep(new.pointee.easy) == 0 { handle = new } else { ccurl_handle_free(new) }
        }
        guard let easy = handle?.pointee.easy, ccurl_multi_add(multi, easy) == 0 else { return }
        _ = ccurl_multi_act(multi, -1, 0)
        _ = ccurl_multi_remove(multi, easy)
    }

    mutating func close() {
        if let handle { ccurl_handle_free(handle) }
        handle = nil
    }
}
#endif
