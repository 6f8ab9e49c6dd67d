// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Observes all operations of a queue, from the first request for their progress.
final class QueueFollower: Sendable {
    private struct State: Sendable {
        /// The meter; `nil` before the first request.
        var meter: QueueMeter?
        var bulletin = Bulletin<QueueProgress>()

        mutating func change<Result>(_ change: (inout QueueMeter) -> Result) -> Result? {
            guard var meter else { return nil }
            // Moved out, so that there is one meter, and nothing of it is copied.
            self.meter = nil
            defer { self.meter = meter }
            let result = change(&meter)
            bulletin.post(meter.progress)
            return result
        }
    }

    private let state = Locked(State())

    deinit {
        state.withLock { $0.bulletin.close() }
        tell()
    }

    /// Observes an operation that is about to be added, if the progress is observed.
    func add(_ operation: Operation) {
        guard state.withLock({ $0.meter != nil }), let operation = operation as? AnyRequestOperation,
            operation.settings.transport != nil
        else { return }
        let id = ObjectIdentifier(operation)
        guard state.withLock({ $0.change { $0.add(id) } }) == true else { return }
        tell()
        let feeds = operation.progressFeeds
        feeds.sent.observe { [self] progress in
            if let progress { change { $0.note(progress, .upload, of: id) } }
        }
        feeds.received.observe { [self] progress in
            change { meter in
                if let progress { meter.note(progress, .download, of: id) } else { meter.end(id) }
            }
        }
    }

    /// Returns the common progress; the first call begins to observe the present operations.
    func progress(of operations: () -> [Operation]) -> QueueProgress {
        start(operations)
        return state.withLock { $0.meter?.progress } ?? QueueProgress()
    }

    /// Returns all changes, beginning with the present value.
    func updates(of operations: () -> [Operation]) -> AsyncStream<QueueProgress> {
        start(operations)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = state.withLock { state in
                if let meter = state.meter { state.bulletin.post(meter.progress) }
                return state.bulletin.add { progress in
                    if let progress { continuation.yield(progress) } else { continuation.finish() }
                }
            }
            continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.bulletin.remove(id) } }
            tell()
        }
    }

    private func start(_ operations: () -> [Operation]) {
        let isFirst = state.withLock { state in
            defer { state.meter = state.meter ?? QueueMeter() }
            return state.meter == nil
        }
        guard isFirst else { return }
        for operation in operations() where !operation.isFinished { add(operation) }
    }

    private func change(_ change: @Sendable (inout QueueMeter) -> Void) {
        state.withLock { _ = $0.change(change) }
        tell()
    }

    private func tell() {
        while let (readers, progress) = state.withLock({ $0.bulletin.next() }) {
            for read in readers { read(progress) }
            state.withLock { $0.bulletin.told() }
        }
    }
}
