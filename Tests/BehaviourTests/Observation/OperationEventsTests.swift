// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Monitors of one operation, and its events as a sequence.
@Suite(.bounded) struct OperationEventsTests {
    private let request = HTTPRequest(url: home)

    private func text(_ event: OperationEvent) -> String {
        switch event {
        case .transferStarted(let attempt): "attempt \(attempt.number)"
        case .responseStarted(let head, _): "\(head.status.code)"
        case .transferEnded(let attempt, _): "end \(attempt.number)"
        case .retryScheduled: "retry"
        case .operationEnded(let outcome): "\(outcome)".prefix { $0.isLetter }.description
        default: "\(event)".prefix { $0 != "(" }.description
        }
    }

    fileprivate func texts(_ events: AsyncStream<OperationEvent>) async -> [String] {
        var texts: [String] = []
        for await event in events { texts.append(text(event)) }
        return texts
    }

    @Test(arguments: [false, true]) func operationEventsArriveInOrder(hasMonitor: Bool) async {
        let transport = InMemoryTransport.answering([.status(.serviceUnavailable), .status(.ok)])
        let queue = TestQueue(transport) {
            $0.retry = RetryPolicy(backoff: .none)
            if hasMonitor { $0.monitors.append(.events { _, _ in }) }
        }
        let operation = queue.makeOperation(for: request)
        let events = operation.events
        queue.addOperation(operation)

        #expect(
            await texts(events) == [
                "operationCreated", "operationStarted", "attempt 1", "503", "end 1", "retry", "attempt 2", "200",
                "end 2",
                "success",
            ]
        )
    }

    @Test func lateEventsReplayCurrentState() async throws {
        let transport = ManualTransport()
        let monitor = Recorder<String>()
        let queue = TestQueue(transport) { $0.monitors.append(.events { _, _ in monitor.record("") }) }
        let operation = queue.addRequest(request)
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok, url: home)))
        await monitor.first(4)

        let events = operation.events
        transfer.receive(.end(nil))

        #expect(
            await texts(events) == ["operationCreated", "operationStarted", "attempt 1", "200", "end 1", "success"]
        )
    }

    @Test(arguments: [false, true])
    func unmonitoredOperationReplaysCurrentState(hasHead: Bool) async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(backoff: .none) }
        let operation = queue.addRequest(request)
        let first = try await transport.awaitTransfer()
        if hasHead { first.receive(.head(HTTPResponseHead(status: .ok, url: home))) }

        let events = operation.events
        first.receive(.end(RequestError(.connectionLost, phase: .sending)))
        let second = try await transport.awaitTransfer(count: 2)
        second.receive(.head(HTTPResponseHead(status: .ok, url: home)))
        second.receive(.end(nil))

        #expect(
            await texts(events) == ["operationCreated", "operationStarted", "attempt 1"] + (hasHead ? ["200"] : []) + [
                "end 1", "retry", "attempt 2", "200", "end 2", "success",
            ]
        )
    }

    @Test func lateEventsCountUnmonitoredTransfers() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(backoff: .none) }
        let operation = queue.addRequest(request)
        try await transport.awaitTransfer().receive(.end(RequestError(.connectionLost, phase: .sending)))
        let second = try await transport.awaitTransfer(count: 2)

        let events = operation.events
        second.receive(.head(HTTPResponseHead(status: .ok, url: home)))
        second.receive(.end(nil))

        #expect(
            await texts(events) == ["operationCreated", "operationStarted", "attempt 2", "200", "end 2", "success"]
        )
    }

    @Test func lateEventsIncludeCancelledTransferEnd() async throws {
        let transport = ManualTransport()
        let operation = TestQueue(transport).addRequest(request)
        let transfer = try await transport.awaitTransfer()

        let events = operation.events
        operation.cancel()
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))

        #expect(await texts(events) == ["operationCreated", "operationStarted", "attempt 1", "end 1", "cancelled"])
    }

    @Test(arguments: [false, true]) func eventsEndImmediatelyAfterCompletion(hasMonitor: Bool) async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) }) {
            if hasMonitor { $0.monitors.append(.events { _, _ in }) }
        }
        let operation = queue.addRequest(request)
        await operation.end()

        let texts = await texts(operation.events)
        #expect(texts.first == "operationCreated" && texts.last == "failure")
        #expect(await self.texts(operation.events).last == "failure")
    }

    @Test func eventsEndForUnstartedOperation() async {
        let events = OperationQueue().makeOperation(for: request).events

        #expect(await texts(events) == ["operationCreated", "cancelled"])
    }

    @Test func operationMonitorIgnoresOtherOperations() async {
        let queue = TestQueue()
        let heard = Recorder<OperationEvent.Info>()
        let operation = queue.makeOperation(for: TextRequest(identifier: "watched"))
        operation.addMonitor(
            .events { event, operation in
                if case .operationEnded = event { heard.record(operation) }
            }
        )
        queue.addOperation(operation)
        await queue.addRequest(TextRequest(identifier: "other")).end()
        await operation.end()

        #expect(await heard.first(1).map(\.identifier) == ["watched"])
    }

    // MARK: A plain queue

    @Test func clientMonitorsItsOperationQueue() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let underlyingQueue = DispatchQueue(label: "underlying")
        queue.underlyingQueue = underlyingQueue
        let heard = Recorder<String>()
        let client = HTTPClient(queue: queue, transport: InMemoryTransport { _ in .status(.ok) }) {
            $0.monitors.append(.events { event, _ in heard.record(text(event)) })
        }
        client.isSuspended = true
        let operation = client.addRequest(request)

        #expect(queue.operations == [operation] && client.maxConcurrentRequests == 2 && queue.isSuspended)
        #expect(client.underlyingQueue === underlyingQueue)
        client.isSuspended = false
        await operation.end()
        #expect(await heard.first(6).last == "success")
    }

    @Test func operationQueueOutlivesItsClient() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        var operation: Operation?
        do {
            let client = HTTPClient(queue: queue, transport: InMemoryTransport { _ in .status(.ok) })
            operation = client.addRequest(request)
        }
        #expect(queue.isSuspended && operation?.isCancelled == false)
        queue.isSuspended = false
        await operation?.end()
    }
}

@Suite(.bounded) struct OperationEventsRaceTests {
    /// Every sequence is complete and ends, regardless of when it begins.
    @Test func eventSubscriptionRacesExecution() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok) })
        for _ in 0..<Scale.races {
            let operation = queue.addRequest(HTTPRequest(url: home))
            let texts = await OperationEventsTests().texts(operation.events)
            #expect(texts.first == "operationCreated" && texts.firstIndex(of: "success") == texts.count - 1)
        }
    }
}
