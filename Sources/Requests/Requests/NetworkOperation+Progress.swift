// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How far the transfer has come: as a `Progress`, as a sequence, or as a closure.
///
/// The three tell the same. What is sent are the bytes of the body as they go out. What is received are bytes of the
/// content as the request gets it: decoded, where the server compressed it, and of how many is then not known before
/// the end. Only a response that the request accepts counts: not those of redirects, and not those of errors.
///
/// The number never goes back, also where a retry starts over: it then stays where it was until it is reached again.
/// The last one of an operation that succeeds is exact. Between them, at most ten a second are told. An operation that
/// shares the transfer of another, and one that a cache answers, transfer nothing themselves, and tell only the end.
///
/// Nothing is counted, and nothing allocated, unless somebody asks.
extension NetworkOperation {
    /// The bytes that are received, as a `Progress`: indeterminate until it is known how many there are.
    ///
    /// It can be a child of another `Progress`. Cancelling it cancels the operation; pausing and resuming it do with the
    /// operation what ``pause()`` and ``resume()`` do. That of a response without content has one unit, which is
    /// complete. That of an operation that fails stays where it is.
    public final var progress: Progress { progress(of: .download) }

    /// The bytes that are sent, as a `Progress`: otherwise like ``progress``.
    public final var uploadProgress: Progress { progress(of: .upload) }

    /// The bytes as a sequence, which begins with what was told last, if anything, and ends with the operation.
    ///
    /// ```swift
    /// for await progress in operation.progressUpdates() { print(progress) }
    /// ```
    ///
    /// Who is slow gets the newest and misses those before it, never the last. Each call makes a sequence of its own.
    ///
    /// - Parameter direction: Which bytes: by default those that are received.
    /// - Returns: The sequence, for one consumer.
    public final func progressUpdates(_ direction: TransferDirection = .download) -> AsyncStream<TransferProgress> {
        let feed = progressFeeds[direction]
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = feed.observe { progress in
                if let progress { continuation.yield(progress) } else { continuation.finish() }
            }
            continuation.onTermination = { _ in feed.remove(id) }
        }
    }

    /// Has a closure called with each progress, beginning with what was told last, if anything.
    ///
    /// - Parameters:
    ///   - direction: Which bytes: by default those that are received.
    ///   - queue: Where the closure is called, one call after the other; by default the global queue of utility quality,
    ///     as with completions.
    ///   - body: The closure.
    public final func onProgress(
        _ direction: TransferDirection = .download,
        on queue: DispatchQueue = .global(qos: .utility),
        _ body: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let serial = DispatchQueue(label: "Requests.progress", target: queue)
        progressFeeds[direction].observe { progress in
            guard let progress else { return }
            serial.async { body(progress) }
        }
    }

    private func progress(of direction: TransferDirection) -> Progress {
        progressFeeds.progress(of: direction) {
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

/// An operation whose progress can be followed, whatever its request is.
protocol ProgressFollowing: Operation {
    /// What tells of it; made where there is none.
    var progressFeeds: ProgressFeeds { get }
}

extension NetworkOperation: ProgressFollowing {
    final var progressFeeds: ProgressFeeds {
        if let feeds = call.progress { return feeds }
        core.withLock { $0.hasProgress = true }
        let feeds = call.setProgress(ProgressFeeds(clock: environment.clock), of: self)
        if let result { feeds.end(isWhole: result.isSuccess) }
        return feeds
    }
}

extension Result {
    /// Whether it is a value.
    var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
