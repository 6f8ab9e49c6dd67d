// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Observes the progress of all operations of a queue, once the progress has been requested for the first time.
final class QueueProgressObserver: Sendable {
    private struct State: Broadcasting {
        /// Whether the progress has been requested; nothing is observed before that.
        var isObserving = false
        var meter = QueueMeter()
        var broadcaster = Broadcaster<QueueProgress>()
    }

    private let state = Locked(State())

    deinit {
        state.withLock { $0.broadcaster.close() }
        state.notifyObservers()
    }

    /// Observes an operation that is about to be added, if the progress has been requested.
    func add(_ operation: Operation) {
        guard state.withLock({ $0.isObserving }), let operation = operation as? AnyRequestOperation,
            operation.ownTransport != nil
        else { return }
        let id = ObjectIdentifier(operation)
        guard change({ $0.add(id) }) else { return }
        let feeds = operation.progressFeeds
        feeds.sent.observe { [self] progress in
            if let progress { change { $0.update(progress, .upload, of: id) } }
        }
        feeds.received.observe { [self] progress in
            change { meter in
                if let progress { meter.update(progress, .download, of: id) } else { meter.end(id) }
            }
        }
    }

    /// Returns the combined progress; the first call begins to observe the current operations.
    func progress(of operations: () -> [Operation]) -> QueueProgress {
        start(operations)
        return state.withLock { $0.meter.progress }
    }

    /// Returns the combined progress as a sequence, beginning with the current value.
    func updates(of operations: () -> [Operation]) -> AsyncStream<QueueProgress> {
        start(operations)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                state.broadcaster.publish(state.meter.progress)
                return state.broadcaster.add { progress in
                    if let progress { continuation.yield(progress) } else { continuation.finish() }
                }
            }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.broadcaster.remove(id) } }
            state.notifyObservers()
        }
    }

    private func start(_ operations: () -> [Operation]) {
        let isFirst = state.withLock { state in
            defer { state.isObserving = true }
            return !state.isObserving
        }
        guard isFirst else { return }
        for operation in operations() where !operation.isFinished { add(operation) }
    }

    private func change<Result: Sendable>(_ change: @Sendable (inout QueueMeter) -> Result) -> Result {
        let result = state.withLock { state in
            let result = change(&state.meter)
            state.broadcaster.publish(state.meter.progress)
            return result
        }
        state.notifyObservers()
        return result
    }
}
