// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Adds up the progress of many requests.
struct QueueMeter: Sendable {
    /// What names a request that isn't over.
    typealias ID = ObjectIdentifier

    /// How far one request is.
    private struct Part: Sendable {
        var sent = TransferProgress(completed: 0, total: 0)
        var received = TransferProgress(completed: 0)

        /// From 0 to 1; one that has something to send is half done when that is sent.
        var fraction: Double {
            let received = received.fraction ?? 0
            guard let total = sent.total, total == 0 else { return ((sent.fraction ?? 0) + received) / 2 }
            return received
        }
    }

    private var parts: [ID: Part] = [:]
    private var fractions = 0.0
    private var sum = QueueProgress()

    /// How far all are.
    var progress: QueueProgress {
        var progress = sum
        if sum.count > 0 { progress.fraction = min((Double(sum.finished) + max(0, fractions)) / Double(sum.count), 1) }
        return progress
    }

    /// Adds a request; where all before are over, it is the first.
    ///
    /// - Returns: Whether it wasn't there.
    mutating func add(_ id: ID) -> Bool {
        guard parts[id] == nil else { return false }
        if parts.isEmpty { (sum, fractions) = (QueueProgress(), 0) }
        parts[id] = Part()
        sum.count += 1
        return true
    }

    /// Notes how far a request is.
    mutating func note(_ progress: TransferProgress, _ direction: TransferDirection, of id: ID) {
        guard var part = parts[id] else { return }
        fractions -= part.fraction
        switch direction {
        case .upload:
            sum.sent += progress.completed - part.sent.completed
            part.sent = progress
        case .download:
            sum.received += progress.completed - part.received.completed
            part.received = progress
        }
        fractions += part.fraction
        parts[id] = part
    }

    /// Notes that a request is over.
    mutating func end(_ id: ID) {
        guard let part = parts.removeValue(forKey: id) else { return }
        fractions -= part.fraction
        sum.finished += 1
    }
}

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
