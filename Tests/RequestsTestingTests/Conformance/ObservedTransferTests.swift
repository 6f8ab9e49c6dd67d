// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import Testing

@testable import RequestsConformance

/// Cancels and pauses by the receiver of an event that came before there was a handle.
@Suite(.bounded) struct ObservedTransferTests {
    /// Reports a head before it returns a handle, and records the calls of that handle.
    private final class Hasty: HTTPTransport, TransferHandle {
        let calls = Locked<[String]>([])
        let capabilities: TransportCapabilities = [.concurrentDelivery, .pausing]

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        ) -> any TransferHandle {
            receive(.head(HTTPResponseHead(status: .ok)))
            return self
        }

        func cancel() { calls.withLock { $0.append("cancel") } }
        func pause() { calls.withLock { $0.append("pause") } }
        func resume() { calls.withLock { $0.append("resume") } }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let wishes: @Sendable (ObservedTransfer) -> Void
        let calls: [String]
    }

    @Test(arguments: [
        Row(testDescription: "none", wishes: { _ in }, calls: []),
        Row(testDescription: "a pause", wishes: { $0.pause() }, calls: ["pause"]),
        Row(testDescription: "a cancel", wishes: { $0.cancel() }, calls: ["cancel"]),
        Row(
            testDescription: "a pause that was taken back",
            wishes: {
                $0.pause()
                $0.resume()
            },
            calls: []
        ),
    ])
    func flowControlCallsWaitForTransferHandle(_ row: Row) throws {
        let transport = Hasty()
        let url = try #require(URL(string: "http://a.invalid/"))
        let transfer = ObservedTransfer(name: "hasty")

        transfer.start(TransportRequest(HTTPRequest(url: url)), over: transport) { _, transfer in row.wishes(transfer) }

        #expect(transport.calls.withLock { $0 } == row.calls)
        transfer.resume()
        #expect(transport.calls.withLock { $0 } == row.calls + ["resume"])
    }

    private static let head = TransferEvent.head(HTTPResponseHead(status: .ok))
    private static let trailers = TransferEvent.trailers(["X-Sum": "1"])

    @Test(
        arguments: [
            ([head, .data(Data()), trailers, .metrics(TransferRecord.Metrics()), .end(nil)], []),
            (
                [trailers, head, .end(nil)],
                ["trailers arrived before the head", "head 200 arrived after the trailers"]
            ),
            ([head, trailers, .data(Data()), .end(nil)], ["data arrived after the trailers"]),
            ([head, trailers, trailers, .end(nil)], ["trailers arrived after the trailers"]),
        ] as [([TransferEvent], [String])]
    )
    func reportsEventsOutOfOrder(_ events: [TransferEvent], _ violations: [String]) {
        var log = EventLog()
        for event in events {
            log.begin(event)
            log.finish()
        }
        #expect(log.violations == violations)
    }
}
