// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Selects which byte counts of a transfer to report: not one for every chunk, never a decrease, and finally the exact
/// count.
///
/// The caller passes times relative to any fixed start. Deferred progress is reported with a later chunk, by
/// ``flush(at:)`` when it is ``due``, or at the end.
struct ProgressMeter: Sendable {
    private let interval: Duration
    private var current = TransferProgress(completed: 0)
    private var reported: TransferProgress?
    private var nextTime: Duration?

    /// Creates a meter.
    ///
    /// - Parameter interval: The minimum time between two reports; a tenth of a second by default.
    init(interval: Duration = .milliseconds(100)) {
        self.interval = interval
    }

    /// The time at which deferred progress must be reported; `nil` if nothing is deferred.
    var due: Duration? { current == reported ? nil : nextTime }

    /// Begins a transfer, or continues after an interrupted transfer.
    ///
    /// If the transfer starts over, the byte count keeps its value until the transfer passes that value.
    ///
    /// - Parameters:
    ///   - offset: The number of bytes from earlier transfers.
    ///   - total: The expected byte count, including the offset; `nil` if it is unknown.
    ///   - time: The current time.
    /// - Returns: The progress to report, if any.
    mutating func begin(at offset: Int64 = 0, total: Int64?, time: Duration) -> TransferProgress? {
        current.total = total.flatMap { $0 < 0 ? nil : $0 }
        return update(offset, at: time)
    }

    /// Records the byte count, including the bytes from earlier transfers.
    ///
    /// - Returns: The progress to report, if any.
    mutating func update(_ completed: Int64, at time: Duration) -> TransferProgress? {
        current.completed = max(current.completed, completed)
        // Drop a total that turns out to be wrong.
        if let total = current.total, completed > total { current.total = nil }
        // Bytes of an abandoned, longer version of the content must not complete the current version.
        if let total = current.total {
            current.completed = min(current.completed, max(total, reported?.completed ?? 0))
        }
        return flush(at: time)
    }

    /// Returns deferred progress, once it is due.
    mutating func flush(at time: Duration) -> TransferProgress? {
        guard current != reported, nextTime.map({ time >= $0 }) ?? true else { return nil }
        nextTime = time + interval
        reported = current
        return current
    }

    /// Ends the transfer with the exact byte count, which is then also the total.
    ///
    /// The exact count is reported even if it is less than the previous count, because the file may have become shorter
    /// during the transfer.
    ///
    /// - Returns: The progress to report, unless it was already reported.
    mutating func finish(_ completed: Int64) -> TransferProgress? {
        current = TransferProgress(completed: max(0, completed), total: max(0, completed))
        defer { (reported, nextTime) = (current, nil) }
        return current == reported ? nil : current
    }

    /// Ends a failed transfer, and returns deferred progress, even if it isn't due yet.
    mutating func stop() -> TransferProgress? {
        nextTime = nil
        return flush(at: .zero)
    }
}
