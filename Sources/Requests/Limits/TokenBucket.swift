// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A token bucket that is refilled at a steady rate up to its capacity.
///
/// The level is stored as a duration. A token costs one interval, and elapsed time is multiplied by `count` before it
/// is added. Nothing is rounded, so the level stays exact, no matter how often it is updated.
///
/// All times are durations since the bucket was created. A time that is earlier than a previously passed time has no
/// effect.
struct TokenBucket: Sendable {
    private let count: Int
    private let interval: Duration
    private let capacity: Duration
    private var level: Duration
    private var lastUpdate = Duration.zero
    private var pauseEnd = Duration.zero

    /// Creates a full bucket.
    ///
    /// To avoid overflows, `count` and `burst` are clamped to 1...10⁹, and `interval` is clamped to 0...10⁹ seconds. An
    /// interval of zero means no limit.
    init(_ count: Int, per interval: Duration, burst: Int? = nil) {
        let range = 1...1_000_000_000
        self.count = count.clamped(to: range)
        self.interval = interval.clamped
        capacity = self.interval * (burst ?? count).clamped(to: range)
        level = capacity
    }

    /// Returns the number of available tokens.
    mutating func available(at time: Duration) -> Int {
        refill(to: time)
        guard lastUpdate >= pauseEnd else { return 0 }
        return interval == .zero ? .max : level.quotient(by: interval)
    }

    /// Removes tokens; the caller must not remove more than are available.
    mutating func take(_ tokens: Int) {
        guard interval > .zero else { return }
        level -= interval * tokens
    }

    /// Returns the time at which the next token will be available if no token is taken before then.
    mutating func nextToken(at time: Duration) -> Duration {
        refill(to: time)
        guard level < interval else { return max(lastUpdate, pauseEnd) }
        return max(lastUpdate + (interval - level).divided(by: count), pauseEnd)
    }

    /// Withholds all tokens for a while; never shortens a pause.
    ///
    /// A server that has requested a pause must not be flooded when the pause ends. So the bucket then holds at most
    /// one token, and is refilled from there.
    mutating func pause(for duration: Duration, at time: Duration) {
        refill(to: time)
        level = min(level, interval)
        pauseEnd = max(pauseEnd, lastUpdate + duration.clamped)
    }

    private mutating func refill(to time: Duration) {
        if lastUpdate < pauseEnd { fill(to: min(time, pauseEnd), capacity: interval) }
        fill(to: time, capacity: capacity)
    }

    private mutating func fill(to time: Duration, capacity: Duration) {
        guard time > lastUpdate else { return }
        defer { lastUpdate = time }
        guard level < capacity else { return }
        // Compare before multiplying, because the product could overflow if years have elapsed.
        let timeUntilFull = (capacity - level).divided(by: count)
        level = time - lastUpdate >= timeUntilFull ? capacity : level + (time - lastUpdate) * count
    }
}

extension Duration {
    /// Returns the integer quotient of two durations, rounded down; the quotient must not exceed 10⁹.
    ///
    /// Swift's division of durations returns a floating-point number, which is off by less than one here. So this
    /// method corrects the result.
    fileprivate func quotient(by divisor: Duration) -> Int {
        let guess = Int(self / divisor)
        if divisor * guess > self { return guess - 1 }
        return divisor * (guess + 1) > self ? guess : guess + 1
    }

    /// Returns the duration divided by `count`, rounded up.
    fileprivate func divided(by count: Int) -> Duration {
        (self + Duration(secondsComponent: 0, attosecondsComponent: Int64(count - 1))) / count
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
