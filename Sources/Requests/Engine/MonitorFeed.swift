// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reports the events of one operation to its monitors, in the order of the tree that `EventMonitor` guarantees.
///
/// Events come from the thread that runs the call and from the one that cancels it. The first thread to report one
/// notifies the monitors, also of events that are reported meanwhile. So the monitors are notified in order, one event
/// at a time, and outside of all locks.
final class MonitorFeed: Sendable {
    private struct State: Sendable {
        var ledger = MonitorLedger()
        var operation: MonitoredOperation
        var monitors: [any EventMonitor]
        var pending: [Report] = []
        var isReporting = false

        mutating func enqueue(_ events: [MonitoredEvent], for monitors: [any EventMonitor]) {
            guard !monitors.isEmpty else { return }
            for event in events { pending.append(Report(event: event, operation: operation, monitors: monitors)) }
        }
    }

    /// An event to be reported.
    private struct Report: Sendable {
        let event: MonitoredEvent
        let operation: MonitoredOperation
        let monitors: [any EventMonitor]
    }

    private let state: Locked<State>

    init(_ monitors: [any EventMonitor] = [], operation: MonitoredOperation) {
        state = Locked(State(operation: operation, monitors: monitors))
    }

    /// Adds a monitor, and reports the present state to it: that the operation was made, has started, has ended; the
    /// running attempts.
    func add(_ monitor: any EventMonitor) {
        change { state in
            state.enqueue(state.ledger.present, for: [monitor])
            state.monitors.append(monitor)
        }
    }

    /// Sets the identity of the request, once there is one.
    func identify(by identifier: @escaping @Sendable () -> String, _ options: RequestOptions) {
        let (tag, userInfo) = (options.tag, options.userInfo)
        state.withLock { state in
            state.operation.identify(by: identifier)
            (state.operation.tag, state.operation.userInfo) = (tag, userInfo)
        }
    }

    /// The operation, as the monitors know it.
    var operation: MonitoredOperation { state.withLock { $0.operation } }

    func report(_ event: MonitoredEvent) {
        report { $0.handle(event) }
    }

    /// Reports that the operation waits for a credential, or has stopped waiting.
    func report(_ report: AuthenticationReport) {
        self.report { $0.handle(report) }
    }

    /// Reports that a transfer with the given number begins.
    func reportBegin(of record: Attempt, as transfer: ObjectIdentifier, number: Int) {
        report { $0.beginAttempt(record, as: transfer, number: number) }
    }

    /// Reports the beginning of the response to a transfer.
    func report(_ head: HTTPResponseHead, to transfer: ObjectIdentifier) {
        report { $0.respond(head, to: transfer) }
    }

    /// Reports a response before the final one.
    func report(informational head: HTTPResponseHead, to transfer: ObjectIdentifier) {
        report { $0.receive(informational: head, to: transfer) }
    }

    /// Reports the fields behind the content of the response to a transfer.
    func report(trailers fields: HTTPHeaders, to transfer: ObjectIdentifier) {
        report { $0.receive(trailers: fields, to: transfer) }
    }

    /// Reports the end of a transfer, with its content if that is in memory.
    func reportEnd(of record: Attempt, content: Data?, as transfer: ObjectIdentifier) {
        var record = record
        record.content = content
        report { [record] in $0.endAttempt(record, as: transfer) }
    }

    private func report(_ handle: @Sendable (inout MonitorLedger) -> [MonitoredEvent]) {
        change { $0.enqueue(handle(&$0.ledger), for: $0.monitors) }
    }

    private func change(_ change: @Sendable (inout State) -> Void) {
        let reports = state.withLock { state in
            change(&state)
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard reports else { return }
        while let report = next() {
            for monitor in report.monitors { report.event.report(to: monitor, of: report.operation) }
        }
    }

    private func next() -> Report? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isReporting = false
                return nil
            }
            return state.pending.removeFirst()
        }
    }
}

/// Keeps the events of one operation a tree: every beginning has one end, and no event follows the operation's end.
///
/// A cancelled operation has its result while its transfer is still ending, so the ledger closes the attempt in its
/// place.
struct MonitorLedger: Sendable {
    private struct OpenAttempt: Sendable {
        let transfer: ObjectIdentifier
        let attempt: MonitoredAttempt
        var head: HTTPResponseHead?
    }

