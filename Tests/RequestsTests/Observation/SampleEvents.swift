// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

@testable import Requests

/// A clock that only a test advances.
final class Stopwatch: Sendable {
    static let begin = Date(timeIntervalSince1970: 1_795_255_200)  // 2026-11-21T10:00:00Z

    private let date = Locked(Stopwatch.begin)

    var now: Date { date.withLock { $0 } }

    func advance(milliseconds: Double) {
        date.withLock { $0 += milliseconds / 1000 }
    }
}

/// An operation whose events are sent to monitors by hand.
struct SampleOperation {
    var operation: MonitoredOperation
    let monitor: any EventMonitor
    let watch: Stopwatch

    init(_ id: UInt64, tag: String? = nil, monitor: any EventMonitor, watch: Stopwatch = Stopwatch()) {
        operation = MonitoredOperation(id: id, identifier: "id", tag: tag, requestType: "GetUser")
        self.monitor = monitor
        self.watch = watch
    }

    func make() { monitor.operationCreated(operation) }
    func start() { monitor.operationStarted(operation) }
    func end(_ outcome: MonitoredOutcome = .success) { monitor.operationEnded(operation, with: outcome) }

    func retry(after delay: Duration = .milliseconds(50), because code: RequestError.Code = .unacceptableStatus) {
        monitor.retryScheduled(after: delay, because: RequestError(code, phase: .validating), of: operation)
    }

    func begin(
        _ number: Int,
        _ cause: Attempt.Cause = .initial,
        _ request: HTTPRequest = SampleOperation.request
    ) -> MonitoredAttempt {
        let attempt = MonitoredAttempt(number: number, cause: cause, request: request)
        monitor.attemptStarted(attempt, of: operation)
        return attempt
    }

    func end(
        _ attempt: MonitoredAttempt,
        _ status: HTTPStatus? = .ok,
        headers: HTTPHeaders = [],
        error: RequestError.Code? = nil,
        metrics: Metrics? = nil
    ) {
        let head = status.map { HTTPResponseHead(status: $0, headers: headers, url: attempt.request.url) }
        if let head { monitor.responseStarted(head, to: attempt, of: operation) }
        let record = Attempt(
            cause: attempt.cause,
            request: attempt.request,
            response: head,
            error: error.map { RequestError($0, phase: .sending) },
            metrics: metrics
        )
        monitor.attemptEnded(attempt, with: record, of: operation)
    }

    static let request = HTTPRequest("https://example.com/users/1")

    /// Phases that take 1, 2, 3, 4, 5, 6 and 7 ms.
    static let metrics: Metrics = {
        var metrics = Metrics(start: Stopwatch.begin)
        metrics.dispatched = .milliseconds(1)
        metrics.nameResolved = .milliseconds(3)
        metrics.connected = .milliseconds(6)
        metrics.secured = .milliseconds(10)
        metrics.sent = .milliseconds(15)
        metrics.firstByte = .milliseconds(21)
        metrics.end = .milliseconds(28)
        metrics.networkProtocol = "http/1.1"
        metrics.requestHeadSize = 100
        metrics.requestBodySize = 0
        metrics.responseHeadSize = 200
        metrics.responseBodySize = 1234
        return metrics
    }()

    /// An operation that waits 5 ms, is redirected, answered with 503, waits 50 ms and succeeds.
    func runThroughEverything() {
        make()
        watch.advance(milliseconds: 5)
        start()
        let first = begin(1)
        watch.advance(milliseconds: 30)
        end(
            first,
            .found,
            headers: ["Location": "https://user:hush@example.com/b?token=hush&page=2"],
            metrics: Self.metrics
        )
        let second = begin(2, .redirect, HTTPRequest("https://example.com/b?token=hush&page=2"))
        watch.advance(milliseconds: 10)
        end(second, .serviceUnavailable)
        retry()
        watch.advance(milliseconds: 50)
        let third = begin(3, .retry, HTTPRequest("https://example.com/b?token=hush&page=2"))
        watch.advance(milliseconds: 5)
        end(third)
        end()
    }
}
