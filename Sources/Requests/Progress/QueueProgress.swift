// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The total progress of many requests.
///
/// The counts restart with the first request that is added after all previous requests have finished.
public struct QueueProgress: Sendable, Hashable, CustomStringConvertible {
    /// The number of finished requests, successful or not.
    public var finished: Int
    /// The number of all requests.
    public var count: Int
    /// The number of response bytes received.
    public var received: Int64
    /// The number of body bytes sent.
    public var sent: Int64
    /// The completed fraction, from 0 to 1.
    ///
    /// Every request has the same weight; a running request counts with its known progress. Without requests, the
    /// fraction is 1. The fraction decreases when requests are added.
    public var fraction: Double

    /// Creates a progress value.
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
    /// Unavailable, because this is a member of another type.
    @available(*, unavailable, message: "`received` and `sent` count bytes, `finished` counts requests")
    public var completed: Int64 { received }

    /// Unavailable, because this is a member of another type.
    @available(*, unavailable, message: "`count` is the number of requests; the total number of bytes isn't known")
    public var total: Int64? { nil }
}
