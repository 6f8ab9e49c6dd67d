// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Observes operations, without changing anything.
///
/// Ready-made monitors print (``ConsoleMonitor``), count (``ActivityMonitor``), record what ran so that it can be drawn
/// (``RecordingMonitor``), and post notifications (``EventMonitor/notifications(center:)``); a closure is one too (``ClosureMonitor``).
/// One of your own implements the methods that it needs, or ``eventOccurred(_:of:)`` for all of them at once:
///
/// ```swift
/// struct FailureCounter: EventMonitor {
///     let counter: Counter
///
///     func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome) {
///         if case .failure(let error) = outcome { counter.increment(label: error.shortDescription) }
///     }
/// }
/// ```
///
/// ## Guarantees
///
/// The events of an operation are a tree, reported in its order, one after the other:
///
/// ```
/// created  started?  joined?  ( attempt started  response started?  attempt ended  retry scheduled? )*  ended
/// ```
///
/// Within an attempt, any number of `informational response received` may come before the response, and one `trailers
/// received` behind it, over transports that report them.
///
/// Between attempts, before the first, and before a retry is scheduled, there may be `authentication started` and
/// `authentication ended`.
///
/// - `operationCreated` comes exactly once, and first; `operationEnded` exactly once, and last, also for an operation that
///   never starts.
/// - `operationStarted` comes at most once.
/// - Every attempt that started ends exactly once, before the operation ends, and before the next one starts unless an
///   interceptor sends several requests at once. A redirect that is followed is an attempt, and so is a retry.
/// - `responseStarted` comes at most once an attempt.
/// - Every wait for a credential that started ends exactly once, before any other event. The requests of a refresh are
///   operations of their own.
/// - `operationEnded` comes when there is a result: perhaps after the completion, and after callers that `await` the
///   value. Unless it is cancelled meanwhile, the operation isn't finished before, and dependent operations haven't
///   begun.
/// - Operations that share a transfer have no attempts: the transfer has an operation of its own, which is on no queue,
///   and `operationJoined` names it to each waiting operation, at most once. They do have attempts if the request turns
///   out not to be shareable. An answer from a ``ResponseCache`` is no attempt either.
/// - Events of different operations come in any order, and at the same time on several threads.
///
/// ## Requirements
///
/// The methods are called on the library's threads, outside of all locks. A slow one delays its operation: move slow
/// work elsewhere, for which ``delivering(on:)`` works with any monitor. A monitor sees everything, secrets included.
/// Whatever it shows or sends elsewhere, it has to redact, as the ready-made ones do.
public protocol EventMonitor: Sendable {
    /// An operation was made; it may wait in its queue for long, or never start.
    func operationCreated(_ operation: MonitoredOperation)

    /// The queue has started the operation.
    func operationStarted(_ operation: MonitoredOperation)

    /// The operation waits for the result of another, which does the work for all that share it.
    func operationJoined(_ operation: MonitoredOperation, transferOf leader: MonitoredOperation)

    /// A request is about to be passed to the transport; it isn't if the operation is cancelled before this returns.
    func attemptStarted(_ attempt: MonitoredAttempt, of operation: MonitoredOperation)

    /// The head of the final response was received, and its content follows.
    func responseStarted(
        _ head: HTTPResponseHead,
        to attempt: MonitoredAttempt,
        of operation: MonitoredOperation
    )

    /// A response before the final one was received, such as 103 (Early Hints) with links to resources that will be
    /// needed.
    ///
    /// Transports that don't see such responses, such as a `URLSession`, report none.
    func informationalResponseReceived(
        _ head: HTTPResponseHead,
        to attempt: MonitoredAttempt,
        of operation: MonitoredOperation
    )

    /// The content of the response is complete, and is followed by fields (RFC 9110, 6.5), such as a checksum.
    ///
    /// Transports that don't see these fields, such as a `URLSession`, report none.
    func trailersReceived(_ fields: HTTPHeaders, to attempt: MonitoredAttempt, of operation: MonitoredOperation)

    /// The attempt has ended; the record has its response or error, and its metrics.
    func attemptEnded(_ attempt: MonitoredAttempt, with record: Attempt, of operation: MonitoredOperation)

    /// The operation will retry after a delay, unless it is cancelled before.
    func retryScheduled(after delay: Duration, because error: RequestError, of operation: MonitoredOperation)

    /// The operation waits for a credential, which is refreshed, or which a server's challenge asks for.
    ///
    /// If many operations wait for one refresh, each is reported.
    func authenticationStarted(_ step: AuthenticationStep, of operation: MonitoredOperation)

    /// The operation has stopped waiting; if no credential is granted, it was refused, or the operation was cancelled.
    func authenticationEnded(_ step: AuthenticationStep, isGranted: Bool, of operation: MonitoredOperation)

    /// The operation has its result.
    func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome)

    /// Any event; called by the methods above that the monitor doesn't implement.
    func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation)
}

