// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A monitor that remembers what ran, so that it can be drawn.
///
/// ```swift
/// let recorder = RecordingMonitor()
/// environment.monitors.append(recorder)
/// …
/// print(recorder.timeline.text())
/// ```
///
/// It remembers a limited number of operations, and nothing of their contents, so that it may run for ever. It does
/// remember header fields and addresses: what is drawn leaves secrets out, a dump of memory doesn't.
public final class RecordingMonitor: EventMonitor {
    private let state: Locked<TimelineRecorder>
    private let now: @Sendable () -> Date

    /// Makes a monitor, and begins to count the time.
    ///
    /// - Parameters:
    ///   - limit: How many operations are remembered: when there is one more, the one that was made first is forgotten,
    ///     whether it is over or not. 1,000 by default, and at least one.
    ///   - now: Tells the time. Where it goes back, time stands still here.
    public init(limit: Int = 1000, now: @escaping @Sendable () -> Date = { Date() }) {
        state = Locked(TimelineRecorder(limit: limit, start: now()))
        self.now = now
    }

    /// What was recorded until now.
    ///
    /// An operation whose value has just been awaited may not be over here yet. It is where an operation that depends
    /// on it looks.
    ///
    /// - Complexity: O(n) in the number of operations.
    public var timeline: RequestTimeline {
        let time = now()
        return state.withLock { $0.timeline(at: time) }
    }

    /// Forgets what was recorded, and begins anew: events of operations that were made before aren't recorded.
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
