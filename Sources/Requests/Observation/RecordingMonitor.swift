// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A monitor that records transfers, so that they can be drawn.
///
/// ```swift
/// let recorder = RecordingMonitor()
/// environment.monitors.append(recorder)
/// …
/// print(recorder.timeline.text())
/// ```
///
/// The monitor stores a limited number of transfers, without their contents, so it may run forever. It does store
/// header fields and URLs with their secrets: drawings omit secrets, but a memory dump doesn't.
public final class RecordingMonitor: EventMonitor {
    private let state: Locked<State>
    private let limit: Int
    private let now: @Sendable () -> Date

    private struct State: Sendable {
        let start: Date
        /// The time of the last event; later times are never earlier, even if the clock is set back.
        var latest = Duration.zero
        var transfers: [RecordingMonitor.Timeline.Transfer] = []
        var droppedCount = 0

        /// Returns the time since the start, which never decreases.
        mutating func time(at date: Date) -> Duration {
            let seconds = date.timeIntervalSince(start)
            // Ignore NaN and times decades away, because they can't be converted to integers safely.
            if abs(seconds) < 1e9 { latest = max(latest, .microseconds(Int64((seconds * 1_000_000).rounded()))) }
            return latest
        }

        mutating func change(
            _ transfer: OperationEvent.Transfer,
            of operation: OperationEvent.Info,
            _ change: (inout RecordingMonitor.Timeline.Transfer) -> Void
        ) {
            let index = transfers.lastIndex { $0.operation == operation && $0.number == transfer.number }
            if let index { change(&transfers[index]) }
        }
    }

    /// Creates a monitor, and starts its clock.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of transfers; 1,000 by default, and at least one. A new transfer replaces the
    ///     oldest transfer, whether that has ended or not.
    ///   - now: Returns the current time. If the clock is set back, the recorded time stands still until the clock
    ///     catches up.
    public init(limit: Int = 1000, now: @escaping @Sendable () -> Date = { Date() }) {
        state = Locked(State(start: now()))
        self.limit = max(1, limit)
        self.now = now
    }

    /// The recording so far.
    ///
    /// A transfer whose response you have just awaited may still be unfinished here. It is finished if you read the
    /// recording in an operation that depends on the sending operation.
    ///
    /// - Complexity: O(n) in the number of transfers.
    public var timeline: RecordingMonitor.Timeline {
        let date = now()
        return state.withLock { state in
            RecordingMonitor.Timeline(
                start: state.start,
                end: state.time(at: date),
                transfers: Array(state.transfers.suffix(limit)),
                droppedCount: state.droppedCount + max(0, state.transfers.count - limit)
            )
        }
    }

    /// Discards the recording and starts again; the ends of earlier transfers aren't recorded.
    public func reset() {
        let start = now()
        state.withLock { $0 = State(start: start) }
    }

    /// Records the event.
    public func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        let date = now()
        switch event {
        case .transferStarted(let transfer):
            state.withLock { state in
                state.transfers.append(.init(transfer, of: operation, at: state.time(at: date)))
                // Remove old transfers in batches, so that the cost of each transfer doesn't depend on the number of
                // recorded transfers.
                let surplus = state.transfers.count - limit
                guard surplus > limit else { return }
                state.transfers.removeFirst(surplus)
                state.droppedCount += surplus
            }
        case .responseStarted(let head, let transfer):
            state.withLock { $0.change(transfer, of: operation) { $0.record.response = head } }
        case .transferEnded(let transfer, let record):
            state.withLock { state in
                let time = state.time(at: date)
                state.change(transfer, of: operation) { $0.end(with: record, of: operation, at: time) }
            }
        default: break
        }
    }
}

extension RecordingMonitor.Timeline.Transfer {
    fileprivate init(_ transfer: OperationEvent.Transfer, of operation: OperationEvent.Info, at time: Duration) {
        var request = transfer.request
        contentLength = request.body.length
        request.body = .none
        request.authentication = .none
        self.operation = operation
        number = transfer.number
        start = time
        record = TransferRecord(cause: transfer.cause, request: request)
    }

    fileprivate mutating func end(with record: TransferRecord, of operation: OperationEvent.Info, at time: Duration) {
        self.operation = operation
        end = time
        self.record.response = record.response ?? self.record.response
        // Keep only the code and the phase, because the error may contain bodies, and all previous transfers.
        self.record.error = record.error.map { RequestError($0.code, phase: $0.phase) }
        self.record.metrics = record.metrics
    }
}
