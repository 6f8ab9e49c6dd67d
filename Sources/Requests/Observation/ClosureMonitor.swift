// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A monitor that is a closure, called for every event.
///
/// ```swift
/// environment.monitors.append(.events { event, operation in
///     if case .retryScheduled(let delay, let error) = event { log("\(operation): \(error.code), again in \(delay)") }
/// })
/// ```
public struct ClosureMonitor: EventMonitor {
    private let receive: @Sendable (MonitoredEvent, MonitoredOperation) -> Void

    /// Makes a monitor; the closure is called as the methods of ``EventMonitor`` are.
    public init(_ receive: @escaping @Sendable (MonitoredEvent, MonitoredOperation) -> Void) {
        self.receive = receive
    }

    /// Calls the closure.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        receive(event, operation)
    }
}

extension EventMonitor where Self == ClosureMonitor {
    /// A monitor that is a closure, called for every event.
    public static func events(
        _ receive: @escaping @Sendable (MonitoredEvent, MonitoredOperation) -> Void
    ) -> ClosureMonitor {
        ClosureMonitor(receive)
    }
}
