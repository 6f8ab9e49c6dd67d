// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The settings that a run gets from its request and its environment, once.
@Suite(.bounded) struct RunSettingsTests {
    private let transport = InMemoryTransport { _ in .status(.ok) }

    private func source(
        _ options: RequestOptions = RequestOptions()
    ) -> RequestSource<TextRequest> {
        .deferred(mapError: { RequestError($0) }, make: { TextRequest(options: options) })
    }

    private func operation(_ source: RequestSource<TextRequest>) -> DataOperation<TextRequest> {
        DataOperation(OperationConfiguration(source: source, transport: transport))
    }

    @Test func reusedSourceReportsEventsOnce() async throws {
        let starts = Recorder<UInt64>()
        var options = RequestOptions()
        options.monitors = [
            .events { event, operation in if case .transferStarted = event { starts.record(operation.id) } }
        ]
        let source = source(options)
        for _ in 0..<2 {
            let operation = operation(source)
            OperationQueue().addOperation(operation)
            await operation.end()
        }

        #expect(starts.elements.count == 2 && Set(starts.elements).count == 2)
    }

    @Test func droppedOperationKeepsSourceUsable() async throws {
        let source = source()
        _ = operation(source)
        let other = operation(source)

        OperationQueue().addOperation(other)

        #expect(try await other.value() == "")
    }

    @Test func lateMonitorSeesSameGroupIdentifier() async throws {
        let seen = Recorder<String?>()
        let early = HTTPClient(transport: transport) {
            $0.monitors = [.events { _, operation in seen.record(operation.identifier) }]
        }
        let group = early.addOperationGroup { _ in 1 }
        let lateGroup = HTTPClient(transport: transport).addOperationGroup { _ in 1 }
        lateGroup.addMonitor(.events { _, operation in seen.record(operation.identifier) })
        _ = try await (group.value(), lateGroup.value())

        #expect(Set(seen.elements).count == 1, "\(seen.elements)")
    }

    @Test func overlongInterceptorChainIsRejected() async throws {
        struct Nothing: Interceptor {}
        let queue = TestQueue(transport) { $0.interceptors = Array(repeating: Nothing(), count: 65_534) }

        let operation = queue.addRequest(TextRequest())
        await operation.end()

        #expect(operation.result?.error?.code == .unsupported && transport.requests.isEmpty)
    }

    @Test func changedEnvironmentAppliesToNextRequest() async throws {
        let client = HTTPClient(transport: transport)
        _ = try await client.send(HTTPRequest(url: home))
        client.environment.headers["X-Later"] = "1"
        client.maxConcurrentRequests = 1

        _ = try await client.send(HTTPRequest(url: home))
        _ = try await client.inheriting { $0.headers["X-Later"] = "2" }.send(HTTPRequest(url: home))

        #expect(transport.requests.map { $0.headers["X-Later"] } == [nil, "1", "2"])
    }
}
