// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

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
    private var count = 0
    /// What is waited for.
    private var step: AuthenticationStep?
    private var hasStarted = false
    private var hasJoined = false
    private var hasEnded = false

    /// What to tell in the place of an event.
    mutating func handle(_ event: MonitoredEvent) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        switch event {
        case .operationEnded(let outcome):
            hasEnded = true
            return endStep() + close(error: outcome.interruption) + [event]
        case .operationStarted:
            // An operation that shared the work of another, and parts with it, starts a second time.
            defer { hasStarted = true }
            return hasStarted ? [] : [event]
        case .operationJoined:
            defer { hasJoined = true }
            return hasJoined ? [] : [event]
        case .operationMade, .attemptStarted, .responseStarted, .attemptEnded, .retryScheduled, .authenticationStarted,
            .authenticationEnded:
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

    mutating func beginAttempt(_ record: Attempt, as transfer: ObjectIdentifier) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        count += 1
        let attempt = MonitoredAttempt(number: count, cause: record.cause, request: record.request)
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
