// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct FinishedOperationTests {
    @Test func finishedOperationReleasesContent() async {
        let big = Data(repeating: 1, count: 1_000_000)
        for status in [HTTPStatus.ok, .notFound] {
            let queue = TestQueue(InMemoryTransport { _ in .status(status, body: big) })
            let probe = Probe(adding: TextRequest(), to: queue)
            _ = await probe.ended()
            #expect(probe.operation.record.content.isEmpty)
        }
    }

    @Test func failedAttemptsReleaseContent() async {
        let (answers, piece) = (Locked(0), Data(repeating: 1, count: 1_000_000))
        let transport = InMemoryTransport { _ in
            let number = answers.withLock { answers in
                answers += 1
                return answers
            }
            return number < 4 ? .status(.ok, body: piece + piece).reset(after: piece.count) : .status(.ok)
        }
        let queue = TestQueue(transport) { $0.retry = RetryPolicy(limit: 5, backoff: .none) }
        let probe = Probe(adding: TextRequest(), to: queue)

        #expect(await probe.ended().map(\.value) == [""])
        #expect(probe.operation.record.transfers.map(\.content.count) == [0, 0, 0, 0])
    }
}
