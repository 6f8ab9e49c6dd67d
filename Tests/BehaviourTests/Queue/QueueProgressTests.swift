// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct QueueProgressTests {
    private let gate = Gate()

    private func client() -> HTTPClient {
        HTTPClient(
            transport: InMemoryTransport { [gate] _ in .status(.ok, body: Data(count: 10)).held(by: gate) }
        )
    }

    @Test func clientSumsProgressOfRequests() async {
        let client = client()
        let early = client.addRequest(TextRequest())
        #expect(client.progress == QueueProgress(count: 1, fraction: 0))
        let operations = [early] + (1...4).map { _ in client.addRequest(TextRequest()) }
        #expect(client.progress.count == 5)

        gate.open()
        for operation in operations { await operation.end() }

        #expect(client.progress == QueueProgress(finished: 5, count: 5, received: 50, fraction: 1))
    }

    @Test func progressRestartsAfterIdle() async {
        let client = client()
        #expect(client.progress.isIdle)
        gate.open()
        await client.addRequest(TextRequest()).end()
        await client.addRequest(TextRequest()).end()

        #expect(client.progress == QueueProgress(finished: 1, count: 1, received: 10, fraction: 1))
    }

    @Test func operationCancelledBeforeStartIsFinished() async {
        let client = client()
        client.isSuspended = true
        _ = client.progress
        let operations = (1...3).map { _ in client.addRequest(TextRequest()) }

        operations[0].cancel()
        #expect(client.progress == QueueProgress(finished: 1, count: 3, fraction: 1.0 / 3))
        client.cancelAllRequests()

        #expect(client.progress == QueueProgress(finished: 3, count: 3, fraction: 1))
        client.isSuspended = false
        for operation in operations { await operation.end() }
    }

    @Test func updatesEndWithClient() async {
        var client: HTTPClient? = client()
        let updates = client?.progressUpdates()
        var iterator = updates?.makeAsyncIterator()
        #expect(await iterator?.next() == QueueProgress())

        let operation = client?.addRequest(TextRequest())
        #expect(await iterator?.next()?.count == 1)
        gate.open()
        await operation?.end()
        client = nil
        var last: QueueProgress?
        while let progress = await iterator?.next() { last = progress }

        #expect(last == QueueProgress(finished: 1, count: 1, received: 10, fraction: 1))
    }
}
