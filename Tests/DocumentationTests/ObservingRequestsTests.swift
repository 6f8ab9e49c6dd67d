// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ObservingRequestsTests {
    struct FailureCounter: EventMonitor {
        let count: @Sendable (_ label: String) -> Void

        func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
            if case .operationEnded(.failure(let error)) = event { count(error.shortDescription) }
        }
    }

    private struct EndReporter: EventMonitor {
        let ends: Lines

        func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
            if case .operationEnded = event { ends.append("end") }
        }
    }

    @Test func clientIsObserved() async throws {
        let recorder = RecordingMonitor()
        let client = HTTPClient(baseURL: api) {
            $0.monitors = [.console, recorder]
        }

        let recipe = try await client.fetch(Get<Recipe>("recipes", "1").tag("start page"))
        #expect(recipe.name == "Pancakes")
        #expect(recorder.timeline.transfers.map(\.operation.tag) == ["start page"])
    }

    @Test func logLinesUseCustomOutput() async throws {
        let lines = Lines()
        let log: @Sendable (String) -> Void = { lines.append($0) }
        let client = HTTPClient(baseURL: api)

        client.configure { $0.monitors.append(ConsoleMonitor(.headers, showsCURL: true) { log($0) }) }

        _ = try await client.fetch(Get<Recipe>("recipes", "1").query(["token": "s3cret"]))
        let all = await lines.first(8)
        #expect(all.contains { $0.contains("-> GET \(api.absoluteString)/recipes/1?token=REDACTED") })
        #expect(all.contains { $0.contains("$ curl ") })
        #expect(!all.contains { $0.contains("s3cret") })
    }

    @Test func singleOperationIsObserved() async throws {
        let lines = Lines()
        let log: @Sendable (String) -> Void = { lines.append($0) }
        let client = HTTPClient(baseURL: api)

        let operation = client.makeOperation(for: Get<Recipe>("recipes", "1"))
        let events = operation.events
        client.addOperation(operation)
        for await event in events {
            if case .responseStarted(let head, _) = event { log("\(head.status)") }
        }

        #expect(await lines.first(1) == ["200 OK"])
    }

    @Test func monitorRequiresOneMethod() async throws {
        let labels = Lines()
        let queue = DispatchQueue(label: "metrics")
        let client = HTTPClient(baseURL: api) {
            $0.monitors = [FailureCounter { labels.append($0) }.delivering(on: queue)]
        }

        _ = try? await client.fetch(Get<Recipe>("recipes", "0"))
        #expect(await labels.first(1) == ["unacceptableStatus"])
    }

    @Test func finishedRequestsCanBeRendered() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let recorder = RecordingMonitor()
        let ends = Lines()
        let client = HTTPClient(baseURL: api) { $0.monitors = [recorder, EndReporter(ends: ends)] }
        _ = try await client.fetch(Get<Recipe>("recipes", "1"))
        _ = try? await client.fetch(Get<Recipe>("recipes", "0"))
        // A value may be available a moment before the monitors are notified, in their order.
        #expect(await ends.first(2).count == 2)

        let timeline = recorder.timeline
        print(timeline.text())
        try timeline.har().write(to: folder.appending(path: "requests.har"))

        #expect(timeline.text().contains("404"))
        #expect(try Data(contentsOf: folder.appending(path: "requests.har")).count > 100)
    }

    @Test func queuesCanBeRendered() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
        queue.addRequest(after: recipe) { AuthorRequest(authorID: $0.authorID) }

        print(queue.graph().mermaid)

        #expect(queue.graph().nodes.map(\.type) == ["RecipeRequest", "AuthorRequest"])
        queue.cancelAllOperations()
        queue.isSuspended = false
    }

    @Test func requestIsPrintedAsCommand() async throws {
        let client = HTTPClient(baseURL: api)
        let order = Post<Void>("orders").body(.json(["eggs": 3])).headers { Authorization("Bearer s3cret") }

        print(try client.cURL(order))
        let response = try await client.send(order)
        print(try response.cURL() ?? "no request")
        print(response.metrics?.text() ?? "no metrics")

        #expect(try order.cURL(baseURL: api).contains("--header 'Authorization: Bearer <redacted>'"))
        #expect(try response.cURL()?.contains(#"--data-binary '{"eggs":3}'"#) == true)
        #expect(response.metrics?.duration != nil)
    }

    @Test func activityIsCounted() async throws {
        let changes = Lines()
        let client = HTTPClient(baseURL: api)
        let setIndicator: @Sendable (Bool) -> Void = { changes.append("\($0)") }

        client.configure { $0.monitors.append(ActivityMonitor { isActive in setIndicator(isActive) }) }

        _ = try await client.fetch(Get<Recipe>("recipes", "1"))
        #expect(await changes.first(2) == ["true", "false"])
    }
}

/// Lines that come on any thread, and are read one after the other.
private struct Lines: Sendable {
    private let stream = AsyncStream.makeStream(of: String.self)

    func append(_ line: String) { stream.continuation.yield(line) }

    /// Waits for `count` lines.
    func first(_ count: Int) async -> [String] {
        await stream.stream.prefix(count).reduce(into: []) { $0.append($1) }
    }
}
