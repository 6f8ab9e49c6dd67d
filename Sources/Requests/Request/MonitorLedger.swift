// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Keeps the events of one operation a tree: what was begun is ended, once, and after the end comes nothing.
///
/// A cancelled operation has its result while its transfer is still being brought to its end, so the attempt is closed
/// on behalf of that.
struct MonitorLedger: Sendable {
    private var open: (attempt: MonitoredAttempt, head: HTTPResponseHead?)?
    /// What is waited for.
    private var step: AuthenticationStep?
    private var hasStarted = false
    private var hasJoined = false
    private var hasEnded = false

    /// What to tell in the place of an event.
    mutating func handle(_ event: MonitoredEvent) -> [MonitoredEvent] {
        guard !hasEnded else { return [] }
        switch event {
        case .attemptStarted(let attempt):
            defer { open = (attempt, nil) }
            return endStep() + close(error: nil) + [event]
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
        case .operationMade, .responseStarted, .attemptEnded, .retryScheduled, .authenticationStarted,
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

    mutating func respond(_ head: HTTPResponseHead) -> [MonitoredEvent] {
        guard !hasEnded, let attempt = open?.attempt, open?.head == nil else { return [] }
        open?.head = head
        return [.responseStarted(head, attempt)]
    }

    mutating func endAttempt(_ record: Attempt) -> [MonitoredEvent] {
        guard let attempt = open?.attempt else { return [] }
        open = nil
        return [.attemptEnded(attempt, record)]
    }

    private mutating func close(error: RequestError?) -> [MonitoredEvent] {
        guard let (attempt, head) = open else { return [] }
        let record = Attempt(cause: attempt.cause, request: attempt.request, response: head, error: error)
        return endAttempt(record)
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
