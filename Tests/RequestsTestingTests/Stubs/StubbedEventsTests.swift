// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Responses made for streams of server-sent events, and text of other types.
@Suite(.bounded) struct StubbedEventsTests {
    private static let events: [ServerSentEvent] = [
        "a", "", #"{"text": "Hel"}"#, "two\nlines\r\nor three\rfour", " spaced",
        ServerSentEvent(event: "delta", data: "b", id: "7", retry: .milliseconds(1500)), "[DONE]",
    ]

    private func received(over client: HTTPClient) async throws -> [ServerSentEvent] {
        let stream = try await client.stream(Post<Data>("/feed"))
        return try await stream.serverSentEvents.reduce(into: []) { $0.append($1) }
    }

    private func expectEvents(_ received: [ServerSentEvent]) {
        // The parser joins lines with LF, and an identifier holds for later events.
        let data = Self.events.map { $0.data.replacing("\r\n", with: "\n").replacing("\r", with: "\n") }
        #expect(received.map(\.data) == data)
        #expect(received.map(\.event) == Self.events.map(\.event))
        #expect(received.map(\.id) == [nil, nil, nil, nil, nil, "7", "7"])
        #expect(received.map(\.retry) == Self.events.map(\.retry))
    }

    @Test func inMemoryTransportDeliversEvents() async throws {
        let transport = InMemoryTransport { _ in .events(Self.events) }
        let client = HTTPClient(baseURL: URL(string: "https://a.example"), transport: transport)

        try await expectEvents(received(over: client))
    }

    @Test func mockServerDeliversEvents() async throws {
        let server = try MockServer { _ in .events(Self.events) }

        try await expectEvents(received(over: HTTPClient(baseURL: server.url)))
    }

    @Test func textTypeIsConfigurable() async throws {
        let transport = InMemoryTransport { request in
            request.path == "/csv" ? .text("a,b", type: "text/csv") : .text("a")
        }
        let client = HTTPClient(baseURL: URL(string: "https://a.example"), transport: transport)

        #expect(try await client.send(Get<String>("/csv")).headers[.contentType] == "text/csv")
        #expect(try await client.send(Get<String>("/")).headers[.contentType] == "text/plain; charset=utf-8")
    }
}
