// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The waits for requests, which all tools that record requests have.
@Suite(.bounded) struct AwaitingRequestsTests {
    private let api = URL(string: "https://a.example")

    @Test func stubberWaitsForRequests() async throws {
        let (stubber, gate) = (HTTPStubber(), Gate())
        stubber.stub(.get, "/a").respond(with: .text("a").held(by: gate))
        let client = HTTPClient(baseURL: api, transport: stubber)
        async let first = client.fetch(Get<String>("a"))

        let request = try await stubber.awaitRequest()
        async let unmatched = try? client.fetch(Get<String>("b"))
        let requests = try await stubber.awaitRequests(2)
        gate.open()

        #expect(request.path == "/a" && requests.map(\.path) == ["/a", "/b"])
        #expect(try await first == "a")
        #expect(await unmatched == nil)
        #expect(try await stubber.awaitRequest().path == "/a")
    }

    @Test func transportWaitsForRequests() async throws {
        let gate = Gate()
        let transport = InMemoryTransport { _ in .text("a").held(by: gate) }
        let client = HTTPClient(baseURL: api, transport: transport)
        async let first = client.fetch(Get<String>("a"))
        async let second = client.fetch(Get<String>("a"))

        #expect(try await transport.awaitRequests(2).count == 2)
        #expect(try await transport.awaitRequest().path == "/a")
        gate.open()
        #expect(try await [first, second] == ["a", "a"])
    }

    @Test func waitTimeoutReportsRecordedRequests() async throws {
        let unrecorded = InMemoryTransport(recordsRequests: false) { _ in .noContent }

        for wait in [
            { try await HTTPStubber().awaitRequest(timeout: .milliseconds(1)) },
            { try await unrecorded.awaitRequest(timeout: .milliseconds(1)) },
        ] as [() async throws -> ReceivedRequest] {
            let error = await #expect(throws: WaitTimeoutError.self) { try await wait() }
            #expect(error?.awaited == "a request" && error?.state.hasSuffix("has 0 requests") == true)
        }
        let error = await #expect(throws: WaitTimeoutError.self) {
            try await HTTPStubber().awaitRequests(2, timeout: .milliseconds(1))
        }
        #expect(error?.awaited == "2 requests")
    }

    @Test func cancellationEndsWait() async {
        let task = Task { try await HTTPStubber().awaitRequest() }

        task.cancel()

        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
