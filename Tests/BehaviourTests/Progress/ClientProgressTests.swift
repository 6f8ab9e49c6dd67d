// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The share of each request in the progress of a client.
@Suite(.bounded) struct ClientProgressTests {
    private let transport = ManualTransport()
    private let url = URL(string: "https://example.com/")!

    private func head(_ count: Int) -> TransferEvent {
        .head(HTTPResponseHead(status: .ok, headers: [.contentLength: "\(count)"]))
    }

    @Test func requestsAreWeightedEqually() async throws {
        let client = HTTPClient(transport: transport)
        _ = client.progress
        let first = client.addRequest(HTTPRequest(url: url))
        let transfer = try await transport.awaitTransfer()
        let second = client.addRequest(HTTPRequest(url: url))
        let other = try await transport.awaitTransfer(count: 2)
        #expect(client.progress == QueueProgress(count: 2, fraction: 0))

        transfer.receive(head(100))
        transfer.receive(.data(Data(count: 100)))
        transfer.receive(.end(nil))
        _ = try await first.value()
        #expect(client.progress == QueueProgress(finished: 1, count: 2, received: 100, fraction: 0.5))

        other.receive(.head(HTTPResponseHead(status: .ok)))
        other.receive(.data(Data(count: 7)))
        other.receive(.end(nil))
        _ = try await second.value()
        #expect(client.progress == QueueProgress(finished: 2, count: 2, received: 107, fraction: 1))
        #expect(client.progress.isIdle && "\(client.progress)" == "2 of 2 requests")
    }

    @Test func uploadCountsForHalfOfProgress() async throws {
        let clock = ManualClock()
        let client = HTTPClient(transport: transport) { $0.clock = clock }
        _ = client.progress
        let operation = client.addRequest(HTTPRequest(url: url, method: .post, body: .data(Data(count: 100))))
        let transfer = try await transport.awaitTransfer()

        clock.advance(by: .seconds(1))
        transfer.receive(.sent(50, of: 100))
        #expect(client.progress == QueueProgress(count: 1, sent: 50, fraction: 0.25))
        clock.advance(by: .seconds(1))
        transfer.receive(.sent(100, of: 100))
        transfer.receive(head(10))
        clock.advance(by: .seconds(1))
        transfer.receive(.data(Data(count: 5)))
        #expect(client.progress == QueueProgress(count: 1, received: 5, sent: 100, fraction: 0.75))
        transfer.receive(.data(Data(count: 5)))
        transfer.receive(.end(nil))

        _ = try await operation.value()
        #expect(client.progress == QueueProgress(finished: 1, count: 1, received: 10, sent: 100, fraction: 1))
    }
}
