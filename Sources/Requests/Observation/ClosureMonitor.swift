// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor that calls a closure for every event.
///
/// ```swift
/// environment.monitors.append(.events { event, operation in
///     if case .retryScheduled(let delay, let error) = event { log("\(operation): \(error.code), again in \(delay)") }
/// })
/// ```
public struct ClosureMonitor: EventMonitor {
    private let receive: @Sendable (OperationEvent, OperationEvent.Info) -> Void

    /// Creates a monitor; the closure is called like ``EventMonitor/eventOccurred(_:of:)``.
    public init(_ receive: @escaping @Sendable (OperationEvent, OperationEvent.Info) -> Void) {
        self.receive = receive
    }

    /// Calls the closure.
    public func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        receive(event, operation)
    }
}
