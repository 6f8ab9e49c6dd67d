// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The progress of the transfer, as a `Progress`, a sequence, or a closure.
///
/// All three report the same values. Bytes of the request body count when they are sent. Bytes of the response count as
/// the request receives them, that is, after decompression. The total of a compressed response is therefore unknown
/// until the end. Only a response that the request accepts counts, not a redirect or an error.
///
/// The byte count never decreases. If a retry starts over, received bytes count only after the new attempt has passed
/// the previous byte count. If a retry or a redirect sends the body again, both the byte count and the total increase.
/// If the operation succeeds, the last count is exact. Before that, at most ten values per second are reported. An
/// operation that shares another operation's transfer, or whose response comes from a cache, transfers nothing itself
/// and reports only the end.
///
/// Nothing is counted or allocated unless the progress is observed.
extension AnyRequestOperation {
    /// The progress of the download; indeterminate until the total is known.
    ///
    /// You can add the `Progress` to a parent. Cancelling the progress cancels the operation; pausing and resuming it
    /// call ``pause()`` and ``resume()``. For a response without content, the progress has one unit, which is complete.
    /// The progress finishes with the operation, even if the operation fails, so that its parent can finish.
    public final var progress: Progress { progress(of: .download) }

    /// The progress of the upload; otherwise like ``progress``.
    public final var uploadProgress: Progress { progress(of: .upload) }

    /// Returns the progress as a sequence that ends with the operation.
    ///
    /// ```swift
    /// for await progress in operation.progressUpdates() { print(progress) }
    /// ```
    ///
    /// The sequence begins with the latest value, if any. A slow consumer may miss values, but never the last one. Each
    /// call creates a separate sequence.
    ///
    /// - Parameter direction: The direction to observe; by default, the download.
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

    /// Calls a closure with each progress value, beginning with the latest one, if any.
    ///
    /// - Parameters:
    ///   - direction: The direction to observe; by default, the download.
    ///   - queue: The queue on which the closure is called, one call at a time. By default, this is the global queue
    ///     with the quality of service `utility`, as for completions.
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

    /// Calls a closure on the main actor with each progress value, beginning with the latest one, if any.
    ///
    /// - Parameters:
    ///   - direction: The direction to observe; by default, the download.
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
    /// The feeds that report the progress, created on first use.
    final var progressFeeds: ProgressFeeds {
        if let feeds = observer(ProgressFeeds.self) { return feeds }
        let feeds = ProgressFeeds(clock: configuration.environment.clock)
        // Report the progress that was made before the observation began.
        let isAdded = add(feeds) { record.last?.add(feeds, of: self) }
        return isAdded ? feeds : observer(ProgressFeeds.self) ?? feeds
    }
}

extension ProgressFeeds: OperationObserver {
    func observe(_ step: OperationStep) {
        switch step {
        case .uploadBegan(let total): sent.beginSending(total)
        case .uploaded(let count, let total): sent.didSend(count, of: total)
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
