// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor whose events are handed over to a queue, so that it may take its time.
///
/// The events of an operation stay in their order, also on a concurrent queue, because they come one at a time. What the
/// monitor doesn't keep up with piles up.
public struct QueuedMonitor<Base: EventMonitor>: EventMonitor {
    private let base: Base
    private let queue: DispatchQueue

    /// Hands the events of a monitor over to a queue, such as the main one.
    public init(_ base: Base, on queue: DispatchQueue) {
        self.base = base
        self.queue = DispatchQueue(label: "Requests.QueuedMonitor", target: queue)
    }

    /// Enqueues the call of the monitor.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        queue.async { event.report(to: base, of: operation) }
    }
}

extension EventMonitor {
    /// The same monitor, called on a queue, such as the main one, rather than on the threads of the pipeline.
    public func delivering(on queue: DispatchQueue) -> QueuedMonitor<Self> {
        QueuedMonitor(self, on: queue)
    }
}
