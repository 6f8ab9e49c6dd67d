// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How far many requests have come together.
///
/// It counts those that were added since there was last nothing to do; the first one after that begins anew.
public struct QueueProgress: Sendable, Hashable, CustomStringConvertible {
    /// How many requests are over, well or not.
    public var finished: Int
    /// How many there are, with those.
    public var count: Int
    /// How many bytes of responses were received.
    public var received: Int64
    /// How many bytes of bodies were sent.
    public var sent: Int64
    /// How much of the whole is done, from 0 to 1: each request counts the same, and one that is under way with what is
    /// known to be done of it.
    ///
    /// Of nothing, all is done. It goes back where requests are added.
    public var fraction: Double

    /// Makes a progress.
    public init(finished: Int = 0, count: Int = 0, received: Int64 = 0, sent: Int64 = 0, fraction: Double = 1) {
        self.finished = finished
        self.count = count
        self.received = received
        self.sent = sent
        self.fraction = fraction
    }

    /// Whether there is nothing to do.
    public var isIdle: Bool { finished == count }

    /// The requests, such as `3 of 10 requests`.
    public var description: String { "\(finished) of \(count) requests" }
}
