// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What was removed lately, so that a response that was asked for before isn't kept afterwards.
///
/// Without that, the answer to a request that was on its way when a user logged out, or changed what it is about, would
/// come in, be kept, and be shown again.
struct CacheRemovals: Sendable {
    /// Counts removals: what was read from a file before one must not be put in memory after it.
    private(set) var generation = 0
    private var everything: Date?
    private var resources: [String: Date] = [:]

    /// Notes that these resources were removed.
    mutating func note(_ removed: Set<String>, at now: Date) {
        generation += 1
        for resource in removed { resources[resource] = now }
        guard resources.count > Self.limit else { return }
        // Forgetting which it were costs requests that are under way now their place, and nobody else.
        everything = resources.values.reduce(everything ?? .distantPast, max)
        resources = [:]
    }

    /// Notes that everything was removed.
    mutating func noteAll(at now: Date) {
        generation += 1
        everything = now
        resources = [:]
    }

    /// Whether the answer to a request of that time may be outdated.
    ///
    /// A removal in the future is one before the clock was set back, and no longer says anything.
    func outdate(_ resource: String, askedAt time: Date, now: Date) -> Bool {
        [everything, resources[resource]].contains { removal in
            removal.map { time < $0 && $0 <= now } ?? false
        }
    }

    private static let limit = 1000
}
