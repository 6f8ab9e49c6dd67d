// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of any request: for lists of what is going on, whose requests are of several types.
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
    /// The identifier of the request; `nil` as long as that is yet to be made from the result of another operation.
    var identifier: String? { get }
    /// The name that the request has for people, if it has one.
    var tag: String? { get }

    /// Holds the transfer back until ``resume()``, where the transport can.
    func pause()
    /// Lets the transfer continue.
    func resume()

    /// The bytes that are received, as a `Progress`.
    var progress: Progress { get }
    /// The bytes that are sent, as a `Progress`.
    var uploadProgress: Progress { get }
    /// The bytes as a sequence, which ends with the operation.
    func progressUpdates(_ direction: TransferDirection) -> AsyncStream<TransferProgress>

    /// The request that was sent last; `nil` before one was made.
    var urlRequest: URLRequest? { get }
    /// The head of the response that came last; `nil` before one came.
    var response: HTTPResponseHead? { get }
    /// What was sent so far, in its order.
    var attempts: [Attempt] { get }
    /// What the last attempt took, as far as it has come.
    var metrics: Metrics? { get }
    /// What happens to the operation, as it happens.
    var events: AsyncStream<MonitoredEvent> { get }
}

extension NetworkOperation: AnyRequestOperation {
    /// The identifier of the request; `nil` as long as that is yet to be made from the result of another operation.
    public final var identifier: String? { request?.identifier }

    /// The name that the request has for people, if it has one.
    public final var tag: String? { plan?.options.tag }

    /// What happens to the operation, as it happens; it ends with `operationEnded`.
    ///
    /// ```swift
    /// for await event in operation.events {
    ///     if case .retryScheduled(let delay, _) = event { print("once more in \(delay)") }
    /// }
    /// ```
    ///
    /// It begins with `operationMade`, and with what is under way at this moment: that the operation has started, and each
    /// attempt that hasn't ended, with its number and the head of its response. From then on no event is left out.
    ///
    /// What was before isn't told: attempts that are over, which are among the ``attempts``, a retry that was scheduled, a
    /// transfer of another operation that was joined. Nor is a wait for a credential, if it began before anything
    /// watched the operation. To see all events, ask an operation of
    /// ``RequestQueue/makeOperation(for:session:completionQueue:coalescing:completion:)`` before you add it.
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
    /// It is told first what still holds: that the operation was made, has started, or has ended, and which attempts are
    /// under way, by their numbers. From then on it is told everything, as ``EventMonitor`` promises; ``events`` says what
    /// is past by then. Safe from any thread.
    public final func addMonitor(_ monitor: any EventMonitor) {
        // An end that comes before this line has a result, and one that comes behind it finds the monitor.
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
