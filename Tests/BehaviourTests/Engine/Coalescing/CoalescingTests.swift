// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct CoalescingTests {
    private let gate = Gate()

    private func makeTransport() -> InMemoryTransport {
        InMemoryTransport { [gate] _ in .status(.ok, body: Data("shared".utf8)).held(by: gate) }
    }

    private func join<R: NetworkRequest>(_ request: R, _ queue: TestQueue, _ count: Int) -> [Probe<R>] {
        (0..<count).map { _ in Probe(adding: request, to: queue, coalescing: true) }
    }

    @Test(arguments: [1, 4, OperationQueue.defaultMaxConcurrentOperationCount])
    func equalRequestsShareOneTransfer(width: Int) async {
        let transport = makeTransport()
        let queue = TestQueue(transport, width: width, isSuspended: true)
        let probes = join(TextRequest(), queue, 100)
        #expect(Set(probes.map { ObjectIdentifier($0.operation) }).count == 100)

        queue.base.isSuspended = false
        gate.open()

        for probe in probes {
            #expect(await probe.ended().map(\.value) == ["shared"])
            #expect(probe.operation.response?.status == .ok && probe.operation.transfers.count == 1)
        }
        #expect(transport.requests.count == 1)
    }

    @Test func queuedFetchSharesFinishedTransfer() async throws {
        let transport = makeTransport()
        let queue = TestQueue(transport, width: 1, isSuspended: true)
        let request = Get<String>("https://example.com/motto").coalescing()
        async let first = queue.fetch(request)
        async let second = queue.send(request)
        try await eventually { queue.base.operationCount == 2 }

        queue.base.isSuspended = false
        gate.open()

        let values = try await [first, second.body]
        #expect(values == ["shared", "shared"] && transport.requests.count == 1)
    }

    @Test func cancellingParticipantKeepsOthersRunning() async {
        let transport = makeTransport()
        let queue = TestQueue(transport)
        let probes = join(TextRequest(), queue, 3)

        probes[0].operation.cancel()
        #expect(await probes[0].ended().map(\.error?.code) == [.cancelled])
        gate.open()

        #expect(await probes[1].ended().map(\.value) == ["shared"])
        #expect(await probes[2].ended().map(\.value) == ["shared"])
    }

    @Test func cancellingAllParticipantsCancelsTransfer() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let probes = join(TextRequest(), queue, 3)
        let transfer = try await transport.awaitTransfer()

        for probe in probes { probe.operation.cancel() }
        try await transfer.awaitCancel()
        for probe in probes { #expect(await probe.ended().map(\.error?.code) == [.cancelled]) }

        let late = join(TextRequest(), queue, 1)[0]
        let own = try await transport.awaitTransfer(count: 2)
        own.receive(.head(HTTPResponseHead(status: .ok)))
        own.receive(.end(nil))
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        #expect(await late.ended().map(\.value) == [""])
    }

    @Test func requestAfterCompletionStartsNewTransfer() async {
        gate.open()
        let transport = makeTransport()
        let queue = TestQueue(transport)

        for _ in 0..<2 { #expect(await join(TextRequest(), queue, 1)[0].ended().map(\.value) == ["shared"]) }

        #expect(transport.requests.count == 2)
    }

    @Test func requestAfterFailureStartsNewTransfer() async {
        let answers = Recorder<Void>()
        let queue = TestQueue(
            InMemoryTransport { _ in
                answers.record(())
                return answers.count == 1 ? .status(500) : .status(.ok)
            }
        )

        let first = await join(TextRequest(), queue, 1)[0].ended()
        let second = await join(TextRequest(), queue, 1)[0].ended()

        #expect(first.map(\.error?.code) == [.unacceptableStatus])
        #expect(second.map(\.value) == [""])
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .delete]) func unsafeMethodsAreNeverShared(
        _ method: HTTPMethod
    ) async {
        let transport = makeTransport()
        let queue = TestQueue(transport)
        let probes = join(WireRequest(http: HTTPRequest(url: home, method: method)), queue, 5)

        gate.open()

        for probe in probes { #expect(await probe.ended().map(\.value) == ["shared"]) }
        #expect(transport.requests.count == 5)
    }

    @Test func sharingRequiresSameQueueAndIdentifier() async {
        let (one, other) = (makeTransport(), makeTransport())
        let (queue, second) = (TestQueue(one), TestQueue(one))
        let third = TestQueue(other)

        let probes =
            join(TextRequest(), queue, 1) + join(TextRequest(), second, 1) + join(TextRequest(), third, 1)
            + join(TextRequest(identifier: "other"), queue, 1)
        let wire = join(WireRequest(identifier: "text"), queue, 1)[0]
        gate.open()
        for probe in probes { #expect(await probe.ended().map(\.value) == ["shared"]) }
        #expect(await wire.ended().map(\.value) == ["shared"])

        #expect(one.requests.count == 3 && other.requests.count == 1)
    }

    @Test func coalesceOptionSharesTransfer() async {
        var options = RequestOptions()
        options.coalesce = true
        let transport = makeTransport()
        let queue = TestQueue(transport)
        let probes = (0..<3).map { _ in Probe(adding: TextRequest(options: options), to: queue) }

        gate.open()

        for probe in probes { #expect(await probe.ended().count == 1) }
        #expect(transport.requests.count == 1)
    }

    @Test func unqueuedRequestDoesNotDelayOthers() async {
        let queue = TestQueue(makeTransport())
        do { _ = Probe(TextRequest(), on: queue, coalescing: true) }
        let probe = join(TextRequest(), queue, 1)[0]

        gate.open()

        #expect(await probe.ended().map(\.value) == ["shared"])
    }
}
