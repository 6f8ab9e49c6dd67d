// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What an ``EventMonitor`` is told, as a value: for monitors that treat all events alike, or hand them on.
public enum MonitoredEvent: Sendable {
    /// An operation was made.
    case operationMade
    /// The operation's turn has come.
    case operationStarted
    /// The operation waits for what comes of this one.
    case operationJoined(MonitoredOperation)
    /// A request is handed to the transport.
    case attemptStarted(MonitoredAttempt)
    /// The head of the final response is there.
    case responseStarted(HTTPResponseHead, MonitoredAttempt)
    /// The attempt is over.
    case attemptEnded(MonitoredAttempt, Attempt)
    /// The operation will try again.
    case retryScheduled(after: Duration, because: RequestError)
    /// The operation waits for a credential.
    case authenticationStarted(AuthenticationStep)
    /// It waits no longer, and has one or has none.
    case authenticationEnded(AuthenticationStep, isGranted: Bool)
    /// The operation has its result.
    case operationEnded(MonitoredOutcome)

    /// Calls the method of the monitor that the event is for.
    public func report(to monitor: some EventMonitor, of operation: MonitoredOperation) {
        switch self {
        case .operationMade: monitor.operationMade(operation)
        case .operationStarted: monitor.operationStarted(operation)
        case .operationJoined(let leader): monitor.operationJoined(operation, transferOf: leader)
        case .attemptStarted(let attempt): monitor.attemptStarted(attempt, of: operation)
        case .responseStarted(let head, let attempt): monitor.responseStarted(head, to: attempt, of: operation)
        case .attemptEnded(let attempt, let record): monitor.attemptEnded(attempt, with: record, of: operation)
        case .retryScheduled(let delay, let error): monitor.retryScheduled(after: delay, because: error, of: operation)
        case .authenticationStarted(let step): monitor.authenticationStarted(step, of: operation)
        case .authenticationEnded(let step, let isGranted):
            monitor.authenticationEnded(step, isGranted: isGranted, of: operation)
        case .operationEnded(let outcome): monitor.operationEnded(operation, with: outcome)
        }
    }
}
