// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Tells the monitors of one operation what becomes of it, in the order of the tree that `EventMonitor` promises.
///
/// Events come from the thread that runs the pipeline and from the one that cancels. Whoever reports one while nobody
/// else does tells the monitors, also what is reported in the meantime: so they are told in order, one at a time, and
/// under no lock.
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

    /// An event that is to be told.
    private struct Report: Sendable {
        let event: MonitoredEvent
        let operation: MonitoredOperation
        let monitors: [any EventMonitor]
    }

    private let state: Locked<State>

    init(_ monitors: [any EventMonitor] = [], operation: MonitoredOperation) {
        state = Locked(State(operation: operation, monitors: monitors))
    }

    /// Adds a monitor, and tells it what still holds: that the operation was made, has started, has ended; the attempts
    /// that are under way.
    func add(_ monitor: any EventMonitor) {
        change { state in
            state.enqueue(state.ledger.present, for: [monitor])
            state.monitors.append(monitor)
        }
    }

    /// Says what is known of the request, once there is one.
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

    /// Reports that the operation waits for a credential, or no longer.
    func report(_ report: AuthenticationReport) {
        self.report { $0.handle(report) }
    }

    /// Reports that a transfer begins, which is the one of that number.
    func reportBegin(of record: Attempt, as transfer: ObjectIdentifier, number: Int) {
        report { $0.beginAttempt(record, as: transfer, number: number) }
    }

    /// Reports the beginning of the response to a transfer.
    func report(_ head: HTTPResponseHead, to transfer: ObjectIdentifier) {
        report { $0.respond(head, to: transfer) }
    }

    /// Reports a response to a transfer that isn't the final one.
    func report(informational head: HTTPResponseHead, to transfer: ObjectIdentifier) {
        report { $0.receive(informational: head, to: transfer) }
    }

    /// Reports the fields behind the content of the response to a transfer.
    func report(trailers fields: HTTPHeaders, to transfer: ObjectIdentifier) {
        report { $0.receive(trailers: fields, to: transfer) }
    }

    /// Reports the end of a transfer, and the content that it has brought, if that is in memory.
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

/// Keeps the events of one operation a tree: what was begun is ended, once, and after the end comes nothing.
///
/// A cancelled operation has its result while its transfer is still being brought to its end, so the attempt is closed
/// on behalf of that.
struct MonitorLedger: Sendable {
    private struct OpenAttempt: Sendable {
        let transfer: ObjectIdentifier
        let attempt: MonitoredAttempt
        var head: HTTPResponseHead?
    }

    /// The attempts whose transfers are under way, in their order.
    private var open: [OpenAttempt] = []
    /// What is waited for.
    private var step: AuthenticationStep?
    private var hasStarted = false
    private var hasJoined = false
    private var outcome: MonitoredOutcome?
    private var hasEnded: Bool { outcome != nil }

    /// What to tell a monitor that comes now: what still holds.
    var present: [MonitoredEvent] {
        var events = [MonitoredEvent.operationMade]
        if hasStarted { events.append(.operationStarted) }
        if let step { events.append(.authenticationStarted(step)) }
        for open in open {
            events.append(.attemptStarted(open.attempt))
            if let head = open.head { events.append(.responseStarted(head, open.attempt)) }
        }
        if let outcome { events.append(.operationEnded(outcome)) }
        return events
    }

    /// What to tell in the place of an event.
    mutating func handle(_ event: MonitoredEvent) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        switch event {
        case .operationEnded(let outcome):
            self.outcome = outcome
            return endStep() + close(error: outcome.interruption) + [event]
        case .operationStarted:
            // An operation that shared the work of another, and parts with it, starts a second time.
            defer { hasStarted = true }
            return hasStarted ? [] : [event]
        case .operationJoined:
            defer { hasJoined = true }
            return hasJoined ? [] : [event]
        case .operationMade, .attemptStarted, .informationalResponseReceived, .responseStarted, .trailersReceived,
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

    /// Ends the waiting where there is any.
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
    /// What ended the attempt that was under way.
    fileprivate var interruption: RequestError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        case .cancelled: RequestError(.cancelled, phase: .receiving)
        }
    }
}
