// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Reports the events of one operation to its monitors, in the order of the tree that `EventMonitor` guarantees.
///
/// Events come from the thread of the run and from the one that cancels it. The first thread to report one
/// notifies the monitors, also of events that are reported meanwhile. So the monitors are notified in order, one event
/// at a time, and outside of all locks.
final class MonitorFeed: Sendable {
    private struct State: Sendable {
        var ledger = MonitorLedger()
        var operation: OperationInfo
        var monitors: [any EventMonitor]
        var pending: [Report] = []
        var isReporting = false

        mutating func enqueue(_ events: [OperationEvent], for monitors: [any EventMonitor]) {
            guard !monitors.isEmpty else { return }
            for event in events { pending.append(Report(event: event, operation: operation, monitors: monitors)) }
        }
    }

    /// An event to be reported.
    private struct Report: Sendable {
        let event: OperationEvent
        let operation: OperationInfo
        let monitors: [any EventMonitor]
    }

    private let state: Locked<State>

    init(_ monitors: [any EventMonitor] = [], operation: OperationInfo) {
        state = Locked(State(operation: operation, monitors: monitors))
    }

    /// Adds a monitor, and reports the present state to it: that the operation was made, has started, has ended; the
    /// running transfers.
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
    var operation: OperationInfo { state.withLock { $0.operation } }

    func report(_ event: OperationEvent) {
        report { $0.handle(event) }
    }

