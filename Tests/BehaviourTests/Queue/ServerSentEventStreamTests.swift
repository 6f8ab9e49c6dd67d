// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ServerSentEventStreamTests {
    private let clock = ManualClock()
    private let policy = ServerSentEvent.Reconnection(backoff: .exponential(from: .seconds(1)).jitter(.none))

    private static func events(_ text: String) -> StubResponse {
        .chunked([Data(text.utf8)], headers: [.contentType: "text/event-stream"])
    }

    private func queue(_ transport: InMemoryTransport) -> TestQueue {
        TestQueue(transport) { environment in
            environment.clock = clock
            environment.retry = .default
        }
    }

    /// Collects the data of all events, while the clock advances past each wait.
    private func all(
        _ stream: ServerSentEvent.Stream,
        waits: [Duration]
    ) async throws -> (data: [String], error: (any Error)?) {
        let collector = Task {
            var data: [String] = []
            do {
                for try await event in stream { data.append(event.data) }
                return (data, nil as (any Error)?)
            } catch {
                return (data, error)
            }
        }
        for wait in waits {
            try await clock.waitForSleepers()
            clock.advance(by: wait - .nanoseconds(1))
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .nanoseconds(1))
        }
        return await collector.value
    }

    @Test func eventsContinueAcrossReconnections() async throws {
        let transport = InMemoryTransport.answering([
            Self.events("id: 1\ndata: a\n\nid: 2\ndata: b\n\ndata: lost"),
            Self.events("retry: 500\ndata: c\n\n"), .status(.noContent),
        ])

        let stream = queue(transport).serverSentEvents(HTTPRequest(url: home), reconnection: policy)
        let (data, error) = try await all(stream, waits: [.seconds(3), .milliseconds(500)])

        #expect(data == ["a", "b", "c"] && error == nil)
        #expect(transport.requests.map { $0.headers[.lastEventID] } == [nil, "2", "2"])
        #expect(transport.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
    }

    @Test func streamResumesAfterGivenEventID() async throws {
        let transport = InMemoryTransport.answering([.status(.noContent)])
        let stream = queue(transport).serverSentEvents(HTTPRequest(url: home), lastEventID: "41")

        #expect(try await all(stream, waits: []).data.isEmpty)
        #expect(transport.requests.map { $0.headers[.lastEventID] } == ["41"])
    }

    @Test(arguments: [100_000, 5000])
    func overlongEventIDIsNotSent(length: Int) async throws {
        let id = String(repeating: "a", count: length)
        let transport = InMemoryTransport { request in
            request.headers.contains(.lastEventID)
                ? .status(.noContent) : Self.events("id: 1\ndata: a\n\nid: \(id)\ndata: b\n\n")
        }

        let stream = queue(transport).serverSentEvents(HTTPRequest(url: home), reconnection: policy)
        let (data, error) = try await all(stream, waits: [.seconds(3)])

        #expect(data == ["a", "b"] && error == nil)
        #expect(transport.requests.map { $0.headers[.lastEventID] } == [nil, length > 65_536 ? "1" : id])
    }

    @Test func reconnectionBacksOffUntilAttemptLimit() async throws {
        let transport = InMemoryTransport { _ in .failure(RequestError(.cannotConnect, phase: .sending)) }
        var policy = policy
        (policy.wait, policy.limit) = (.seconds(1), 3)

        let stream = queue(transport).serverSentEvents(HTTPRequest(url: home), reconnection: policy)
        let (_, error) = try await all(stream, waits: [.seconds(1), .seconds(1), .seconds(2)])

        #expect((error as? RequestError)?.code == .cannotConnect && transport.requests.count == 4)
    }

    @Test func retryAfterDelaysReconnection() async throws {
        let transport = InMemoryTransport.answering([
            .status(.serviceUnavailable, headers: [.retryAfter: "20"]), .status(.noContent),
        ])

        let (_, error) = try await all(queue(transport).serverSentEvents(HTTPRequest(url: home)), waits: [.seconds(20)])

        #expect(error == nil && transport.requests.count == 2)
    }

    @Test func nonEventStreamResponseFails() async throws {
        let html = InMemoryTransport { _ in .status(.ok, headers: [.contentType: "text/html"]) }
        let missing = InMemoryTransport { _ in .status(.notFound, body: Data("gone".utf8)) }

        let (_, first) = try await all(queue(html).serverSentEvents(HTTPRequest(url: home)), waits: [])
        let (_, second) = try await all(queue(missing).serverSentEvents(HTTPRequest(url: home)), waits: [])

        #expect((first as? RequestError)?.code == .unacceptableContentType)
        #expect((second as? RequestError)?.code == .unacceptableStatus)
        #expect((second as? RequestError)?.body == Data("gone".utf8))
        #expect(html.requests.count == 1 && missing.requests.count == 1)
    }

    @Test func oversizedEventFailsAfterEarlierEvents() async throws {
        let large = "data: a\n\ndata: " + String(repeating: "x", count: (1 << 20) + 1)
        let transport = InMemoryTransport { _ in Self.events(large) }

        let (data, error) = try await all(queue(transport).serverSentEvents(HTTPRequest(url: home)), waits: [])

        #expect(data == ["a"] && (error as? RequestError)?.code == .bodyTooLarge)
    }

    @Test func cancellationEndsReconnectionWait() async throws {
        let transport = InMemoryTransport { _ in Self.events("data: a\n\n") }
        let stream = queue(transport).serverSentEvents(HTTPRequest(url: home))
        let task = Task { try await stream.reduce(0) { count, _ in count + 1 } }
        try await clock.waitForSleepers()

        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(clock.sleeperCount == 0 && transport.requests.count == 1)
    }

    @Test func cancellationEndsConnection() async throws {
        let sent = Recorder<ReceivedRequest>()
        let queue = queue(.silent(sent))
        let stream = queue.serverSentEvents(HTTPRequest(url: home))
        let task = Task { try await stream.reduce(0) { count, _ in count + 1 } }
        await sent.first(1)

        task.cancel()

        let error = await #expect(throws: RequestError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        for operation in queue.operations { await operation.end() }
    }

    @Test func deadlineCoversAllReconnections() async throws {
        let transport = InMemoryTransport { _ in .failure(RequestError(.cannotConnect, phase: .sending)) }
        let clock = TestClock()
        let queue = TestQueue(transport) { $0.clock = clock }
        let policy = ServerSentEvent.Reconnection(wait: .seconds(2), backoff: .none)

        let stream = queue.serverSentEvents(Get<Data>(home).deadline(.seconds(5)), reconnection: policy)
        let end = Task { try await stream.reduce(0) { count, _ in count + 1 } }
        // Each connection has a deadline timer, and a wait follows it.
        for (number, wait) in [2, 2, 1].enumerated() {
            await clock.sleeps.first(2 * number + 2)
            clock.advance(by: .seconds(wait))
        }
        let error = await #expect(throws: RequestError.self) { try await end.value }

        #expect(error?.code == .deadlineExceeded && transport.requests.count == 3)
        // Separate tasks sleep for the deadline and the wait, so the two sleeps of a connection may begin in either order.
        let sleeps = clock.sleeps.elements
        #expect(sleeps.count == 6)
        let connections = stride(from: 0, to: sleeps.count, by: 2).map { Set(sleeps[$0...].prefix(2)) }
        #expect(connections == [[.seconds(5), .seconds(2)], [.seconds(3), .seconds(2)], [.seconds(1)]])
    }

    @Test func breakingOutOfLoopEndsConnection() async throws {
        let transport = InMemoryTransport { _ in Self.events("data: a\n\ndata: b\n\n") }
        let queue = queue(transport)

        for try await event in queue.serverSentEvents(HTTPRequest(url: home)) {
            #expect(event.data == "a")
            break
        }

        for operation in queue.operations { await operation.end() }
        #expect(transport.requests.count == 1)
    }

    @Test func recordedHeadersDoNotReplaceStreamHeaders() async throws {
        let transport = InMemoryTransport.answering([.status(.noContent)])
        let request = ModifiableRequestTests.Ping().replacingHeaders(["X-A": "1"]).query(["a": "b"])
        let stream = queue(transport).serverSentEvents(request, lastEventID: "41")

        #expect(try await all(stream, waits: []).data.isEmpty)
        let sent = try #require(transport.requests.first)
        #expect(sent.headers[.lastEventID] == "41" && sent.headers[.accept] == "text/event-stream")
        #expect(sent.headers["X-A"] == "1" && !sent.headers.contains("X-Own") && sent.url.query() == "a=b")
    }

    @Test func monitorReceivesEventStreamRequestType() async throws {
        let monitor = RecordingMonitor()
        let queue = TestQueue(InMemoryTransport.answering([.status(.noContent)])) { $0.monitors = [monitor] }

        for try await _ in queue.serverSentEvents(Get<Data>(home)) {}

        #expect(monitor.timeline.transfers.map(\.operation.requestType) == ["Get<Data> (events)"])
    }
}