extension EventMonitor {
    /// Calls ``eventOccurred(_:of:)``.
    public func operationCreated(_ operation: MonitoredOperation) {
        eventOccurred(.operationCreated, of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func operationStarted(_ operation: MonitoredOperation) {
        eventOccurred(.operationStarted, of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func operationJoined(_ operation: MonitoredOperation, transferOf leader: MonitoredOperation) {
        eventOccurred(.operationJoined(leader), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func attemptStarted(_ attempt: MonitoredAttempt, of operation: MonitoredOperation) {
        eventOccurred(.attemptStarted(attempt), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func responseStarted(
        _ head: HTTPResponseHead,
        to attempt: MonitoredAttempt,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.responseStarted(head, attempt), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func informationalResponseReceived(
        _ head: HTTPResponseHead,
        to attempt: MonitoredAttempt,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.informationalResponseReceived(head, attempt), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func trailersReceived(
        _ fields: HTTPHeaders,
        to attempt: MonitoredAttempt,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.trailersReceived(fields, attempt), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func attemptEnded(
        _ attempt: MonitoredAttempt,
        with record: Attempt,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.attemptEnded(attempt, record), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func retryScheduled(
        after delay: Duration,
        because error: RequestError,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.retryScheduled(after: delay, because: error), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func authenticationStarted(_ step: AuthenticationStep, of operation: MonitoredOperation) {
        eventOccurred(.authenticationStarted(step), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func authenticationEnded(
        _ step: AuthenticationStep,
        isGranted: Bool,
        of operation: MonitoredOperation
    ) {
        eventOccurred(.authenticationEnded(step, isGranted: isGranted), of: operation)
    }

    /// Calls ``eventOccurred(_:of:)``.
    public func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome) {
        eventOccurred(.operationEnded(outcome), of: operation)
    }

    /// Does nothing.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {}
}

/// A monitor that is a closure, called for every event.
///
/// ```swift
/// environment.monitors.append(.events { event, operation in
///     if case .retryScheduled(let delay, let error) = event { log("\(operation): \(error.code), again in \(delay)") }
/// })
/// ```
public struct ClosureMonitor: EventMonitor {
    private let receive: @Sendable (MonitoredEvent, MonitoredOperation) -> Void

    /// Makes a monitor; the closure is called as the methods of ``EventMonitor`` are.
    public init(_ receive: @escaping @Sendable (MonitoredEvent, MonitoredOperation) -> Void) {
        self.receive = receive
    }

    /// Calls the closure.
    public func eventOccurred(_ event: MonitoredEvent, of operation: MonitoredOperation) {
        receive(event, operation)
    }
}

extension EventMonitor where Self == ClosureMonitor {
    /// A monitor that is a closure, called for every event.
    public static func events(
        _ receive: @escaping @Sendable (MonitoredEvent, MonitoredOperation) -> Void
    ) -> ClosureMonitor {
        ClosureMonitor(receive)
    }

    /// A monitor that is a closure on the main actor, called for every event, in the order of an operation's events.
    ///
    /// - Parameters:
    ///   - queue: The main queue, on which the closure is called.
    ///   - receive: The closure.
    /// - Returns: The monitor.
    public static func events(
        on queue: MainQueue,
        _ receive: @escaping @MainActor (MonitoredEvent, MonitoredOperation) -> Void
    ) -> ClosureMonitor {
        ClosureMonitor(queue.isolating(receive)).delivering(on: .main)
    }
}

/// The events of one operation, as a sequence.
///
/// ```swift
/// let events = MonitoredEvents()
/// client.addRequest(Get<User>("me").monitored(by: events))
/// for await event in events { print(event) }
/// ```
///
/// It is a monitor for one request, and has the events of the first operation that is made of it. Events are buffered,
/// also those before the iteration; the sequence ends with the operation. For one task at a time.
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

    /// Makes an iterator over the events.
    public func makeAsyncIterator() -> AsyncStream<MonitoredEvent>.Iterator { stream.makeAsyncIterator() }
}

extension EventMonitor {
    /// Returns a monitor that calls this one on a queue, such as the main one, rather than on the threads of the pipeline.
    ///
    /// The calls for an operation keep their order, also on a concurrent queue, because they come one at a time. Calls that
    /// the monitor is too slow for accumulate.
    public func delivering(on queue: DispatchQueue) -> ClosureMonitor {
        let serial = DispatchQueue(label: "Requests.EventMonitor", target: queue)
        return ClosureMonitor { event, operation in serial.async { event.report(to: self, of: operation) } }
    }
}

extension EventMonitor where Self == ClosureMonitor {
    /// Posts a notification when an operation starts and when it ends, for code that has no other way to observe it.
    ///
    /// The object of a notification is the ``MonitoredOperation``; the end has its ``MonitoredOutcome`` in `userInfo`, with
    /// the key ``MonitoredOutcome/userInfoKey``. Notifications are posted on the threads of the pipeline: observe them on a
    /// queue of yours. An operation that never starts posts its end alone.
    ///
    /// - Parameter center: Where to post; by default `NotificationCenter.default`.
    /// - Returns: The monitor.
    public static func notifications(center: NotificationCenter = .default) -> ClosureMonitor {
        ClosureMonitor { event, operation in
            switch event {
            case .operationStarted:
                center.post(name: .requestOperationStarted, object: operation)
            case .operationEnded(let outcome):
                let userInfo = [MonitoredOutcome.userInfoKey: outcome]
                center.post(name: .requestOperationEnded, object: operation, userInfo: userInfo)
            default: break
            }
        }
    }
}

extension MonitoredOutcome {
    /// The key of the outcome in the `userInfo` of ``Foundation/NSNotification/Name/requestOperationEnded``.
    public static let userInfoKey = "outcome"
}

extension Notification.Name {
    /// An operation started; the object is its ``MonitoredOperation``.
    public static let requestOperationStarted = Notification.Name("Requests.operationStarted")
    /// An operation ended; the object is its ``MonitoredOperation``.
    public static let requestOperationEnded = Notification.Name("Requests.operationEnded")
}
