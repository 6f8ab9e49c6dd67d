// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(FoundationNetworking)
/// The idle timeouts of all transfers; times are in nanoseconds, as measured by any monotonic clock.
///
/// A single check is scheduled for all transfers, at the earliest time at which one of them could time out. Recording
/// activity costs only a dictionary lookup, and no timer.
struct IdleTimeouts<ID: Hashable & Sendable>: Sendable {
    private struct Entry {
        let timeout: UInt64
        var due: UInt64
    }

    private var entries: [ID: Entry] = [:]
    /// The time of the next check; `nil` if there is nothing to check.
    private(set) var nextCheck: UInt64?

    /// Starts the timeout of a transfer; returns the time of the next check if it must be earlier than scheduled.
    mutating func add(_ id: ID, timeout: UInt64, now: UInt64) -> UInt64? {
        let due = now &+ timeout
        entries[id] = Entry(timeout: timeout, due: due)
        if let nextCheck, nextCheck <= due { return nil }
        nextCheck = due
        return due
    }

    /// Restarts the timeout of a transfer after activity.
    mutating func touch(_ id: ID, now: UInt64) {
        guard let timeout = entries[id]?.timeout else { return }
        // Mutating the value in place would allocate three times.
        entries.updateValue(Entry(timeout: timeout, due: now &+ timeout), forKey: id)
    }

    /// Stops the timeout of a transfer.
    mutating func remove(_ id: ID) {
        entries[id] = nil
    }

    /// Removes and returns the transfers that have timed out, and returns the time of the next check.
    ///
    /// A check that runs before ``nextCheck`` does nothing, because it has been superseded by a check that was
    /// scheduled for an earlier time. Otherwise, each superseded check would schedule another check, and their number
    /// would grow with every short timeout.
    mutating func check(now: UInt64) -> (expired: [ID], next: UInt64?) {
        guard let nextCheck, nextCheck <= now else { return ([], nil) }
        let expired = entries.filter { $0.value.due <= now }.map(\.key)
        for id in expired { entries[id] = nil }
        let next = entries.values.map(\.due).min()
        self.nextCheck = next
        return (expired, next)
    }
}
#endif
