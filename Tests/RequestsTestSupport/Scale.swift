// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Foundation

/// The scale of the tests: small by default, whole if `REQUESTS_SCALE` is `whole`, as in `Scripts/soak`.
///
/// A small run finds definite faults; a whole one finds faults that occur once in a thousand times.
public enum Scale {
    public static let isWhole = ProcessInfo.processInfo.environment["REQUESTS_SCALE"] == "whole"

    /// The number of rounds of a race.
    public static let races = isWhole ? 1000 : 50
    /// The number of requests on one queue, and of links in a chain.
    public static let requests = isWhole ? 100_000 : 1000
    /// The number of links of chains and arms of fans on a concurrent queue, where Foundation's own cost is quadratic.
    public static let fan = isWhole ? 8000 : 300
    /// The longest time that a test may take once it has its place.
    public static let timeLimit: TimeInterval = isWhole ? 1800 : 180

    /// Returns the number of random inputs for a test; each costs as much as `weight` of the cheapest kind.
    public static func fuzz(weight: Int = 1) -> Int { isWhole ? 2_000_000 / weight : min(400, 100_000 / weight) }

    /// Returns the first value in a small run, the second in a whole one.
    public static func pick<Value>(_ small: Value, whole: Value) -> Value { isWhole ? whole : small }
}
