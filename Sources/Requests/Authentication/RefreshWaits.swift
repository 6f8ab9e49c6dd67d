// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Which refreshes wait for which, so that none waits for itself by way of others.
///
/// Two credentials on one client can come to that: the refresh of each sends a request that wants the other. The wait
/// that would close the circle is refused; an error in the one is better than silence in both.
struct RefreshWaits: Sendable {
    private struct Wait: Hashable, Sendable {
        let waiting: ObjectIdentifier
        let awaited: ObjectIdentifier
    }

    /// Those of the process: the circle may lead over several clients.
    static let shared = Locked(RefreshWaits())
    private var counts: [Wait: Int] = [:]

    /// Notes that some refreshes wait for another; false, and nothing is noted, where that one waits for them.
    ///
    /// - Complexity: O(n) in the number of waits.
    mutating func begin(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) -> Bool {
        var reached: Set = [awaited]
        var frontier = [awaited]
        while let next = frontier.popLast() {
            if waiting.contains(next) { return false }
            for wait in counts.keys where wait.waiting == next && reached.insert(wait.awaited).inserted {
                frontier.append(wait.awaited)
            }
        }
        for refresh in waiting { counts[Wait(waiting: refresh, awaited: awaited), default: 0] += 1 }
        return true
    }

    /// Takes back what was noted, once.
    mutating func end(_ waiting: Set<ObjectIdentifier>, for awaited: ObjectIdentifier) {
        for refresh in waiting {
            let wait = Wait(waiting: refresh, awaited: awaited)
            guard let count = counts[wait] else { continue }
            counts[wait] = count == 1 ? nil : count - 1
        }
    }
}
