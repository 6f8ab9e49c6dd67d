// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The logic of a ``RateLimiter``: a bucket of tokens, and a line of those who wait for one.
///
/// A token leaves the bucket in the transition that takes its owner out of the line, so whoever has left the line before
/// costs nothing. As long as somebody waits there is one wake-up under way, unless the priorities are being asked for,
/// whose answers are followed by the next one.
struct RateLimit: Sendable {
    enum Input: Sendable, Hashable {
        /// Somebody new wants a token.
        case arrived(Int, priority: Int)
        /// Somebody no longer wants one.
        case left(Int)
        /// These are the priorities that were asked for.
        case answered([Int: Int])
        /// The sleep of this number is over.
        case woke(Int)
        /// There are to be no tokens for a while.
        case paused(Duration)
    }

    enum Action: Sendable, Hashable {
        /// Ask these for their priorities, then say `answered`.
        case ask([Int])
        /// Tell these, in this order, that they have a token.
        case grant([Int])
        /// Sleep, then say `woke` with the number.
        case sleep(Duration, number: Int)
        /// End the sleep: nobody waits any more.
        case stopSleeping
    }

    /// For how long an answer is believed, where the length of the line doesn't forbid to ask again.
    static let credulity = Duration.milliseconds(100)

    private var bucket: TokenBucket
    private var line = WaitingLine()
    private var isAsking = false
    private var lastAsked = Duration.zero
    /// The number of the sleep that is under way.
    private(set) var sleep: Int?
    private var sleeps = 0

    /// How many wait.
    var count: Int { line.count }

    init(bucket: TokenBucket) {
        self.bucket = bucket
    }

    /// Moves on, and says what to do; `time` is what has passed since the bucket was made.
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
            return []  // Whoever sleeps finds out when it wakes.
        }
        return isAsking ? [] : proceed(at: time)
    }

    private mutating func proceed(at time: Duration) -> [Action] {
        let tokens = bucket.available(at: time)
        // Who gets a token is a question only where there are too few.
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
