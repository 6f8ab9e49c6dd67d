// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The properties that operations with a shared transfer don't share.
@Suite(.bounded) struct CoalescingIsolationTests {
    @Test func readAfterWriteDoesNotShareEarlierResponse() async {
        let version = Recorder<String>()
        version.record("v1")
        let transport = InMemoryTransport { _ in .status(.ok, body: Data((version.elements.last ?? "").utf8)) }
        let queue = TestQueue(transport)

        let before = Probe(adding: TextRequest(), to: queue, coalescing: true)
        #expect(await before.ended().map(\.value) == ["v1"])
        let write = BlockOperation { version.record("v2") }
        let after = queue.addRequest(TextRequest(), dependencies: [write], coalescing: true)
        queue.addOperation(write)
        await after.end()

        #expect(after.result?.value == "v2")
    }

    @Test func operationDoesNotJoinFinishedTransfer() async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("x".utf8)) }
        let queue = TestQueue(transport)
        let made = Probe(TextRequest(), on: queue, coalescing: true)

        _ = await Probe(adding: TextRequest(), to: queue, coalescing: true).ended()
        _ = await made.run(on: queue).ended()

        #expect(transport.requests.count == 2)
    }

    @Test func bodySizeLimitAppliesPerParticipant() async {
        let gate = Gate()
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
        let queue = TestQueue(transport)
        var narrow = RequestOptions()
        narrow.maximumBodySize = 2

        let first = Probe(adding: TextRequest(options: narrow), to: queue, coalescing: true)
        let second = Probe(adding: TextRequest(), to: queue, coalescing: true)
        gate.open()

        #expect(await first.ended().map(\.error?.code) == [.bodyTooLarge])
        #expect(await second.ended().map(\.value) == ["shared"])
    }

    @Test func deadlineAppliesPerParticipant() async throws {
        let gate = Gate()
        let clock = ManualClock()
        let queue = TestQueue(
            InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
        ) { $0.clock = clock }
        var hasty = RequestOptions()
        hasty.deadline = .seconds(1)

        let first = Probe(adding: TextRequest(options: hasty), to: queue, coalescing: true)
        let second = Probe(adding: TextRequest(), to: queue, coalescing: true)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(await first.ended().map(\.error?.code) == [.deadlineExceeded])
        gate.open()

        #expect(await second.ended().map(\.value) == ["shared"])
    }

    @Test func deferredRequestsShareTransfer() async {
        var options = RequestOptions()
        options.coalesce = true
        let (gate, joined) = (Gate(), Recorder<Void>())
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
        let queue = TestQueue(transport, isSuspended: true) {
            $0.monitors = [.events { event, _ in if case .operationJoined = event { joined.record(()) } }]
        }
        let first = queue.addRequest(TextRequest(identifier: "first"), session: InMemoryTransport { _ in .status(.ok) })
        let operations = (0..<5).map { [options] _ in
            queue.addRequest(after: first) { _ in TextRequest(identifier: "second", options: options) }
        }
        queue.base.isSuspended = false
        await joined.first(5)
        gate.open()

        for operation in operations { await operation.end() }
        #expect(operations.allSatisfy { $0.result?.value == "shared" })
        #expect(transport.requests.count == 1)
    }
}
