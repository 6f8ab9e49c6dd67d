// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A monitor that records operations, so that they can be drawn.
///
/// ```swift
/// let recorder = RecordingMonitor()
/// environment.monitors.append(recorder)
/// …
/// print(recorder.timeline.text())
/// ```
///
/// It stores a limited number of operations, without their contents, so that it may run for ever. It does store header
/// fields and addresses: drawings leave secrets out, a memory dump doesn't.
public final class RecordingMonitor: EventMonitor {
    private let state: Locked<TimelineRecorder>
    private let now: @Sendable () -> Date

    /// Makes a monitor, and starts its clock.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of operations: the oldest one is dropped for a new one, whether it is over or not.
    ///     1,000 by default, and at least one.
    ///   - now: Returns the present time. If it goes back, recorded times stay the same.
    public init(limit: Int = 1000, now: @escaping @Sendable () -> Date = { Date() }) {
        state = Locked(TimelineRecorder(limit: limit, start: now()))
        self.now = now
    }

    /// The recording so far.
    ///
    /// An operation whose value has just been awaited may still be unfinished here. It is finished for an operation
    /// that depends on it.
    ///
    /// - Complexity: O(n) in the number of operations.
    public var timeline: RequestTimeline {
        let time = now()
        return state.withLock { $0.timeline(at: time) }
    }

    /// Drops the recording, and starts again: events of operations that were made before aren't recorded.
    public func reset() {
        let time = now()
        state.withLock { $0 = TimelineRecorder(limit: $0.limit, start: time) }
    }

    /// Records the event.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        let time = now()
        state.withLock { $0.record(event, of: operation, at: time) }
    }
}
