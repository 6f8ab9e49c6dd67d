// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The progress of the transfer: as a `Progress`, as a sequence, or as a closure.
///
/// All three report the same values. Sent bytes are those of the body as they are sent. Received bytes are those of the
/// content as the request gets it: decoded if the server compressed it, in which case the total isn't known before the
/// end. Only a response that the request accepts counts: not those of redirects, and not those of errors.
///
/// The byte count never decreases. Received bytes that come again, since a retry starts over, count when the new
/// attempt passes the old one. A body that is sent again, by a retry or a redirect, is added to the sent bytes and to
/// their total. The last count of an operation that succeeds is exact. Before it, at most ten a second are reported. An
/// operation that shares the transfer of another, or is answered by a cache, transfers nothing itself, and reports only
/// the end.
///
/// Nothing is counted, and nothing allocated, unless the progress is observed.
extension AnyRequestOperation {
    /// The received bytes, as a `Progress`: indeterminate until the total is known.
    ///
    /// It can be a child of another `Progress`. Cancelling it cancels the operation; pausing and resuming it call
    /// ``pause()`` and ``resume()``. For a response without content it has one unit, which is complete. It
    /// finishes with the operation, even if that fails, so that its parent can finish.
    public final var progress: Progress { progress(of: .download) }

    /// The sent bytes, as a `Progress`: otherwise like ``progress``.
    public final var uploadProgress: Progress { progress(of: .upload) }

    /// Returns the progress as a sequence, which begins with the last value, if there is one, and ends with the
    /// operation.
    ///
    /// ```swift
    /// for await progress in operation.progressUpdates() { print(progress) }
    /// ```
    ///
    /// A slow consumer may skip values, never the last one. Each call makes a sequence of its own.
    ///
    /// - Parameter direction: The bytes to observe: by default the received ones.
    /// - Returns: The sequence, for one consumer.
    public final func progressUpdates(
        _ direction: TransferProgress.Direction = .download
    ) -> AsyncStream<TransferProgress> {
        let feed = progressFeeds[direction]
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = feed.observe { progress in
                if let progress { continuation.yield(progress) } else { continuation.finish() }
            }
            continuation.onTermination = { _ in feed.remove(id) }
        }
    }

    /// Calls a closure with each progress, beginning with the last value, if there is one.
    ///
    /// - Parameters:
    ///   - direction: The bytes to observe: by default the received ones.
    ///   - queue: The queue on which the closure is called, one call after the other; by default the global queue of
    ///     utility quality, as with completions.
    ///   - body: The closure.
    @_disfavoredOverload
    public final func onProgress(
        _ direction: TransferProgress.Direction = .download,
        on queue: DispatchQueue = .global(qos: .utility),
        _ body: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let serial = DispatchQueue(label: "Requests.progress", target: queue)
        progressFeeds[direction].observe { progress in
            guard let progress else { return }
            serial.async { body(progress) }
        }
    }

    /// Calls a closure on the main actor with each progress, beginning with the last value, if there is one.
    ///
    /// - Parameters:
    ///   - direction: The bytes to observe: by default the received ones.
    ///   - queue: The main queue, on which the closure is called.
    ///   - body: The closure.
    public final func onProgress(
        _ direction: TransferProgress.Direction = .download,
        on queue: MainQueue,
        _ body: @escaping @MainActor (TransferProgress) -> Void
    ) {
        onProgress(direction, on: DispatchQueue.main, queue.isolating(body))
    }

    private func progress(of direction: TransferProgress.Direction) -> Progress {
        progressFeeds[direction].progress {
            let progress = Progress.discreteProgress(totalUnitCount: -1)
            progress.cancellationHandler = { [weak self] in self?.cancel() }
            progress.pausingHandler = { [weak self] in self?.pause() }
            progress.resumingHandler = { [weak self] in self?.resume() }
            progress.isCancellable = true
            progress.isPausable = true
            return progress
        }
    }
}

extension AnyRequestOperation {
    /// The feeds that report the progress; made on first use.
    final var progressFeeds: ProgressFeeds {
        if let feeds = observer(ProgressFeeds.self) { return feeds }
        let feeds = ProgressFeeds(clock: configuration.environment.clock)
        // Adds the progress from before the observation.
        let isAdded = add(feeds) { record.last?.add(feeds, of: self) }
        return isAdded ? feeds : observer(ProgressFeeds.self) ?? feeds
    }
}

extension ProgressFeeds: OperationObserver {
    func observe(_ step: OperationStep) {
        switch step {
        case .uploadBegan(let total): sent.beginSending(total)
        case .uploaded(let count, let total): sent.send(count, of: total)
        case .downloadBegan(let offset, let total): received.begin(at: offset, total: total)
        case .downloadIgnored: received.stopCounting()
        case .downloaded(let count): received.update(count)
        default: break
        }
    }

    func observe(_ event: OperationEvent) {
        guard case .operationEnded(let outcome) = event else { return }
        if case .success = outcome { end(hasSucceeded: true) } else { end(hasSucceeded: false) }
    }
}
