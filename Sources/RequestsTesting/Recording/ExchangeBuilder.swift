// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Makes an exchange of the events of a transfer, as they come.
struct ExchangeBuilder: Sendable {
    private let request: StubbedRequest
    private var content: CapturedBody
    private var head: HTTPResponseHead?
    private var metrics: Metrics
    private var firstByte: Duration?
    /// What is recorded, once it is over.
    private var outcome: RecordedExchange?

    init(_ request: StubbedRequest, start: Date, limit: Int) {
        self.request = request
        metrics = Metrics(start: start)
        content = CapturedBody(limit: limit)
    }

    /// Takes an event, so long after the start; gives the exchange with the end.
    mutating func receive(_ event: TransferEvent, at time: Duration, sent: CapturedBody?) -> RecordedExchange? {
        guard outcome == nil else { return nil }
        switch event {
        case .informational, .sent: return nil
        case .head(let head):
            self.head = head
            firstByte = time
            return nil
        case .data(let data):
            content.append(data)
            return nil
        case .metrics(let measured):
            let start = metrics.start
            metrics = measured
            metrics.start = start
            return nil
        case .end(let error):
            outcome = exchange(error, at: time, sent: sent)
            return outcome
        }
    }

    /// What there is so long after the start; where the exchange isn't over, it says so.
    func current(at time: Duration, sent: CapturedBody) -> RecordedExchange {
        if let outcome { return outcome }
        var exchange = exchange(nil, at: time, sent: sent)
        exchange.isUnderWay = true
        return exchange
    }

    private func exchange(_ error: RequestError?, at time: Duration, sent: CapturedBody?) -> RecordedExchange {
        var exchange = RecordedExchange(request: request, error: error, metrics: metrics)
        exchange.request.body = sent?.data ?? Data()
        exchange.requestBodySize = sent?.size ?? 0
        if exchange.metrics.firstByte == nil { exchange.metrics.firstByte = firstByte }
        if exchange.metrics.end == nil { exchange.metrics.end = time }
        if let head {
            var response = RecordedResponse(status: head.status, headers: head.headers, body: content.data)
            response.bodySize = content.size
            exchange.response = response
        }
        return exchange
    }
}
