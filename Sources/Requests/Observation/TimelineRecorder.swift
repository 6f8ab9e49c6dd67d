// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Makes a timeline of events, and drops the oldest operations.
struct TimelineRecorder: Sendable {
    let limit: Int
    private var start: Date
    /// The time of the last event: if the clock is set back, spans don't become negative.
    private var latest = Duration.zero
    private var entries: [UInt64: RequestTimeline.Entry] = [:]
    /// The operations in their order; those before `first` are dropped.
    private var order: [UInt64] = []
    private var first = 0
    private var forgotten = 0

    /// The maximum number of steps of one operation.
    static let mostSteps = 1000

    init(limit: Int, start: Date) {
        self.limit = max(1, limit)
        self.start = start
    }

    mutating func timeline(at date: Date) -> RequestTimeline {
        let end = time(at: date)
        return RequestTimeline(
            start: start,
            end: end,
            entries: order[first...].compactMap { entries[$0] },
            forgotten: forgotten
        )
    }

    mutating func record(_ event: MonitoredEvent, of operation: MonitoredOperation, at date: Date) {
        let time = time(at: date)
        if case .operationCreated = event { add(operation, at: time) }
        entries[operation.id]?.record(event, of: operation, at: time)
    }

    private mutating func time(at date: Date) -> Duration {
        // NaN and times millennia away are ignored: such doubles can't be converted to integers safely.
        let microseconds = (date.timeIntervalSince(start) * 1_000_000).rounded()
        if abs(microseconds) < 1e15 { latest = max(latest, .microseconds(Int64(microseconds))) }
        return latest
    }

    private mutating func add(_ operation: MonitoredOperation, at time: Duration) {
        guard entries.updateValue(.init(operation: operation, created: time), forKey: operation.id) == nil else {
            return
        }
        order.append(operation.id)
        guard order.count - first > limit else { return }
        entries[order[first]] = nil
        first += 1
        forgotten += 1
        // Done only now and then, so that the cost per operation doesn't depend on their number.
        guard first > limit else { return }
        order.removeFirst(first)
        first = 0
    }
}

extension RequestTimeline.Entry {
    fileprivate mutating func record(_ event: MonitoredEvent, of operation: MonitoredOperation, at time: Duration) {
        self.operation = operation
        switch event {
        case .operationCreated, .informationalResponseReceived, .trailersReceived:
            break
        case .operationStarted:
            started = time
        case .operationJoined(let leader):
            self.leader = leader
        case .attemptStarted(let attempt):
            endWait(at: time)
            append(.attempt(.init(attempt, at: time)))
        case .responseStarted(let head, let attempt):
            change(attempt) { $0.response = head }
        case .attemptEnded(let attempt, let record):
            change(attempt) { $0.end(with: record, at: time) }
        case .retryScheduled(let delay, let error):
            append(.wait(.init(start: time, delay: delay, reason: error.code)))
        case .authenticationStarted(let step):
            endWait(at: time)
            append(.authentication(.init(step: step, start: time)))
        case .authenticationEnded(_, let isGranted):
            endAuthentication(isGranted: isGranted, at: time)
        case .operationEnded(let outcome):
            endWait(at: time)
            ended = time
            self.outcome = .init(outcome)
        }
    }

    private mutating func append(_ step: RequestTimeline.Step) {
        if steps.count >= TimelineRecorder.mostSteps {
            steps.removeFirst()
            forgottenSteps += 1
        }
        steps.append(step)
    }

    private mutating func endWait(at time: Duration) {
        guard case .wait(var pause) = steps.last, pause.end == nil else { return }
        pause.end = time
        steps[steps.count - 1] = .wait(pause)
    }

    private mutating func endAuthentication(isGranted: Bool, at time: Duration) {
        guard case .authentication(var wait) = steps.last, wait.end == nil else { return }
        wait.end = time
        wait.isGranted = isGranted
        steps[steps.count - 1] = .authentication(wait)
    }

    private mutating func change(_ attempt: MonitoredAttempt, _ change: (inout RequestTimeline.Span) -> Void) {
        for index in steps.indices.reversed() {
            guard case .attempt(var span) = steps[index], span.number == attempt.number else { continue }
            change(&span)
            steps[index] = .attempt(span)
            return
        }
    }
}

extension RequestTimeline.Span {
    fileprivate init(_ attempt: MonitoredAttempt, at time: Duration) {
        var request = attempt.request
        contentLength = request.body.length
        request.body = .none
        request.authentication = .none
        self.request = request
        number = attempt.number
        cause = attempt.cause
        start = time
    }

    fileprivate mutating func end(with record: Attempt, at time: Duration) {
        end = time
        response = record.response ?? response
        error = record.error?.code
        metrics = record.metrics
    }
}

extension RequestTimeline.Outcome {
    fileprivate init(_ outcome: MonitoredOutcome) {
        switch outcome {
        case .success: self = .success
        case .failure(let error): self = .failure(error.code)
        case .cancelled: self = .cancelled
        }
    }
}
