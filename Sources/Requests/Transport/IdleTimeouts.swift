// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if canImport(FoundationNetworking)
/// Finds the transfers that have been silent for too long; times are nanoseconds of any steady clock.
///
/// There is one check for all, at the first time at which one could be due. A sign
/// of life costs a look-up, and no timer.
struct IdleTimeouts<ID: Hashable & Sendable>: Sendable {
    private struct Entry {
        let timeout: UInt64
        var due: UInt64
    }

    private var entries: [ID: Entry] = [:]
    /// The time of the next check; `nil` if there is nothing to check.
    private(set) var nextCheck: UInt64?

    /// Starts to watch; returns the time of the next check if it has to be earlier than planned.
    mutating func add(_ id: ID, timeout: UInt64, now: UInt64) -> UInt64? {
        let due = now &+ timeout
        entries[id] = Entry(timeout: timeout, due: due)
        if let nextCheck, nextCheck <= due { return nil }
        nextCheck = due
        return due
    }

    /// Records activity, and restarts the timeout.
    mutating func touch(_ id: ID, now: UInt64) {
        guard let timeout = entries[id]?.timeout else { return }
        // A change in place would allocate three times.
        entries.updateValue(Entry(timeout: timeout, due: now &+ timeout), forKey: id)
    }

    /// Stops watching.
    mutating func remove(_ id: ID) {
        entries[id] = nil
    }

    /// Returns the transfers that have been silent for too long, and stops watching them; and the time of the next
    /// check.
    ///
    /// A check that comes before its time, since an earlier one has been set after it, finds nothing and sets nothing:
    /// else each would bring forth the next, and there would be more of them with every short timeout.
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
