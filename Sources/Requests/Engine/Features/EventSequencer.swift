// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Keeps the events of one operation well nested: every beginning has one end, and nothing follows the operation's end.
///
/// A cancelled operation has its result before its transfer has ended. In this case, the sequencer itself adds the
/// event that ends the transfer.
struct EventSequencer: Sendable {
    private struct OpenTransfer: Sendable {
        let transfer: OperationEvent.Transfer
        var head: HTTPResponseHead?
    }

    /// The running transfers, in order.
    private var openTransfers: [OpenTransfer] = []
    /// The authentication step that the operation waits for.
    private var authenticationStep: Authorization.Step?
    private var hasStarted = false
    private var hasJoined = false
    private var outcome: OperationEvent.Outcome?

    /// The events that describe the current state to a new monitor.
    var current: [OperationEvent] {
        var events = [OperationEvent.operationCreated]
        if hasStarted { events.append(.operationStarted) }
        if let authenticationStep { events.append(.authenticationStarted(authenticationStep)) }
        for open in openTransfers {
            events.append(.transferStarted(open.transfer))
            if let head = open.head { events.append(.responseStarted(head, open.transfer)) }
        }
        if let outcome { events.append(.operationEnded(outcome)) }
        return events
    }

    /// Returns the events to report when an event occurs.
    ///
    /// Events that have already been reported, such as the beginning of a transfer when an observer is added late, are
    /// dropped.
    mutating func handle(_ event: OperationEvent) -> [OperationEvent] {
        guard outcome == nil else { return [] }
        switch event {
        case .operationStarted:
            // An operation that shared another operation's work starts again when it leaves the shared work.
            defer { hasStarted = true }
            return hasStarted ? [] : [event]
        case .operationJoined:
            defer { hasJoined = true }
            return hasJoined ? [] : [event]
        case .transferStarted(let transfer):
            guard index(of: transfer) == nil else { return [] }
            openTransfers.append(OpenTransfer(transfer: transfer))
            return endStep() + [event]
        case .informationalResponseReceived(_, let transfer):
            guard let index = index(of: transfer), openTransfers[index].head == nil else { return [] }
            return [event]
        case .responseStarted(let head, let transfer):
            guard let index = index(of: transfer), openTransfers[index].head == nil else { return [] }
            openTransfers[index].head = head
            return [event]
        case .trailersReceived(_, let transfer):
            guard let index = index(of: transfer), openTransfers[index].head != nil else { return [] }
            return [event]
        case .transferEnded(let transfer, _):
            guard let index = index(of: transfer) else { return [] }
            openTransfers.remove(at: index)
            return [event]
        case .authenticationStarted(let next):
            defer { authenticationStep = next }
            return endStep() + [event]
        case .authenticationEnded(_, let isGranted):
            return endStep(isGranted: isGranted)
        case .operationEnded(let outcome):
            self.outcome = outcome
            return endStep() + close(error: outcome.interruption) + [event]
        case .operationCreated, .retryScheduled:
            return [event]
        }
    }

    private func index(of transfer: OperationEvent.Transfer) -> Int? {
        openTransfers.firstIndex { $0.transfer.number == transfer.number }
    }

    /// Ends the wait for a credential, if there is one.
    private mutating func endStep(isGranted: Bool = false) -> [OperationEvent] {
        guard let authenticationStep else { return [] }
        self.authenticationStep = nil
        return [.authenticationEnded(authenticationStep, isGranted: isGranted)]
    }

    private mutating func close(error: RequestError?) -> [OperationEvent] {
        defer { openTransfers = [] }
        return openTransfers.map { open in
            let (transfer, head) = (open.transfer, open.head)
            let record = TransferRecord(cause: transfer.cause, request: transfer.request, response: head, error: error)
            return .transferEnded(transfer, record)
        }
    }
}

extension OperationEvent.Outcome {
    /// The error of the transfers that are still open when the operation ends with this outcome; `nil` after a success.
    fileprivate var interruption: RequestError? {
        switch self {
        case .success: nil
        case .failure(let error): error
        case .cancelled: RequestError(.cancelled, phase: .receiving)
        }
    }
}
