// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Counts unfinished operations, and reports when the count rises from zero and when it returns to zero.
///
/// The monitor is intended for activity indicators:
///
/// ```swift
/// environment.monitors.append(ActivityMonitor { isActive in
///     DispatchQueue.main.async { spinner.isHidden = !isActive }
/// })
/// ```
///
/// An operation counts from its creation until it ends, including the time in its queue. An operation that was created
/// before the monitor isn't counted.
public final class ActivityMonitor: EventMonitor {
    private let state = Locked(State())
    private let onChange: @Sendable (Bool) -> Void

    /// Creates a monitor.
    ///
    /// - Parameter onChange: Called with true when an operation begins while there are no others, and with false when
    ///   the last one has ended; does nothing by default. The calls come one at a time. A change that is reverted
    ///   before it could be reported is skipped, and the last call always reports the current state.
    public init(onChange: @escaping @Sendable (_ isActive: Bool) -> Void = { _ in }) {
        self.onChange = onChange
    }

    /// The number of unfinished operations.
    public var count: Int { state.withLock { $0.operations.count } }

    /// Counts the operation from its creation to its end.
    public func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        switch event {
        case .operationCreated: state.withLock { _ = $0.operations.insert(operation.id) }
        case .operationEnded: state.withLock { _ = $0.operations.remove(operation.id) }
        default: return
        }
        state.drain(next: { $0.next() }, completed: { $0.isReporting = false }, perform: onChange)
    }

    private struct State: Sendable {
        var operations: Set<UInt64> = []
        var isReportedActive = false
        var isReporting = false

        /// Returns the activity to report; `nil` if it was already reported, or if another thread is reporting it.
        mutating func next() -> Bool? {
            guard !isReporting, isReportedActive == operations.isEmpty else { return nil }
            (isReporting, isReportedActive) = (true, !operations.isEmpty)
            return isReportedActive
        }
    }
}
