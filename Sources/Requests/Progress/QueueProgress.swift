// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The common progress of many requests.
///
/// It counts the requests that were added since there was last nothing to do; the first one after that starts it again.
public struct QueueProgress: Sendable, Hashable, CustomStringConvertible {
    /// The number of requests that are over, successfully or not.
    public var finished: Int
    /// The number of all requests.
    public var count: Int
    /// The number of received bytes of responses.
    public var received: Int64
    /// The number of sent bytes of bodies.
    public var sent: Int64
    /// The completed fraction, from 0 to 1: each request counts the same, a running one with its known progress.
    ///
    /// It is 1 without requests. It decreases when requests are added.
    public var fraction: Double

    /// Makes a progress.
    public init(finished: Int = 0, count: Int = 0, received: Int64 = 0, sent: Int64 = 0, fraction: Double = 1) {
        self.finished = finished
        self.count = count
        self.received = received
        self.sent = sent
        self.fraction = fraction
    }

    /// Whether there are no unfinished requests.
    public var isIdle: Bool { finished == count }

    /// The requests, such as `3 of 10 requests`.
    public var description: String { "\(finished) of \(count) requests" }
}

extension QueueProgress {
    /// Refuses the name of another type's member.
    @available(*, unavailable, message: "`received` and `sent` count bytes, `finished` counts requests")
    public var completed: Int64 { received }

    /// Refuses the name of another type's member.
    @available(*, unavailable, message: "`count` is the number of requests; the total number of bytes isn't known")
    public var total: Int64? { nil }
}
