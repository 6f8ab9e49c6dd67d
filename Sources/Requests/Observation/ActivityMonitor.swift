// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Counts the operations that aren't over, and tells when there begin to be some, and when there are none any more.
///
/// Made for the indicator that something is going on:
///
/// ```swift
/// environment.monitors.append(ActivityMonitor { isActive in
///     DispatchQueue.main.async { spinner.isHidden = !isActive }
/// })
/// ```
///
/// An operation counts from its making until it ends, the time in its queue included. One whose making was before the
/// monitor's isn't counted.
public final class ActivityMonitor: EventMonitor {
    private let state = Locked(ActivityState())
    private let onChange: @Sendable (Bool) -> Void

    /// Makes a monitor.
    ///
    /// - Parameter onChange: Called with true when there are operations where there were none, with false when the last
    ///   has ended; nothing is done by default. The calls take turns, one at a time: what has changed back before it
    ///   could be told isn't told, and the last call is always right.
    public init(onChange: @escaping @Sendable (_ isActive: Bool) -> Void = { _ in }) {
        self.onChange = onChange
    }

    /// How many operations aren't over.
    public var count: Int { state.withLock { $0.count } }

    /// Counts the operation.
    public func operationMade(_ operation: MonitoredOperation) {
        tell(state.withLock { $0.begin(operation.id) })
    }

    /// Counts the operation no more.
    public func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome) {
        tell(state.withLock { $0.end(operation.id) })
    }

    private func tell(_ change: Bool?) {
        var change = change
        while let isActive = change {
            onChange(isActive)
            change = state.withLock { $0.told(isActive) }
        }
    }
}
