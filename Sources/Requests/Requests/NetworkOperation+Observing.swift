// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of any request: for lists of running requests of several types.
///
/// ```swift
/// for operation in client.requestOperations {
///     print(operation.identifier, operation.progress.fractionCompleted)
/// }
/// ```
///
/// ``RequestQueue/requestOperations`` gives those of a queue. Every ``NetworkOperation`` is one: cast it to its own type
/// for its request and its result.
public protocol AnyRequestOperation: AsynchronousOperation {
    /// The identifier of the request; `nil` until it has been made from the result of another operation.
    var identifier: String? { get }
    /// The name of the request for display, if it has one.
    var tag: String? { get }

    /// Pauses the transfer until ``resume()``, if the transport can.
    func pause()
    /// Resumes the transfer.
    func resume()

    /// The received bytes, as a `Progress`.
    var progress: Progress { get }
    /// The sent bytes, as a `Progress`.
    var uploadProgress: Progress { get }
    /// The progress as a sequence, which ends with the operation.
    func progressUpdates(_ direction: TransferDirection) -> AsyncStream<TransferProgress>

    /// The request that was sent last; `nil` before one was made.
    var urlRequest: URLRequest? { get }
    /// The head of the last response; `nil` before the first one.
    var response: HTTPResponseHead? { get }
    /// The attempts so far, in their order.
    var attempts: [Attempt] { get }
    /// The metrics of the last attempt, as far as they are known.
    var metrics: Metrics? { get }
    /// The events of the operation, as they occur.
    var events: AsyncStream<MonitoredEvent> { get }
}

extension NetworkOperation: AnyRequestOperation {
    /// The identifier of the request; `nil` until it has been made from the result of another operation.
    public final var identifier: String? { request?.identifier }

    /// The name of the request for display, if it has one.
    public final var tag: String? { plan?.options.tag }

    /// The events of the operation, as they occur; the sequence ends with `operationEnded`.
    ///
    /// ```swift
    /// for await event in operation.events {
    ///     if case .retryScheduled(let delay, _) = event { print("once more in \(delay)") }
    /// }
    /// ```
    ///
    /// It begins with `operationCreated`, and with the present state: that the operation has started, and each running
    /// attempt, with its number and the head of its response. From then on no event is left out.
    ///
    /// Past events aren't reported: attempts that are over, which are among the ``attempts``, a scheduled retry, a joined
    /// transfer of another operation, a wait for a credential that began before the operation was observed. To see all
    /// events, ask an operation of `makeOperation(for:)` before you add it.
    ///
    /// Each call makes a sequence of its own.
    public final var events: AsyncStream<MonitoredEvent> {
        AsyncStream { continuation in
            addMonitor(
                .events { event, _ in
                    continuation.yield(event)
                    if case .operationEnded = event { continuation.finish() }
                }
            )
        }
    }

    /// Adds a monitor of this operation alone, besides those of the environment.
    ///
    /// First it receives the present state: that the operation was made, has started, or has ended, and the running
    /// attempts, by their numbers. Then it receives every event, as ``EventMonitor`` guarantees; ``events`` explains
    /// which ones are past. Safe from any thread.
    public final func addMonitor(_ monitor: any EventMonitor) {
        // An end before this line has a result, and one after it finds the monitor.
        core.withLock { $0.hasMonitors = true }
        let new = MonitorFeed(operation: MonitoredOperation(of: R.self))
        if let request, let options = plan?.options { new.identify(by: { request.identifier }, options) }
        let (feed, untold) = call.setFeed(new)
        if isExecuting { feed.report(.operationStarted) }
        for (transmission, number) in untold { transmission.catchUp(feed, number: number) }
        feed.add(monitor)
        if hasResult { reportEnd(to: feed) }
    }

    /// Reports the outcome of the operation to the monitors, once.
    final func reportEnd(to feed: MonitorFeed) {
        switch result {
        case .success: feed.report(.operationEnded(.success))
        case .failure(let error): feed.report(.operationEnded(MonitoredOutcome(call.failure ?? error)))
        case nil: break
        }
    }
}
