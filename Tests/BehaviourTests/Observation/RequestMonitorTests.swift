// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Monitoring of one request, and of the operations on a plain `OperationQueue`.
@Suite(.bounded) struct RequestMonitorTests {
    private let transport = InMemoryTransport { _ in .json("1") }

    @Test func dependentRequestAppliesItsMonitor() async throws {
        let seen = Recorder<String>()
        let queue = TestQueue(transport)
        let first = queue.addRequest(HTTPRequest(url: home).decoding(ResponseDecoder<Int>.json))

        let second = queue.addRequest(after: first) { number in
            HTTPRequest(url: home).tag("\(number)").monitored(
                by: .events { event, _ in seen.record(String("\(event)".prefix { $0 != "(" })) }
            )
        }
        _ = try await second.value()

        let all = [
            "operationCreated", "operationStarted", "transferStarted", "responseStarted", "transferEnded",
            "operationEnded",
        ]
        #expect(await seen.first(6) == all)
    }

    @Test func operationQueueClientProvidesEnvironment() async throws {
        let seen = Recorder<String>()
        let queue = OperationQueue()
        queue.isSuspended = true
        let watched = HTTPClient(queue: queue, transport: transport) {
            $0.baseURL = server
            $0.monitors.append(
                .events { event, operation in
                    if case .transferStarted(let attempt) = event { seen.record("\(attempt.request.url.path)") }
                }
            )
        }

        let operation = watched.addRequest(Get<Int>("a"))
        #expect(queue.operations == [operation] && watched.operations == [operation])
        queue.isSuspended = false

        #expect(try await operation.value() == 1 && seen.elements == ["/v1/a"])
    }

    @Test func serialOperationQueueRunsNestedRequests() async throws {
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
