// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// When libcurl is to look for connections that are over, and how it is brought to.
///
/// It does so when it is to make a connection, and at most once a second. So a handle is run that would make one to a
/// place where there is nothing, and fails at once, without a descriptor or a packet.
struct DeadConnectionReaper {
    /// When the next is due; `nil` if nothing is expected to end.
    private(set) var due: UInt64?
    private var last: UInt64?
    private var handle: CurlHandle?

    /// The time between two checks of libcurl, and some more.
    private static let interval: UInt64 = 1_050_000_000

    /// Notes that a connection may be over after a time.
    mutating func expect(in time: UInt64, now: UInt64) {
        if due == nil { due = now &+ time }
    }

    /// Notes that a connection is over.
    mutating func hurry(now: UInt64) {
        let earliest = max(now, last.map { $0 &+ Self.interval } ?? now)
        due = min(due ?? earliest, earliest)
    }

    /// Sets when the next is due.
    mutating func wait(until due: UInt64?) {
        self.due = due
    }

    /// Has libcurl close the connections that are over.
    mutating func run(in multi: CurlMulti, now: UInt64) {
        last = now
        if handle == nil, let new = ccurl_handle_new() {
            if ccurl_easy_prepare_sweep(new.pointee.easy) == 0 { handle = new } else { ccurl_handle_free(new) }
        }
        guard let easy = handle?.pointee.easy, ccurl_multi_add(multi, easy) == 0 else { return }
        _ = ccurl_multi_act(multi, -1, 0)
        _ = ccurl_multi_remove(multi, easy)
    }

    /// Frees the handle.
    mutating func close() {
        if let handle { ccurl_handle_free(handle) }
        handle = nil
    }
}
#endif
