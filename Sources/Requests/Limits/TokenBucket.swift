// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A token bucket that is refilled at a steady rate up to its capacity.
///
/// The level is stored as a duration. A token costs one interval, and elapsed time is multiplied by `count` before it
/// is added. So nothing is rounded, and the level stays exact, no matter how often it is updated.
///
/// All times are durations since the bucket was created. The clock never runs backward: an earlier time than the last
/// one has no effect.
struct TokenBucket: Sendable {
    private let count: Int
    private let interval: Duration
    private let capacity: Duration
    private var level: Duration
    private var now = Duration.zero
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

    /// Returns the number of tokens that are available.
    mutating func available(at time: Duration) -> Int {
        refill(to: time)
        guard now >= pauseEnd else { return 0 }
        return interval == .zero ? .max : level.quotient(by: interval)
    }

    /// Removes tokens, at most as many as are available.
    mutating func take(_ tokens: Int) {
        guard interval > .zero else { return }
        level -= interval * tokens
    }

    /// Returns the time at which the next token will be available, if none is taken before.
    mutating func nextToken(at time: Duration) -> Duration {
        refill(to: time)
        guard level < interval else { return max(now, pauseEnd) }
        return max(now + (interval - level).divided(by: count), pauseEnd)
    }

    /// Pauses the bucket, so that no tokens are available for a while; never shortens a pause.
    ///
    /// A server that requests a pause mustn't be flooded at its end. So the bucket then holds at most one token, and is
    /// refilled from there.
    mutating func pause(for duration: Duration, at time: Duration) {
        refill(to: time)
        level = min(level, interval)
        pauseEnd = max(pauseEnd, now + duration.clamped)
    }

    private mutating func refill(to time: Duration) {
        if now < pauseEnd { fill(to: min(time, pauseEnd), capacity: interval) }
        fill(to: time, capacity: capacity)
    }

    private mutating func fill(to time: Duration, capacity: Duration) {
        guard time > now else { return }
        defer { now = time }
        guard level < capacity else { return }
        // Compare before multiplying, because the product could overflow if years have elapsed.
        let timeUntilFull = (capacity - level).divided(by: count)
        level = time - now >= timeUntilFull ? capacity : level + (time - now) * count
    }
}

extension Duration {
    /// Returns the integer quotient of two durations; it must not exceed 10⁹.
    ///
    /// Swift's division of durations returns a floating-point number, which is off by less than one here. So the result
    /// is corrected.
    fileprivate func quotient(by divisor: Duration) -> Int {
        let guess = Int(self / divisor)
        if divisor * guess > self { return guess - 1 }
        return divisor * (guess + 1) > self ? guess : guess + 1
    }

    /// Returns the quotient, rounded up.
    fileprivate func divided(by count: Int) -> Duration {
        (self + Duration(secondsComponent: 0, attosecondsComponent: Int64(count - 1))) / count
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
