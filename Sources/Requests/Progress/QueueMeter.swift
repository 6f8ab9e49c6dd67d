// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Adds up the progress of many requests.
struct QueueMeter: Sendable {
    /// The identity of an unfinished request.
    typealias ID = ObjectIdentifier

    /// The progress of one request.
    private struct Part: Sendable {
        var sent = TransferProgress(completed: 0, total: 0)
        var received = TransferProgress(completed: 0)

        /// The completed fraction, from 0 to 1; a request with a body is half complete when the body is sent.
        var fraction: Double {
            let received = received.fraction ?? 0
            guard let total = sent.total, total == 0 else { return ((sent.fraction ?? 0) + received) / 2 }
            return received
        }
    }

    private var parts: [ID: Part] = [:]
    private var sumOfFractions = 0.0
    private var total = QueueProgress()

    /// The total progress of all requests.
    var progress: QueueProgress {
        var progress = total
        if total.count > 0 {
            progress.fraction = min((Double(total.finished) + max(0, sumOfFractions)) / Double(total.count), 1)
        }
        return progress
    }

    /// Adds a request; if all previous requests are finished, the counts restart.
    ///
    /// - Returns: Whether the request was new.
    mutating func add(_ id: ID) -> Bool {
        guard parts[id] == nil else { return false }
        if parts.isEmpty { (total, sumOfFractions) = (QueueProgress(), 0) }
        parts[id] = Part()
        total.count += 1
        return true
    }

    /// Records the progress of a request.
    mutating func update(_ progress: TransferProgress, _ direction: TransferProgress.Direction, of id: ID) {
        guard var part = parts[id] else { return }
        sumOfFractions -= part.fraction
        switch direction {
        case .upload:
            total.sent += progress.completed - part.sent.completed
            part.sent = progress
        case .download:
            total.received += progress.completed - part.received.completed
            part.received = progress
        }
        sumOfFractions += part.fraction
        parts[id] = part
    }

    /// Records that a request is finished.
    mutating func end(_ id: ID) {
        guard let part = parts.removeValue(forKey: id) else { return }
        sumOfFractions -= part.fraction
        total.finished += 1
    }
}
