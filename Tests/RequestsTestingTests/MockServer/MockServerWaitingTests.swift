// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct MockServerWaitingTests {
    @Test func waitTimeoutReportsServerState() async throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)
        client.get("/1")
        try await server.awaitRequest()

        let error = await #expect(throws: WaitTimeoutError.self) {
            try await server.awaitRequests(2, timeout: .milliseconds(20))
        }
        #expect(error?.awaited == "2 requests")
        #expect(error?.state == "the server has 1 request and 1 open connection")
        await #expect(throws: WaitTimeoutError.self) {
            try await server.awaitConnections(open: 2, timeout: .milliseconds(20))
        }
    }

    @Test func stopFailsAllWaiters() async throws {
        let server = try MockServer()
        let waiting = (1...20).map { count in
            Task {
                if count.isMultiple(of: 2) {
                    _ = try await server.awaitRequests(count)
                } else {
                    try await server.awaitConnections(open: count)
                }
            }
        }

        server.stop()

        for task in waiting {
            let error = await #expect(throws: WaitTimeoutError.self) { try await task.value }
            #expect(error?.state.hasPrefix("the server was stopped") == true)
        }
        await #expect(throws: WaitTimeoutError.self) { try await server.awaitRequest() }
    }

    @Test func awaitsFirstRequests() async throws {
        let server = try MockServer { _ in .noContent }
        let client = try RawClient(port: server.port)

        async let requests = server.awaitRequests(3)
        for number in 1...3 { client.get("/\(number)") }

        #expect(try await requests.map(\.target) == ["/1", "/2", "/3"])
        #expect(try await server.awaitRequests(2).count == 2)
        #expect(try await server.awaitRequests(0).isEmpty)
    }
}
