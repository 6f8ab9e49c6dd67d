// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Makes of the bytes of a transfer what is worth telling: not every chunk, nothing that goes back, and the exact end.
///
/// Times are those since any beginning, told by the caller. What isn't told at once is told with a later chunk, by
/// ``flush(at:)`` when it is ``due``, or at the end.
struct ProgressMeter: Sendable {
    private let interval: Duration
    private var current = TransferProgress(completed: 0)
    private var told: TransferProgress?
    private var nextTime: Duration?

    /// Makes a meter.
    ///
    /// - Parameter interval: How long to be silent after each progress; a tenth of a second by default.
    init(interval: Duration = .milliseconds(100)) {
        self.interval = interval
    }

    /// When there is something to be told, if nothing else is told before; nil where there isn't.
    var due: Duration? { current == told ? nil : nextTime }

    /// Begins a transfer, or goes on after one that was interrupted.
    ///
    /// Where it starts over, the number of bytes stays where it was until it is reached again.
    ///
    /// - Parameters:
    ///   - offset: How many bytes are there already.
    ///   - total: How many there will be, with those; nil where nobody knows.
    ///   - time: The time.
    /// - Returns: What is to be told, if anything.
    mutating func begin(at offset: Int64 = 0, total: Int64?, time: Duration) -> TransferProgress? {
        current.total = total.flatMap { $0 < 0 ? nil : $0 }
        return reach(offset, at: time)
    }

    /// Notes how many bytes are there, with those that were there at the beginning.
    ///
    /// - Returns: What is to be told, if anything.
    mutating func reach(_ completed: Int64, at time: Duration) -> TransferProgress? {
        current.completed = max(current.completed, completed)
        // A number that turns out wrong isn't one.
        if let total = current.total, completed > total { current.total = nil }
        // Bytes of a longer version that was given up don't make this one whole.
        if let total = current.total { current.completed = min(current.completed, max(total, told?.completed ?? 0)) }
        return flush(at: time)
    }

    /// Tells what was held back, once it is time.
    mutating func flush(at time: Duration) -> TransferProgress? {
        guard current != told, nextTime.map({ time >= $0 }) ?? true else { return nil }
        nextTime = time + interval
        told = current
        return current
    }

    /// Ends the transfer with the exact number of bytes, which is then also that of the whole.
    ///
    /// It is what counts, so it is told even where it is less than what was told: the file shrank on the way.
    ///
    /// - Returns: What is to be told, if that isn't known yet.
    mutating func finish(_ completed: Int64) -> TransferProgress? {
        current = TransferProgress(completed: max(0, completed), total: max(0, completed))
        defer { (told, nextTime) = (current, nil) }
        return current == told ? nil : current
    }

    /// Ends a transfer that failed: tells what was held back, whether it is time or not.
    mutating func stop() -> TransferProgress? {
        nextTime = nil
        return flush(at: .zero)
    }
}

/// How far a transfer has come.
///
/// Of one transfer, it never goes back, also when it is retried or goes on with what was there; and the last one is
/// exact.
public struct TransferProgress: Sendable, Hashable, CustomStringConvertible {
    /// How many bytes are transferred, with those that a transfer before had.
    public var completed: Int64
    /// How many there are to transfer; nil where nobody knows.
    public var total: Int64?

    /// Makes a progress.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// How much of the whole is done, from 0 to 1; nil where nobody knows how much that is.
    ///
    /// Of nothing, all is done.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(max(0, Double(completed) / Double(total)), 1) : 1
    }

    /// The bytes, such as `512 of 1024 bytes`.
    public var description: String {
        total.map { "\(completed) of \($0) bytes" } ?? "\(completed) bytes"
    }
}

/// Which way content goes.
public enum TransferDirection: Sendable, Hashable, CaseIterable {
    /// To the server: the content of the request.
    case upload
    /// From the server: the content of the response.
    case download
}
