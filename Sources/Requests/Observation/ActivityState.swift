// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Which operations aren't over, and what has been told of it.
///
/// Each input returns what is to be told now, by the caller alone: as long as it tells, no one else is asked to.
struct ActivityState {
    private var operations: Set<UInt64> = []
    private var toldActive = false
    private var isTelling = false

    var count: Int { operations.count }

    mutating func begin(_ id: UInt64) -> Bool? {
        operations.insert(id)
        return next()
    }

    mutating func end(_ id: UInt64) -> Bool? {
        operations.remove(id)
        return next()
    }

    /// The caller has told what it was given; it goes on with what has changed meanwhile.
    mutating func told(_ isActive: Bool) -> Bool? {
        toldActive = isActive
        isTelling = false
        return next()
    }

    private mutating func next() -> Bool? {
        guard !isTelling, toldActive == operations.isEmpty else { return nil }
        isTelling = true
        return !operations.isEmpty
    }
}
