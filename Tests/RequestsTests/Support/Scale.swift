// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How much a storm is: small in every run, whole where `REQUESTS_SOAK` is set.
enum Scale {
    static let isWhole = ProcessInfo.processInfo.environment["REQUESTS_SOAK"] != nil
    /// Requests on one queue, links of a chain.
    static let requests = isWhole ? 100_000 : 2000
    /// Links of chains and arms of fans on a concurrent queue, where Foundation's own cost is quadratic.
    static let fan = isWhole ? 8000 : 1000
    /// How often a race is run.
    static let races = 1000
}
