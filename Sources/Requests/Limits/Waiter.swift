// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Someone who waits at a limit.
struct Waiter: Sendable {
    /// Tells how urgent it is just now.
    ///
    /// It is somebody else's code, and may be slow: it is never called under a lock.
    let priority: @Sendable () -> Int
    /// Called when the turn has come.
    let granted: @Sendable () -> Void
}

/// Those who wait at a limit, by the number that its logic knows them by.
struct Waiters: Sendable {
    private var waiters: [Int: Waiter] = [:]
    private var lastID = 0

    /// Takes someone in, and gives the number.
    mutating func add(_ waiter: Waiter) -> Int {
        lastID += 1
        waiters[lastID] = waiter
        return lastID
    }

    /// Lets someone go.
    ///
    /// Whoever calls keeps what is returned until the lock is free: with it go objects of others.
    mutating func remove(_ id: Int) -> Waiter? {
        waiters.removeValue(forKey: id)
    }

    /// Those of some numbers, who are there as long as the logic has them in its line.
    func find(_ ids: [Int]) -> [Int: Waiter] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in waiters[id].map { (id, $0) } })
    }
}
