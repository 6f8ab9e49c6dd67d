// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Posts a notification where an operation starts and where it ends, for code that can't be reached otherwise.
///
/// The object of a notification is the ``MonitoredOperation``. They are posted on the threads of the pipeline; observe
/// them on a queue of yours. An operation that never starts posts its end alone.
public struct NotificationMonitor: EventMonitor {
    private let center: NotificationCenter

    /// Makes a monitor that posts to a center; by default, the one that everybody has.
    public init(center: NotificationCenter = .default) {
        self.center = center
    }

    /// Posts that the operation started.
    public func operationStarted(_ operation: MonitoredOperation) {
        center.post(name: .requestOperationStarted, object: operation)
    }

    /// Posts that the operation ended, with the ``MonitoredOutcome`` as `outcome` in the notification's `userInfo`.
    public func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome) {
        center.post(name: .requestOperationEnded, object: operation, userInfo: [Self.outcomeKey: outcome])
    }

    /// The key of the ``MonitoredOutcome`` in the `userInfo` of ``Foundation/NSNotification/Name/requestOperationEnded``.
    public static let outcomeKey = "outcome"
}

extension Notification.Name {
    /// An operation started; the object is its ``MonitoredOperation``.
    public static let requestOperationStarted = Notification.Name("Requests.operationStarted")
    /// An operation ended; the object is its ``MonitoredOperation``.
    public static let requestOperationEnded = Notification.Name("Requests.operationEnded")
}
