// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Monitoring of one operation, and of the operations on a plain `OperationQueue`.
@Suite(.bounded) struct MonitoredEventsTests {
    private let transport = InMemoryTransport { _ in .json("1") }

    private func name(_ event: MonitoredEvent) -> String { String("\(event)".prefix { $0 != "(" }) }

    @Test func eventsOfOneOperationAreASequenceThatEndsWithIt() async throws {
        let events = MonitoredEvents()
        let queue = OperationQueue()

        queue.addRequest(HTTPRequest(url: home).monitored(by: events), session: transport)
        let told = await events.reduce(into: []) { $0.append(name($1)) }

        let all = [
            "operationCreated", "operationStarted", "attemptStarted", "responseStarted", "attemptEnded",
            "operationEnded",
        ]
        #expect(told == all)
    }

    @Test func sequenceIsOfTheFirstOperationOnly() async throws {
        let events = MonitoredEvents()
        let request = HTTPRequest(url: home).monitored(by: events)
        let queue = TestQueue(transport)

        _ = try await queue.fetch(request)
        _ = try await queue.fetch(request)

        #expect(await events.reduce(0) { count, _ in count + 1 } == 6)
    }

    @Test func requestThatIsMadeOfAnothersResultBringsItsMonitor() async throws {
        let events = MonitoredEvents()
        let queue = TestQueue(transport)
        let first = queue.addRequest(HTTPRequest(url: home).decoding(ResponseDecoder<Int>.json))

        queue.addRequest(after: first) { number in
            HTTPRequest(url: home).tag("\(number)").monitored(by: events)
        }
        let told = await events.reduce(into: []) { $0.append(name($1)) }

        #expect(told.prefix(2) == ["operationCreated", "operationStarted"] && told.last == "operationEnded")
        #expect(told.count == 6)
    }

    @Test func plainQueueGivesItsRequestsAnEnvironment() async throws {
        let seen = Recorder<String>()
        let queue = OperationQueue()
        queue.isSuspended = true
        let watched = HTTPClient(queue: queue, transport: transport) {
            $0.baseURL = server
            $0.monitors.append(
                .events { event, operation in
                    if case .attemptStarted(let attempt) = event { seen.record("\(attempt.request.url.path)") }
                }
            )
        }

        let operation = watched.addRequest(Get<Int>("a"))
        #expect(queue.operations == [operation] && watched.operations == [operation])
        queue.isSuspended = false

        #expect(try await operation.value() == 1 && seen.elements == ["/v1/a"])
    }

    @Test func plainQueueOfOnePlaceServesRequestsOnBehalfOfOthers() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let other = Locked<(any RequestQueue)?>(nil)
        let watched = HTTPClient(queue: queue, transport: transport) {
            $0.baseURL = server
            $0.interceptors.append(
                .intercepting { request, next in
                    guard request.url.path == "/v1/a", let queue = other.withLock({ $0 }) else {
                        return try await next(request)
                    }
                    _ = try await queue.fetch(Get<Int>("inner"))
                    return try await next(request)
                }
            )
        }
        other.withLock { $0 = watched }

        #expect(try await watched.fetch(Get<Int>("a")) == 1)
        other.withLock { $0 = nil }
    }
}