    /// The running attempts, in their order.
    private var open: [OpenAttempt] = []
    /// The authentication step that the operation waits for.
    private var step: AuthenticationStep?
    private var hasStarted = false
    private var hasJoined = false
    private var outcome: MonitoredOutcome?
    private var hasEnded: Bool { outcome != nil }

    /// The events for a new monitor: the present state.
    var present: [MonitoredEvent] {
        var events = [MonitoredEvent.operationCreated]
        if hasStarted { events.append(.operationStarted) }
        if let step { events.append(.authenticationStarted(step)) }
        for open in open {
            events.append(.attemptStarted(open.attempt))
            if let head = open.head { events.append(.responseStarted(head, open.attempt)) }
        }
        if let outcome { events.append(.operationEnded(outcome)) }
        return events
    }

    /// Returns the events to report for an event.
    mutating func handle(_ event: MonitoredEvent) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        switch event {
        case .operationEnded(let outcome):
            self.outcome = outcome
            return endStep() + close(error: outcome.interruption) + [event]
        case .operationStarted:
            // An operation that shared the work of another, and leaves it, starts a second time.
            defer { hasStarted = true }
            return hasStarted ? [] : [event]
        case .operationJoined:
            defer { hasJoined = true }
            return hasJoined ? [] : [event]
        case .operationCreated, .attemptStarted, .informationalResponseReceived, .responseStarted, .trailersReceived,
            .attemptEnded, .retryScheduled, .authenticationStarted, .authenticationEnded:
            return [event]
        }
    }

    mutating func handle(_ report: AuthenticationReport) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        switch report {
        case .started(let next):
            defer { step = next }
            return endStep() + [.authenticationStarted(next)]
        case .ended(let isGranted):
            return endStep(isGranted: isGranted)
        }
    }

    /// Ends the waiting if there is any.
    private mutating func endStep(isGranted: Bool = false) -> [MonitoredEvent] {
        guard let step else { return [] }
        self.step = nil
        return [.authenticationEnded(step, isGranted: isGranted)]
    }

    mutating func beginAttempt(
        _ record: Attempt,
        as transfer: ObjectIdentifier,
        number: Int
    ) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        let attempt = MonitoredAttempt(number: number, cause: record.cause, request: record.request)
        open.append(OpenAttempt(transfer: transfer, attempt: attempt))
        return endStep() + [.attemptStarted(attempt)]
    }

    mutating func respond(_ head: HTTPResponseHead, to transfer: ObjectIdentifier) -> [MonitoredEvent] {
        guard !hasEnded, let index = open.firstIndex(where: { $0.transfer == transfer }), open[index].head == nil else {
            return []
        }
        open[index].head = head
        return [.responseStarted(head, open[index].attempt)]
    }

    mutating func receive(informational head: HTTPResponseHead, to transfer: ObjectIdentifier) -> [MonitoredEvent] {
        guard !hasEnded, let open = open.first(where: { $0.transfer == transfer }), open.head == nil else { return [] }
        return [.informationalResponseReceived(head, open.attempt)]
    }

    mutating func receive(trailers fields: HTTPHeaders, to transfer: ObjectIdentifier) -> [MonitoredEvent] {
        guard !hasEnded, let open = open.first(where: { $0.transfer == transfer }), open.head != nil else { return [] }
        return [.trailersReceived(fields, open.attempt)]
    }

    mutating func endAttempt(_ record: Attempt, as transfer: ObjectIdentifier) -> [MonitoredEvent] {
        guard let index = open.firstIndex(where: { $0.transfer == transfer }) else { return [] }
        return [.attemptEnded(open.remove(at: index).attempt, record)]
    }

    private mutating func close(error: RequestError?) -> [MonitoredEvent] {
        defer { open = [] }
        return open.map { open in
            let (attempt, head) = (open.attempt, open.head)
            let record = Attempt(cause: attempt.cause, request: attempt.request, response: head, error: error)
            return .attemptEnded(attempt, record)
        }
    }
}

extension MonitoredOutcome {
    /// The error that ended the running attempt.
    fileprivate var interruption: RequestError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        case .cancelled: RequestError(.cancelled, phase: .receiving)
        }
    }
}
