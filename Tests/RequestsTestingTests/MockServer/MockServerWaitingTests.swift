// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct MockServerWaitingTests {
    @Test func aWaitEndsWithItsTimeAndTellsWhatCame() async throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)
        client.get("/1")
        try await server.awaitRequest()
        let clock = ManualClock()

        let waiting = Task { try await server.awaitRequest(count: 2, within: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))

        let error = await #expect(throws: MockServerError.self) { try await waiting.value }
        let awaited = "2 requests; the server has 1 requests and 1 open connections"
        #expect(error == .timeout(after: .seconds(5), awaited: awaited))
        #expect(error?.description == "waited for 5.0 seconds for \(awaited)")
    }

    @Test func aWaitForConnectionsEndsWithItsTime() async throws {
        let server = try MockServer()
        let clock = ManualClock()

        let waiting = Task { try await server.awaitConnections(open: 1, within: .seconds(5), clock: clock) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))

        await #expect(throws: MockServerError.self) { try await waiting.value }
    }

    @Test func everyWaiterEndsAtTheStop() async throws {
        let server = try MockServer()
        let clock = ManualClock()
        let waiting = (1...20).map { count in
            Task {
                if count.isMultiple(of: 2) {
                    _ = try await server.awaitRequests(count, clock: clock)
                } else {
                    try await server.awaitConnections(open: count, clock: clock)
                }
            }
        }
        try await clock.waitForSleepers(20)

        server.stop()

        for task in waiting { await #expect(throws: MockServerError.stopped) { try await task.value } }
        await #expect(throws: MockServerError.stopped) { try await server.awaitRequest() }
    }

    @Test func theFirstRequestsAreAwaited() async throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)

        async let requests = server.awaitRequests(3)
        for number in 1...3 { client.get("/\(number)") }

        #expect(try await requests.map(\.target) == ["/1", "/2", "/3"])
        #expect(try await server.awaitRequests(2).count == 2)
        #expect(try await server.awaitRequests(0) == [])
    }
}
