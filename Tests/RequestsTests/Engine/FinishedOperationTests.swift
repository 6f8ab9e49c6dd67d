// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct FinishedOperationTests {
    @Test func finishedOperationsKeepNoContent() async {
        let big = Data(repeating: 1, count: 1_000_000)
        for status in [HTTPStatus.ok, .notFound] {
            let queue = TestQueue(InMemoryTransport { _ in .status(status, body: big) })
            let probe = Probe(adding: TextRequest(), to: queue)
            _ = await probe.ended()
            #expect(probe.operation.record.content.isEmpty)
        }
    }
}
