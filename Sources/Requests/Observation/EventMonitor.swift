// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Observes operations, without changing anything.
///
/// Ready-made monitors print (``ConsoleMonitor``), count (``ActivityMonitor``), record what ran so that it can be drawn
/// (``RecordingMonitor``), and post notifications (``EventMonitor/notifications(center:)``); a closure is one too
/// (``ClosureMonitor``). One of your own has one method:
///
/// ```swift
/// struct FailureCounter: EventMonitor {
///     let counter: Counter
///
///     func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
///         if case .operationEnded(.failure(let error)) = event { counter.increment(label: error.shortDescription) }
///     }
/// }
/// ```
///
/// ## Guarantees
///
/// The events of an operation are a tree, reported in its order, one after the other:
///
/// ```
/// created  started?  joined?  ( transfer started  response started?  transfer ended  retry scheduled? )*  ended
/// ```
///
/// Within a transfer, any number of `informational response received` may come before the response, and one `trailers
/// received` behind it, over transports that report them.
///
/// Between transfers, before the first, and before a retry is scheduled, there may be `authentication started` and
/// `authentication ended`.
///
/// - `operationCreated` comes exactly once, and first; `operationEnded` exactly once, and last, also for an operation
///   that never starts.
/// - `operationStarted` comes at most once.
/// - Every transfer that started ends exactly once, before the operation ends, and before the next one starts unless an
///   interceptor sends several requests at once. A redirect that is followed is a transfer, and so is a retry.
/// - `responseStarted` comes at most once a transfer.
/// - Every wait for a credential that started ends exactly once, before any other event. The requests of a refresh are
///   operations of their own.
/// - `operationEnded` comes when there is a result: perhaps after the completion, and after callers that `await` the
///   value. Unless it is cancelled meanwhile, the operation isn't finished before, and dependent operations haven't
///   begun.
/// - Operations that share a transfer report none of their own: it has an operation of its own, which is on no queue,
///   and `operationJoined` names it to each waiting operation, at most once. They do have transfers if the request turns
///   out not to be shareable. A response from a ``ResponseCache`` is no transfer either.
/// - Events of different operations come in any order, and at the same time on several threads.
///
/// ## Requirements
///
/// The method is called on the library's threads, outside of all locks. A slow one delays its operation: move slow
/// work elsewhere, for which ``delivering(on:)`` works with any monitor. A monitor sees everything, secrets included.
/// Whatever it shows or sends elsewhere, it has to redact, as the ready-made ones do.
public protocol EventMonitor: Sendable {
    /// Receives an event.
    func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info)
}

extension EventMonitor where Self == ClosureMonitor {
    /// A monitor that is a closure, called for every event.
    public static func events(
        _ receive: @escaping @Sendable (OperationEvent, OperationEvent.Info) -> Void
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
        _ receive: @escaping @MainActor (OperationEvent, OperationEvent.Info) -> Void
    ) -> ClosureMonitor {
        ClosureMonitor(queue.isolating(receive)).delivering(on: .main)
    }
}

extension EventMonitor {
    /// Returns a monitor that calls this one on a queue, such as the main one, rather than on the threads of the
    /// pipeline.
    ///
    /// The calls for an operation keep their order, also on a concurrent queue, because they come one at a time. If the
    /// monitor is too slow, the calls accumulate.
    public func delivering(on queue: DispatchQueue) -> ClosureMonitor {
        let serial = DispatchQueue(label: "Requests.EventMonitor", target: queue)
        return ClosureMonitor { event, operation in serial.async { self.eventOccurred(event, of: operation) } }
    }
}

extension EventMonitor where Self == ClosureMonitor {
    /// Posts a notification when an operation starts and when it ends, for code that has no other way to observe it.
    ///
    /// The object of a notification is the ``OperationEvent/Info``; the end has its ``OperationEvent/Outcome`` in `userInfo`,
    /// with the key ``OperationEvent/Outcome/userInfoKey``. Notifications are posted on the threads of the pipeline:
    /// observe them on a queue of yours. An operation that never starts posts its end alone.
    ///
    /// - Parameter center: Where to post; by default `NotificationCenter.default`.
    /// - Returns: The monitor.
    public static func notifications(center: NotificationCenter = .default) -> ClosureMonitor {
        ClosureMonitor { event, operation in
            switch event {
            case .operationStarted:
                center.post(name: .requestOperationStarted, object: operation)
            case .operationEnded(let outcome):
                let userInfo = [OperationEvent.Outcome.userInfoKey: outcome]
                center.post(name: .requestOperationEnded, object: operation, userInfo: userInfo)
            default: break
            }
        }
    }
}

extension OperationEvent.Outcome {
    /// The key of the outcome in the `userInfo` of ``Foundation/NSNotification/Name/requestOperationEnded``.
    public static let userInfoKey = "outcome"
}

extension Notification.Name {
    /// An operation started; the object is its ``OperationEvent/Info``.
    public static let requestOperationStarted = Notification.Name("Requests.operationStarted")
    /// An operation ended; the object is its ``OperationEvent/Info``.
    public static let requestOperationEnded = Notification.Name("Requests.operationEnded")
}

extension RequestOptions {
    private enum Monitors: RequestListOption {
        typealias Element = any EventMonitor
        static let isPartOfFingerprint = false
    }

    /// The monitors of the operation, besides those of the environment.
    public var monitors: [any EventMonitor] {
        get { self[list: Monitors.self] }
        set { self[list: Monitors.self] = newValue }
    }
}