    private func report(_ handle: @Sendable (inout MonitorLedger) -> [OperationEvent]) {
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
            for monitor in report.monitors { monitor.eventOccurred(report.event, of: report.operation) }
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

extension MonitorFeed: OperationObserver {
    func observe(_ report: OperationReport) {
        switch report {
        case .started: self.report(.operationStarted)
        case .transfer(let report, let transfer): if !transfer.isShared { observe(report, of: transfer) }
        case .retryScheduled(let delay, let error): self.report(.retryScheduled(after: delay, because: error))
        case .authentication(let report): self.report { $0.handle(report) }
        case .joined(let operation): self.report(.operationJoined(operation))
        case .settled(let outcome): self.report(.operationEnded(outcome))
        case .dependencyAdded, .prepared, .delivered, .settledUnstarted, .finished: break
        }
    }

    private func observe(_ report: TransferReport, of transfer: Transfer) {
        let record: TransferRecord?
        switch report {
        case .sent, .content, .received: return
        // Made outside of the feed's lock.
        case .began, .ended: record = transfer.record
        case .informational, .head, .trailers: record = nil
        }
        let id = ObjectIdentifier(transfer)
        self.report { $0.handle(report, record, of: id) }
    }
}

extension AnyRequestOperation {
    /// The events of the operation, as they occur; the sequence ends with `operationEnded`.
    ///
    /// ```swift
    /// for await event in operation.events {
    ///     if case .retryScheduled(let delay, _) = event { print("once more in \(delay)") }
    /// }
    /// ```
    ///
    /// It begins with `operationCreated`, and with the present state: that the operation has started, and each running
    /// transfer, with its number and the head of its response. From then on no event is left out.
    ///
    /// Past events aren't reported: transfers that are over, which are among the ``transfers``, a scheduled retry, a
    /// joined transfer of another operation, a wait for a credential that began before the operation was observed. To
    /// see all events, ask an operation of `makeOperation(for:)` before you add it.
    ///
    /// Each call makes a sequence of its own.
    public final var events: AsyncStream<OperationEvent> {
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
    /// transfers, by their numbers. Then it receives every event, as ``EventMonitor`` guarantees; ``events`` explains
    /// which ones are past. Safe from any thread.
    public final func addMonitor(_ monitor: any EventMonitor) {
        monitorFeed.add(monitor)
    }

    /// The feed of the monitors, which is made now if there is none.
    private var monitorFeed: MonitorFeed {
        if let feed = observer(MonitorFeed.self) { return feed }
        let feed = MonitorFeed(operation: OperationInfo(requestType: shownType))
        if kind.sendsRequest, let request = anyRequest {
            feed.identify(by: { request.identifier }, configuration.options)
        }
        let isAdded = add(feed) {
            if isExecuting { feed.report(.operationStarted) }
            for (transfer, number) in record.ownTransfers { transfer.add(feed, number: number, of: self) }
        }
        return isAdded ? feed : observer(MonitorFeed.self) ?? feed
    }
}

/// Keeps the events of one operation a tree: every beginning has one end, and no event follows the operation's end.
///
/// A cancelled operation has its result while its transfer is still ending, so the ledger closes the transfer in its
/// place.
struct MonitorLedger: Sendable {
    private struct OpenTransfer: Sendable {
        let id: ObjectIdentifier
        let transfer: OperationEvent.Transfer
        var head: HTTPResponseHead?
    }

    /// The running transfers, in their order.
    private var open: [OpenTransfer] = []
    /// The authentication step that the operation waits for.
    private var step: Authorization.Step?
    private var hasStarted = false
    private var hasJoined = false
    private var outcome: OperationEvent.Outcome?
    private var hasEnded: Bool { outcome != nil }

    /// The events for a new monitor: the present state.
    var present: [OperationEvent] {
        var events = [OperationEvent.operationCreated]
        if hasStarted { events.append(.operationStarted) }
        if let step { events.append(.authenticationStarted(step)) }
        for open in open {
            events.append(.transferStarted(open.transfer))
            if let head = open.head { events.append(.responseStarted(head, open.transfer)) }
        }
        if let outcome { events.append(.operationEnded(outcome)) }
        return events
    }

    /// Returns the events to report for an event.
    mutating func handle(_ event: OperationEvent) -> [OperationEvent] {
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
        case .operationCreated, .transferStarted, .informationalResponseReceived, .responseStarted, .trailersReceived,
            .transferEnded, .retryScheduled, .authenticationStarted, .authenticationEnded:
            return [event]
        }
    }

    mutating func handle(_ report: AuthenticationReport) -> [OperationEvent] {
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
    private mutating func endStep(isGranted: Bool = false) -> [OperationEvent] {
        guard let step else { return [] }
        self.step = nil
        return [.authenticationEnded(step, isGranted: isGranted)]
    }

    /// Returns the events for a report of a transfer; its record is needed if the report is its beginning or its end.
    mutating func handle(
        _ report: TransferReport,
        _ record: TransferRecord?,
        of id: ObjectIdentifier
    ) -> [OperationEvent] {
        guard let index = open.firstIndex(where: { $0.id == id }) else {
            guard !hasEnded, case .began(let number) = report, let record else { return [] }
            let transfer = OperationEvent.Transfer(number: number, cause: record.cause, request: record.request)
            open.append(OpenTransfer(id: id, transfer: transfer))
            return endStep() + [.transferStarted(transfer)]
        }
        let (transfer, hasHead) = (open[index].transfer, open[index].head != nil)
        switch report {
        case .informational(let head) where !hasHead:
            return [.informationalResponseReceived(head, transfer)]
        case .head(let head) where !hasHead:
            open[index].head = head
            return [.responseStarted(head, transfer)]
        case .trailers(let fields) where hasHead:
            return [.trailersReceived(fields, transfer)]
        case .ended(let content):
            open.remove(at: index)
            guard var record else { return [] }
            record.content = content
            return [.transferEnded(transfer, record)]
        default:
            // A monitor that is added late may be notified of the beginning twice.
            return []
        }
    }

    private mutating func close(error: RequestError?) -> [OperationEvent] {
        defer { open = [] }
        return open.map { open in
            let (transfer, head) = (open.transfer, open.head)
            let record = TransferRecord(cause: transfer.cause, request: transfer.request, response: head, error: error)
            return .transferEnded(transfer, record)
        }
    }
}

extension OperationEvent.Outcome {
    /// The error that ended the running transfer.
    fileprivate var interruption: RequestError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        case .cancelled: RequestError(.cancelled, phase: .receiving)
        }
    }
}
