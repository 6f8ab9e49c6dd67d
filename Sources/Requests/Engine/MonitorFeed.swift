// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Tells the monitors of one operation what becomes of it, in the order of the tree that `EventMonitor` promises.
///
/// Events come from the thread that runs the pipeline and from the one that cancels. Whoever reports one while nobody
/// else does tells the monitors, also what is reported in the meantime: so they are told in order, one at a time, and
/// under no lock.
final class MonitorFeed: Sendable {
    private struct State: Sendable {
        var ledger = MonitorLedger()
        var operation: MonitoredOperation
        var pending: [(event: MonitoredEvent, operation: MonitoredOperation)] = []
        var isReporting = false

        mutating func enqueue(_ events: [MonitoredEvent]) {
            for event in events { pending.append((event, operation)) }
        }
    }

    private let monitors: [any EventMonitor]
    private let state: Locked<State>

    init(_ monitors: [any EventMonitor], operation: MonitoredOperation) {
        self.monitors = monitors
        state = Locked(State(operation: operation))
    }

    /// Says what is known of the request, once there is one.
    func identify(by identifier: @escaping @Sendable () -> String, tag: String?) {
        state.withLock { state in
            state.operation.identify(by: identifier)
            state.operation.tag = tag
        }
    }

    /// The operation, as the monitors know it.
    var operation: MonitoredOperation { state.withLock { $0.operation } }

    func report(_ event: MonitoredEvent) {
        change { $0.handle(event) }
    }

    /// Reports that the operation waits for a credential, or no longer.
    func report(_ report: AuthenticationReport) {
        change { $0.handle(report) }
    }

    /// Reports that a transfer begins.
    func reportBegin(of record: Attempt, as transfer: ObjectIdentifier) {
        change { $0.beginAttempt(record, as: transfer) }
    }

    /// Reports the beginning of the response to a transfer.
    func report(_ head: HTTPResponseHead, to transfer: ObjectIdentifier) {
        change { $0.respond(head, to: transfer) }
    }

    /// Reports the end of a transfer.
    func reportEnd(of record: Attempt, as transfer: ObjectIdentifier) {
        change { $0.endAttempt(record, as: transfer) }
    }

    private func change(_ handle: @Sendable (inout MonitorLedger) -> [MonitoredEvent]) {
        let reports = state.withLock { state in
            state.enqueue(handle(&state.ledger))
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard reports else { return }
        while let (event, operation) = next() {
            for monitor in monitors { event.report(to: monitor, of: operation) }
        }
    }

    private func next() -> (MonitoredEvent, MonitoredOperation)? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isReporting = false
                return nil
            }
            return state.pending.removeFirst()
        }
    }
}
