// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The logic of a ``RateLimiter``: a bucket of tokens, and a line of waiters.
///
/// A token leaves the bucket in the transition that removes its owner from the line, so a waiter that has left before
/// consumes no token. While there are waiters, one wake-up is scheduled, unless the priorities are being asked for; the
/// answers are followed by the next wake-up.
struct RateLimit: Sendable {
    enum Input: Sendable, Hashable {
        /// A new waiter.
        case arrived(Int, priority: Int)
        /// A waiter withdraws.
        case left(Int)
        /// These are the priorities that were asked for.
        case answered([Int: Int])
        /// The sleep of this number is over.
        case woke(Int)
        /// No tokens are granted for this time.
        case paused(Duration)
    }

    enum Action: Sendable, Hashable {
        /// Ask these for their priorities, then say `answered`.
        case ask([Int])
        /// Grant these a token each, in this order.
        case grant([Int])
        /// Sleep, then say `woke` with the number.
        case sleep(Duration, number: Int)
        /// End the sleep: there are no more waiters.
        case stopSleeping
    }

    /// The time for which a priority counts, if the length of the line permits to ask again.
    static let credulity = Duration.milliseconds(100)

    private var bucket: TokenBucket
    private var line = WaitingLine()
    private var isAsking = false
    private var lastAsked = Duration.zero
    /// The number of the present sleep.
    private(set) var sleep: Int?
    private var sleeps = 0

    /// The number of waiters.
    var count: Int { line.count }

    init(bucket: TokenBucket) {
        self.bucket = bucket
    }

    /// Handles an input, and returns the actions to perform; `time` is the time since the bucket was made.
    mutating func handle(_ input: Input, at time: Duration) -> [Action] {
        switch input {
        case .arrived(let id, let priority):
            line.add(id, priority: priority)
        case .left(let id):
            guard line.remove(id) else { return [] }
        case .answered(let priorities):
            isAsking = false
            line.update(priorities)
            return grant(at: time)
        case .woke(let number):
            guard number == sleep else { return [] }
            sleep = nil
        case .paused(let duration):
            bucket.pause(for: duration, at: time)
            return []  // The present sleep takes the pause into account when it ends.
        }
        return isAsking ? [] : proceed(at: time)
    }

    private mutating func proceed(at time: Duration) -> [Action] {
        let tokens = bucket.available(at: time)
        // Priorities matter only if there are more waiters than tokens.
        guard tokens > 0, tokens < line.count else { return grant(at: time) }
        if time - lastAsked >= Self.credulity { line.doubt() }
        guard line.isCurious else { return grant(at: time) }
        isAsking = true
        lastAsked = time
        return [.ask(Array(line.ids))]
    }

    private mutating func grant(at time: Duration) -> [Action] {
        let tokens = bucket.available(at: time)
        var granted: [Int] = []
        while granted.count < tokens, let id = line.takeFirst() { granted.append(id) }
        bucket.take(granted.count)
        return (granted.isEmpty ? [] : [.grant(granted)]) + (line.isEmpty ? stopSleeping() : startSleeping(at: time))
    }

    private mutating func startSleeping(at time: Duration) -> [Action] {
        guard sleep == nil else { return [] }
        sleeps += 1
        sleep = sleeps
        return [.sleep(bucket.nextToken(at: time) - time, number: sleeps)]
    }

    private mutating func stopSleeping() -> [Action] {
        guard sleep != nil else { return [] }
        sleep = nil
        return [.stopSleeping]
    }
}
