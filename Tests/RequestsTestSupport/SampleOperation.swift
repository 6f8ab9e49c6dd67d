// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// An operation whose events are sent to monitors by hand.
package struct SampleOperation {
    package var operation: OperationEvent.Info
    package let monitor: any EventMonitor
    package let watch: ManualDate

    package init(
        _ id: UInt64,
        tag: String? = nil,
        monitor: any EventMonitor,
        watch: ManualDate = ManualDate(SampleOperation.start)
    ) {
        operation = OperationEvent.Info(id: id, identifier: "id", tag: tag, requestType: "GetUser")
        self.monitor = monitor
        self.watch = watch
    }

    package func report(_ event: OperationEvent) { monitor.eventOccurred(event, of: operation) }
    package func make() { report(.operationCreated) }
    package func start() { report(.operationStarted) }
    package func end(_ outcome: OperationEvent.Outcome = .success) { report(.operationEnded(outcome)) }

    package func retry(after delay: Duration = .milliseconds(50), because code: RequestError.Code = .unacceptableStatus)
    {
        report(.retryScheduled(after: delay, because: RequestError(code, phase: .validating)))
    }

    package func begin(
        _ number: Int,
        _ cause: TransferRecord.Cause = .initial,
        _ request: HTTPRequest = SampleOperation.request
    ) -> OperationEvent.Transfer {
        let attempt = OperationEvent.Transfer(number: number, cause: cause, request: request)
        report(.transferStarted(attempt))
        return attempt
    }

    package func end(
        _ attempt: OperationEvent.Transfer,
        _ status: HTTPStatus? = .ok,
        headers: HTTPHeaders = [],
        error: RequestError.Code? = nil,
        metrics: TransferRecord.Metrics? = nil
    ) {
        let head = status.map { HTTPResponseHead(status: $0, headers: headers, url: attempt.request.url) }
        if let head { report(.responseStarted(head, attempt)) }
        let record = TransferRecord(
            cause: attempt.cause,
            request: attempt.request,
            response: head,
            error: error.map { RequestError($0, phase: .sending) },
            metrics: metrics
        )
        report(.transferEnded(attempt, record))
    }

    /// 2026-11-21T10:00:00Z
    package static let start = Date(timeIntervalSince1970: 1_795_255_200)
    package static let request = HTTPRequest("https://example.com/users/1")

    /// Phases that take 1, 2, 3, 4, 5, 6 and 7 ms.
    package static let metrics: TransferRecord.Metrics = {
        var metrics = TransferRecord.Metrics(start: start)
        metrics.fetchStart = .milliseconds(1)
        metrics.domainLookupEnd = .milliseconds(3)
        metrics.connectEnd = .milliseconds(6)
        metrics.secureConnectionEnd = .milliseconds(10)
        metrics.requestEnd = .milliseconds(15)
        metrics.responseStart = .milliseconds(21)
        metrics.end = .milliseconds(28)
        metrics.networkProtocol = "http/1.1"
        metrics.requestHeadSize = 100
        metrics.requestBodySize = 0
        metrics.responseHeadSize = 200
        metrics.responseBodySize = 1234
        return metrics
    }()

    /// An operation that waits 5 ms, is redirected, answered with 503, waits 50 ms and succeeds.
    package func runThroughEverything() {
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
