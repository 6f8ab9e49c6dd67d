// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Counts the unfinished operations, and reports when the first one begins, and when the last one ends.
///
/// It is made for activity indicators:
///
/// ```swift
/// environment.monitors.append(ActivityMonitor { isActive in
///     DispatchQueue.main.async { spinner.isHidden = !isActive }
/// })
/// ```
///
/// An operation counts from its creation until it ends, including the time in its queue. One that was created before
/// the monitor isn't counted.
public final class ActivityMonitor: EventMonitor {
    private let state = Locked(ActivityState())
    private let onChange: @Sendable (Bool) -> Void

    /// Makes a monitor.
    ///
    /// - Parameter onChange: Called with true when an operation begins while there are no others, with false when the
    ///   last one has ended; does nothing by default. The calls come one at a time. A change that is reverted before it
    ///   could be reported is skipped, and the last call is always right.
    public init(onChange: @escaping @Sendable (_ isActive: Bool) -> Void = { _ in }) {
        self.onChange = onChange
    }

    /// The number of unfinished operations.
    public var count: Int { state.withLock { $0.count } }

    /// Counts the operation from its creation to its end.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        var change: Bool?
        switch event {
        case .operationCreated: change = state.withLock { $0.begin(operation.id) }
        case .operationEnded: change = state.withLock { $0.end(operation.id) }
        default: return
        }
        while let isActive = change {
            onChange(isActive)
            change = state.withLock { $0.told(isActive) }
        }
    }
}

/// The unfinished operations, and the last reported change.
///
/// Each input returns the change to report, to one caller at a time: while it reports, no other is asked to.
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

    /// Records that the caller has reported a change; returns a further one that came meanwhile.
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
