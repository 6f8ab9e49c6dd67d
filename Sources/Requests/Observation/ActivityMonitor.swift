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

/// Which operations aren't over, and what has been told of it.
///
/// Each input returns what is to be told now, by the caller alone: as long as it tells, no one else is asked to.
struct ActivityState {
    private var operations: Set<UInt64> = []
    private var toldActive = false
    private var isTelling = false

    var count: Int { operations.count }

    mutating func begin(_ id: UInt64) -> Bool? {
        operations.insert(id)
        return next()
    }

    mutating func end(_ id: UInt64) -> Bool? {
        operations.remove(id)
        return next()
    }

    /// The caller has told what it was given; it goes on with what has changed meanwhile.
    mutating func told(_ isActive: Bool) -> Bool? {
        toldActive = isActive
        isTelling = false
        return next()
    }

    private mutating func next() -> Bool? {
        guard !isTelling, toldActive == operations.isEmpty else { return nil }
        isTelling = true
        return !operations.isEmpty
    }
}
