// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Prevents deadlocks between refreshes that wait for each other.
///
/// Two credentials of one client can cause a deadlock, if the refresh of each sends a request that needs the other. The
/// detector refuses the wait that would close the cycle, because one failed request is better than a deadlock.
struct RefreshDeadlockDetector: Sendable {
    private struct Wait: Hashable, Sendable {
        let waitingRefreshes: Set<ObjectIdentifier>
        let awaitedRefresh: ObjectIdentifier
    }

    /// The waits of the entire process, because a cycle may involve several clients.
    private static let shared = Locked(RefreshDeadlockDetector())
    private var waits: [Wait] = []

    /// Runs `work`, during which the given refreshes wait for another refresh.
    ///
    /// Returns `nil` without running `work` if the wait would cause a deadlock.
    static func wait<Outcome>(
        _ waiting: Set<ObjectIdentifier>,
        for awaited: ObjectIdentifier,
        _ work: () async throws -> Outcome
    ) async rethrows -> Outcome? {
        guard !waiting.isEmpty else { return try await work() }
        guard shared.withLock({ $0.begin(waiting, for: awaited) }) else { return nil }
        defer { shared.withLock { $0.end(waiting, for: awaited) } }
        return try await work()
    }

    /// Records that the given refreshes wait for another refresh.
    ///
    /// Returns `false` without recording the wait if it would close a cycle.
    ///
    /// - Complexity: O(n²) in the number of waits.
    mutating func begin(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) -> Bool {
        var (reached, count) = (Set([awaited]), 0)
        while reached.count > count {
            count = reached.count
            for wait in waits where !wait.waitingRefreshes.isDisjoint(with: reached) {
                reached.insert(wait.awaitedRefresh)
            }
        }
        guard reached.isDisjoint(with: waiting) else { return false }
        waits.append(Wait(waitingRefreshes: waiting, awaitedRefresh: awaited))
        return true
    }

    /// Removes one recorded wait.
    mutating func end(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) {
        let wait = Wait(waitingRefreshes: waiting, awaitedRefresh: awaited)
        if let index = waits.firstIndex(of: wait) { waits.remove(at: index) }
    }
}
