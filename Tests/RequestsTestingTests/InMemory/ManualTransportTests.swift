// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ManualTransportTests {
    private let transport = ManualTransport()
    private let events = Locked<[String]>([])

    @discardableResult
    private func send(_ path: String = "/") throws -> any TransferHandle {
        let request = HTTPRequest(url: try #require(URL(string: "https://a\(path)")))
        return transport.send(TransportRequest(request)) { [events] event in
            let name = if case .end = event { "end" } else { "event" }
            events.withLock { $0.append(name) }
        }
    }

    @Test func transfersAreAwaitedInOrder() async throws {
        async let second = transport.awaitTransfer(count: 2)
        async let first = transport.awaitTransfer()
        try send("/1")
        try send("/2")

        #expect(try await [first, second].map(\.request.url.path) == ["/1", "/2"])
        #expect(try await transport.awaitTransfer(count: 2) === transport.transfers[1])
    }

    @Test func eventsAfterCompletionAreIgnored() async throws {
        try send()
        let transfer = try await transport.awaitTransfer()

        for event in [TransferEvent.data(Data()), .end(nil), .data(Data()), .end(nil)] { transfer.receive(event) }

        #expect(events.withLock { $0 } == ["event", "end"])
    }

    @Test func cancelIsCountedButSendsNoEvent() async throws {
        let handle = try send()
        let transfer = try await transport.awaitTransfer()
        async let isCancelled: Void = transfer.awaitCancel()

        for _ in 0..<2 { handle.cancel() }

        try await isCancelled
        #expect(transfer.cancelCount == 2 && events.withLock { $0.isEmpty })
    }

    @Test func cancellationEndsWaiting() async throws {
        try send()
        let transfer = try await transport.awaitTransfer()
        let tasks = [
            Task { _ = try await transport.awaitTransfer(count: 2) }, Task { try await transfer.awaitCancel() },
        ]

        for task in tasks { task.cancel() }

        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    }
}
