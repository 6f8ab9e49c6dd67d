// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A bucket that fills with tokens at a steady rate up to a brim, and from which each piece of work takes one.
///
/// The level is kept in time multiplied by the count: a token costs one interval, and every bit of time that passes
/// brings itself `count` times. So there is nothing to round, and nothing is gained or lost however often it is asked.
///
/// Time is what has passed since the bucket was made full. A time before the last one counts as that.
struct TokenBucket: Sendable {
    private let count: Int
    private let interval: Duration
    private let brim: Duration
    private var level: Duration
    private var now = Duration.zero
    private var pauseEnd = Duration.zero

    /// Makes a full bucket.
    ///
    /// Values that no arithmetic could bear are brought into its range: a count and a burst from one to 10⁹, and an
    /// interval from nothing, with which there is no limit, to 10⁹ seconds.
    init(_ count: Int, per interval: Duration, burst: Int? = nil) {
        let range = 1...1_000_000_000
        self.count = count.clamped(to: range)
        self.interval = interval.clamped
        brim = self.interval * (burst ?? count).clamped(to: range)
        level = brim
    }

    /// Returns the number of tokens that can be taken.
    mutating func available(at time: Duration) -> Int {
        refill(to: time)
        guard now >= pauseEnd else { return 0 }
        return interval == .zero ? .max : level.quotient(by: interval)
    }

    /// Takes as many tokens as there were, or fewer.
    mutating func take(_ tokens: Int) {
        guard interval > .zero else { return }
        level -= interval * tokens
    }

    /// The first moment at which there is a token, if none is taken before.
    mutating func nextToken(at time: Duration) -> Duration {
        refill(to: time)
        guard level < interval else { return max(now, pauseEnd) }
        return max(now + (interval - level).divided(by: count), pauseEnd)
    }

    /// Gives no token for a while, or for longer than it wouldn't anyhow.
    ///
    /// A server that asks for a pause doesn't want it to end with a storm: what the bucket holds then is one token at
    /// most, and it fills from there.
    mutating func pause(for duration: Duration, at time: Duration) {
        refill(to: time)
        level = min(level, interval)
        pauseEnd = max(pauseEnd, now + duration.clamped)
    }

    private mutating func refill(to time: Duration) {
        if now < pauseEnd { fill(to: min(time, pauseEnd), brim: interval) }
        fill(to: time, brim: brim)
    }

    private mutating func fill(to time: Duration, brim: Duration) {
        guard time > now else { return }
        defer { now = time }
        guard level < brim else { return }
        // Time is compared before it is multiplied: years of it would be too much.
        let rest = (brim - level).divided(by: count)
        level = time - now >= rest ? brim : level + (time - now) * count
    }
}

extension Duration {
    /// Returns how often another duration is contained in this one, 10⁹ times at most.
    ///
    /// Swift has only the division of floating-point numbers, which is off by less than one here.
    fileprivate func quotient(by divisor: Duration) -> Int {
        let guess = Int(self / divisor)
        if divisor * guess > self { return guess - 1 }
        return divisor * (guess + 1) > self ? guess : guess + 1
    }

    /// A part of the duration, rounded up.
    fileprivate func divided(by count: Int) -> Duration {
        (self + Duration(secondsComponent: 0, attosecondsComponent: Int64(count - 1))) / count
    }
}

extension Comparable {
    fileprivate func clamped(to range: ClosedRange<Self>) -> Self {
        min(max(self, range.lowerBound), range.upperBound)
    }
}
