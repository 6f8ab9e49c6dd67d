// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The refreshes that wait for each other, which keeps a refresh from waiting for itself through others.
///
/// Two credentials of one client can cause that: the refresh of each sends a request that needs the other. The wait
/// that would close the cycle is refused, because an error in one is better than a deadlock of both.
struct RefreshDeadlockDetector: Sendable {
    private struct Wait: Hashable, Sendable {
        let waiting: Set<ObjectIdentifier>
        let awaited: ObjectIdentifier
    }

    /// The waits of the process: a cycle may lead through several clients.
    private static let shared = Locked(RefreshDeadlockDetector())
    private var waits: [Wait] = []

    /// Waits on behalf of some refreshes for another; returns `nil`, without waiting, if that one waits for them.
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

    /// Records that some refreshes wait for another; returns `false`, without recording it, if that one waits for them.
    ///
    /// - Complexity: O(n²) in the number of waits.
    mutating func begin(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) -> Bool {
        var (reached, count) = (Set([awaited]), 0)
        while reached.count > count {
            count = reached.count
            for wait in waits where !wait.waiting.isDisjoint(with: reached) { reached.insert(wait.awaited) }
        }
        guard reached.isDisjoint(with: waiting) else { return false }
        waits.append(Wait(waiting: waiting, awaited: awaited))
        return true
    }

    /// Removes one recorded wait.
    mutating func end(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) {
        let wait = Wait(waiting: waiting, awaited: awaited)
        if let index = waits.firstIndex(of: wait) { waits.remove(at: index) }
    }
}
