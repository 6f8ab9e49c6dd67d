// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The events of one operation, as a sequence.
///
/// ```swift
/// let events = MonitoredEvents()
/// client.addRequest(Get<User>("me").monitored(by: events))
/// for await event in events { print(event) }
/// ```
///
/// It is a monitor for one request, and tells of the first operation that is made of it. Events wait until they are asked
/// for, also those from before; the sequence ends with the operation. For one task at a time.
public struct MonitoredEvents: EventMonitor, AsyncSequence {
    private let stream: AsyncStream<MonitoredEvent>
    private let continuation: AsyncStream<MonitoredEvent>.Continuation
    private let watched = Locked<MonitoredOperation?>(nil)

    /// Makes a sequence that waits for an operation.
    public init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    /// Passes the event on.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        let isWatched = watched.withLock { watched in
            if watched == nil { watched = operation }
            return watched == operation
        }
        guard isWatched else { return }
        continuation.yield(event)
        if case .operationEnded = event { continuation.finish() }
    }

    /// Makes what gives one event after the other.
    public func makeAsyncIterator() -> AsyncStream<MonitoredEvent>.Iterator { stream.makeAsyncIterator() }
}
