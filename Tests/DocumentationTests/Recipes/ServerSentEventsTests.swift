// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Recipe: follow the changes of a kitchen's orders, over a connection that breaks now and then.
@Suite(.bounded) struct ServerSentEventsTests {
    struct Order: Decodable, Sendable, Equatable {
        let table: Int
        let dish: String
    }

    enum Change: Sendable, Equatable {
        case placed(Order)
        case served(table: Int)
    }

    /// The type that an application would have.
    struct OrderFeed: Sendable {
        let client: HTTPClient

        /// Returns the changes, from the first one that the kitchen has; ends when the kitchen closes.
        func changes() -> some AsyncSequence<Change, any Error> {
            client.serverSentEvents(Get<Data>("orders", "changes")).compactMap { event in
                switch event.event {
                case "placed": .placed(try event.decode(Order.self))
                case "served": Int(event.data).map { .served(table: $0) }
                default: nil
                }
            }
        }
    }

    @Test func changesArriveInOrderDespiteReconnection() async throws {
        let server = try MockServer()
        server.enqueue(
            .events("retry: 1\n\n", "id: 1\nevent: placed\ndata: {\"table\": 3,\ndata:  \"dish\": \"Stew\"}\n\n"),
            .status(.serviceUnavailable),
            .events("id: 2\nevent: cooked\ndata: 3\n\n", ": still here\n\n", "id: 3\nevent: served\ndata: 3\n\n"),
            .noContent
        )
        let feed = OrderFeed(client: HTTPClient(baseURL: server.url))

        var changes: [Change] = []
        for try await change in feed.changes() { changes.append(change) }

        #expect(changes == [.placed(Order(table: 3, dish: "Stew")), .served(table: 3)])
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1", "3"])
        #expect(server.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
    }

    @Test func breakingLoopClosesConnection() async throws {
        let server = try MockServer()
        let silence = String(repeating: ": nothing new\n", count: 100)
        server.enqueue(
            .events("event: placed\ndata: {\"table\": 3, \"dish\": \"Stew\"}\n\n", silence).stalled(after: 500)
        )
        let feed = OrderFeed(client: HTTPClient(baseURL: server.url))

        for try await change in feed.changes() {
            #expect(change == .placed(Order(table: 3, dish: "Stew")))
            break
        }

        try await server.awaitConnections(open: 0)
    }

    @Test func wrongContentTypeFails() async throws {
        let server = try MockServer { _ in .json("[]") }
        let feed = OrderFeed(client: HTTPClient(baseURL: server.url))

        await #expect {
            for try await _ in feed.changes() {}
        } throws: { error in
            (error as? RequestError)?.code == .unacceptableContentType
        }
    }
}

extension StubResponse {
    fileprivate static func events(_ events: String...) -> StubResponse {
        .data(Data(events.joined().utf8), type: "text/event-stream")
    }
}
