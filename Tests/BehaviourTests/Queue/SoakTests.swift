// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Large numbers of requests: `Scripts/soak` runs them at full size. None overflows the stack, leaks, or loses a
/// completion.
@Suite(.bounded, .serialized) struct SoakTests {
    private let transport = InMemoryTransport(recordsRequests: false) { _ in .status(.ok, body: Data("x".utf8)) }

    @Test func manyRequestsCompleteOnOneQueue() async {
        let (census, results) = (Census(), Recorder<Bool>())
        let queue = TestQueue(transport, width: 8)

        for _ in 0..<Scale.requests {
            queue.addRequest(TextRequest(life: census.life())) { results.record($0.value == "x") }
        }

        #expect(await results.first(Scale.requests).allSatisfy { $0 })
        await census.extinction()
        #expect(results.count == Scale.requests)
    }

    @Test func longChainCompletesOnSerialQueue() async {
        let (census, results) = (Census(), Recorder<Bool>())
        let queue = TestQueue(transport, width: 1)

        await chain(Scale.requests, on: queue, census, results)

        #expect(await results.first(Scale.requests).allSatisfy { $0 })
        await census.extinction()
    }

    @Test func chainCompletesOnConcurrentQueue() async {
        let (census, results) = (Census(), Recorder<Bool>())

        await chain(Scale.fan, on: TestQueue(transport), census, results)

        #expect(await results.first(Scale.fan).allSatisfy { $0 })
        await census.extinction()
    }

    @Test func fanOutAndFanInComplete() async {
        let (census, results) = (Census(), Recorder<Bool>())
        let queue = TestQueue(transport)
        do {
            let root = queue.addRequest(TextRequest(life: census.life()))
            let arms = (0..<Scale.fan).map { _ in
                queue.addRequest(TextRequest(life: census.life()), dependencies: [root]) {
                    results.record($0.value == "x")
                }
            }
            let last = queue.addRequest(TextRequest(life: census.life()), dependencies: arms)
            await last.end()
        }

        #expect(await results.first(Scale.fan).allSatisfy { $0 })
        await census.extinction()
    }

    @Test func suspendedQueueCompletesCancelledRequests() async {
        let (census, results) = (Census(), Recorder<Bool>())
        let queue = TestQueue(transport, width: 4, isSuspended: true)
        for _ in 0..<Scale.requests {
            queue.addRequest(TextRequest(life: census.life())) { results.record($0.error?.code == .cancelled) }
        }

        queue.base.cancelAllOperations()
        #expect(await results.first(Scale.requests).allSatisfy { $0 })
        queue.base.isSuspended = false

        await census.extinction()
    }

    @Test func manyEqualRequestsShareTransfers() async {
        let (census, results) = (Census(), Recorder<Bool>())
        let queue = TestQueue(transport, width: 4, isSuspended: true)
        for _ in 0..<Scale.requests {
            queue.addRequest(TextRequest(life: census.life()), coalescing: true) { results.record($0.value == "x") }
        }

        queue.base.isSuspended = false

        #expect(await results.first(Scale.requests).allSatisfy { $0 })
        await census.extinction()
    }

    private func chain(_ count: Int, on queue: TestQueue, _ census: Census, _ results: Recorder<Bool>) async {
        var last: Operation?
        for _ in 0..<count {
            last = queue.addRequest(TextRequest(life: census.life()), dependencies: last.map { [$0] } ?? []) {
                results.record($0.value == "x")
            }
        }
    }
}
