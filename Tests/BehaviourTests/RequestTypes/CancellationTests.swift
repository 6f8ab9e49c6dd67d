// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Cancels in every phase: the operation completes once, immediately, and ends when its queue and transfer allow it.
@Suite(.bounded) struct CancellationTests {
    @Test func cancelsBeforeEnqueueing() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport)
        let probe = Probe(TextRequest(), on: queue)

        probe.operation.cancel()
        #expect(probe.operation.result?.error?.code == .cancelled)
        #expect(!probe.operation.isFinished)

        #expect(await probe.run(on: queue).ended().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.result?.error?.phase == .waiting)
        #expect(transport.requests.isEmpty)
    }

    @Test func cancelsOnSuspendedQueue() async {
        let queue = TestQueue(isSuspended: true)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)

        probe.operation.cancel()
        probe.operation.cancel()

        #expect(await probe.completions().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.isCancelled && !probe.operation.isFinished && !probe.operation.isExecuting)
        #expect(queue.operations.contains(probe.operation))
        queue.base.isSuspended = false
        #expect(await probe.ended().count == 1)
    }

    @Test func cancelsWhileDependencyIsPending() async {
        let queue = TestQueue()
        let gate = Gate()
        let first = BlockOperation { try? gate.wait() }
        let probe = Probe(TextRequest(), on: queue)
        probe.operation.addDependency(first)
        queue.addOperation(first)

        _ = probe.run(on: queue)
        probe.operation.cancel()

        #expect(await probe.completions().map(\.error?.code) == [.cancelled])
        gate.open()
        #expect(await probe.ended().count == 1)
    }

    @Test func cancelsWhileBuildingRequest() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport)
        let replies = Recorder<BuildCompletion>()
        let probe = Probe(TextRequest(make: { replies.record($0) }), on: queue).run(on: queue)
        let reply = await replies.first(1)[0]

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.result?.error?.phase == .building)
        reply(.success(URLRequest(url: home)))
        #expect(await probe.ended().count == 1)
        #expect(transport.requests.isEmpty)
    }

    @Test func cancelsWhileInterceptorAdaptsRequest() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let entered = Recorder<Void>()
        let gate = Gate()
        let queue = TestQueue(transport) {
            $0.interceptors = [
                ClosureInterceptor(adapt: { _, _ in
                    entered.record(())
                    // A cancelled wait throws: the task of the interceptor is cancelled too.
                    try await gate.wait()
                })
            ]
        }
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await entered.first(1)

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(transport.requests.isEmpty)
    }

    @Test func cancelsBeforeResponseHead() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await sent.first(1)

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.result?.error?.phase == .sending)
        #expect(probe.operation.result?.error?.transfers.count == 1)
    }

    @Test func cancelsDuringRetryBackoff() async {
        let clock = TestClock()
        let queue = TestQueue(InMemoryTransport { _ in .status(.serviceUnavailable) }) {
            $0.clock = clock
            $0.retry = RetryPolicy(limit: 1, backoff: .constant(.seconds(5)))
        }
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await clock.sleeps.first(1)

        probe.operation.cancel()

        #expect(
            await probe.ended().first?.error?.description
                == "cancelled (503 Service Unavailable) while validating for GET https://example.com/recipes/1"
        )
    }

    @Test func cancelsDuringCredentialRefresh() async {
        let desk = RefreshDesk()
        let queue = TestQueue(InMemoryTransport { _ in .status(.unauthorized) }) {
            $0.interceptors = [
                AuthenticationInterceptor(desk.authenticator, credential: "old", origins: sampleOrigins)
            ]
        }
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await desk.calls.first(1)

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.phase) == [.validating])
        await desk.end(with: .success("new"))
    }

    @Test func cancelsWhileReceivingBody() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("hel".utf8)))

        probe.operation.cancel()

        #expect(await probe.completions().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.result?.error?.phase == .receiving)
        try await eventually { transfer.cancelCount == 1 }
        // The operation ends with its transfer, and keeps its slot in the queue until then.
        #expect(!probe.operation.isFinished && probe.operation.isExecuting)
        transfer.receive(.data(Data("lo".utf8)))
        transfer.receive(.end(nil))
        #expect(await probe.ended().count == 1)
    }

    @Test func cancelsWhileDecoding() async {
        let (entered, gate) = (Recorder<Void>(), Gate())
        let request = TextRequest(process: { _ in
            entered.record(())
            try? gate.wait()
            return "late"
        })
        let queue = TestQueue()
        let probe = Probe(request, on: queue).run(on: queue)
        await entered.first(1)

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        gate.open()
        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
    }

    @Test func cancelsDelayedInterceptorRetry() async {
        let clock = TestClock()
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = TestQueue(transport) {
            $0.clock = clock
            $0.interceptors = [ClosureInterceptor(retry: { _, _ in .retry(after: .seconds(3600)) })]
        }
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        #expect(await clock.sleeps.first(1) == [.seconds(3600)])
        #expect(probe.operation.isExecuting)

        probe.operation.cancel()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        await clock.cancellations.first(1)
        #expect(clock.cancellations.count == 1 && transport.requests.count == 1)
    }

    @Test func cancelAfterCompletionHasNoEffect() async {
        let queue = TestQueue()
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await probe.operation.end()

        probe.operation.cancel()

        #expect(await probe.ended().map(\.value) == ["hello"])
        #expect(probe.operation.result?.value == "hello")
    }

    @Test func cancelAllOperationsCancelsEveryRequest() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent), width: 2)
        let probes = (0..<20).map { Probe(TextRequest(identifier: "\($0)"), on: queue).run(on: queue) }
        await sent.first(2)

        queue.base.cancelAllOperations()

        for probe in probes { #expect(await probe.ended().map(\.error?.code) == [.cancelled]) }
        #expect(sent.count <= 20)
    }
}
