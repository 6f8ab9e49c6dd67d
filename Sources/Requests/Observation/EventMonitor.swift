// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

/// Observes operations without changing anything.
///
/// The built-in monitors print events (``ConsoleMonitor``), count operations (``ActivityMonitor``), record transfers so
/// that they can be drawn (``RecordingMonitor``), post notifications (``EventMonitor/notifications(center:)``) and call
/// a closure (``ClosureMonitor``). A custom monitor implements a single method:
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
/// The events of an operation are reported one at a time, in this order:
///
/// ```
/// created  started?  joined?  ( transfer started  response started?  transfer ended  retry scheduled? )*  ended
/// ```
///
/// During a transfer, any number of `informational response received` may precede the response, and one
/// `trailers received` may follow it, if the transport reports them.
///
/// A pair of `authentication started` and `authentication ended` may come between transfers, before the first transfer,
/// and before a retry is scheduled.
///
/// - `operationCreated` comes exactly once, and first. `operationEnded` comes exactly once, and last, even for an
///   operation that never starts.
/// - `operationStarted` comes at most once.
/// - Every transfer that starts ends exactly once, before the operation ends. Transfers don't overlap, unless an
///   interceptor sends several requests at the same time. A followed redirect counts as a transfer, and so does a
///   retry.
/// - `responseStarted` comes at most once per transfer.
/// - Every wait for a credential that starts ends exactly once, before any other event. The requests of a refresh are
///   separate operations.
/// - `operationEnded` comes when there is a result, possibly after the completion, and after callers that `await` the
///   value. Unless the operation is cancelled in the meantime, it finishes after this event, and dependent operations
///   begin after it.
/// - Operations that share a transfer don't report it. The transfer belongs to a separate operation, which is on no
///   queue. Each waiting operation reports that operation with `operationJoined`, at most once. If the request turns
///   out not to be shareable, the waiting operations send and report their own transfers. A response from a
///   ``ResponseCache`` isn't a transfer either.
/// - Events of different operations come in any order, and simultaneously on several threads.
///
/// ## Requirements
///
/// The library calls the method on its own threads, outside all locks. A slow method delays its operation, so move slow
/// work elsewhere; ``delivering(on:)`` does this for any monitor. A monitor sees everything, including secrets. It must
/// redact whatever it shows or sends elsewhere, as the built-in monitors do.
public protocol EventMonitor: Sendable {
    /// Receives an event.
    func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info)
}

extension EventMonitor where Self == ClosureMonitor {
    /// Returns a monitor that calls a closure for every event.
    public static func events(
        _ receive: @escaping @Sendable (OperationEvent, OperationEvent.Info) -> Void
    ) -> ClosureMonitor {
        ClosureMonitor(receive)
    }

    /// Returns a monitor that calls a closure on the main actor for every event, in the order of each operation's
    /// events.
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
    /// Returns a monitor that calls this monitor on a queue, such as the main queue, instead of the library's threads.
    ///
    /// The calls for an operation keep their order, even on a concurrent queue, because they come one at a time. If the
    /// monitor is too slow, the calls accumulate.
    public func delivering(on queue: DispatchQueue) -> ClosureMonitor {
        let serial = DispatchQueue(label: "Requests.EventMonitor", target: queue)
        return ClosureMonitor { event, operation in serial.async { self.eventOccurred(event, of: operation) } }
    }
}

extension EventMonitor where Self == ClosureMonitor {
    /// Returns a monitor that posts a notification when an operation starts and when it ends.
    ///
    /// Use this monitor for code that has no other way to observe operations. The object of a notification is the
    /// ``OperationEvent/Info``. When an operation ends, the `userInfo` of the notification has its
    /// ``OperationEvent/Outcome`` under the key ``OperationEvent/Outcome/userInfoKey``. Notifications are posted on the
    /// library's threads, so observe them on your own queue. For an operation that never starts, only the end is
    /// posted.
    ///
    /// - Parameter center: The notification center; `NotificationCenter.default` by default.
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

    /// The monitors of the operation, in addition to the environment's monitors.
    public var monitors: [any EventMonitor] {
        get { self[list: Monitors.self] }
        set { self[list: Monitors.self] = newValue }
    }
}
