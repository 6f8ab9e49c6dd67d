// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The deadline of an operation, in each of its phases.
@Suite(.bounded) struct DeadlineTests {
    private let clock = TestClock()

    private func makeQueue(
        _ transport: any HTTPTransport = InMemoryTransport { _ in .never },
        isSuspended: Bool = false,
        interceptors: [any Interceptor] = []
    ) -> TestQueue {
        TestQueue(transport, isSuspended: isSuspended) {
            $0.clock = clock
            $0.deadline = .seconds(5)
            $0.interceptors = interceptors
        }
    }

    /// The task that waits for the deadline may get a thread only after the clock has advanced.
    @Test func deadlineStartsWithOperationCreation() async {
        for _ in 0..<Scale.races {
            let clock = ManualClock()
            let queue = TestQueue(InMemoryTransport { _ in .never }) {
                $0.clock = clock
                $0.deadline = .seconds(5)
            }
            let probe = Probe(TextRequest(), on: queue).run(on: queue)

            clock.advance(by: .seconds(5))

            #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        }
    }

    @Test func deadlineFiresOnSuspendedQueue() async {
        let queue = makeQueue(isSuspended: true)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        #expect(await clock.sleeps.first(1) == [.seconds(5)])

        clock.advance(by: .seconds(5))

        #expect(await probe.results.first(1).map(\.error?.code) == [.deadlineExceeded])
        #expect(probe.operation.result?.error?.phase == .waiting)
        #expect(!probe.operation.isFinished)
        queue.base.isSuspended = false
        #expect(await probe.ended().count == 1)
    }

    @Test func deadlineFiresWhileBuildingRequest() async {
        let replies = Recorder<BuildCompletion>()
        let queue = makeQueue()
        let probe = Probe(TextRequest(make: { replies.record($0) }), on: queue).run(on: queue)
        await replies.first(1)
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(5))

        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        #expect(probe.operation.result?.error?.phase == .building)
    }

    @Test func deadlineFiresBeforeResponseHead() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = makeQueue(InMemoryTransport.silent(sent))
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await sent.first(1)
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(5))

        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        #expect(probe.operation.result?.error?.phase == .sending)
        #expect(probe.operation.result?.error?.transfers.count == 1)
    }

    @Test func deadlineFiresWhileReceivingBody() async throws {
        let transport = ManualTransport()
        let queue = makeQueue(transport)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        let transfer = try await transport.awaitTransfer()
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(5))

        #expect(await probe.results.first(1).map(\.error?.code) == [.deadlineExceeded])
        #expect(probe.operation.result?.error?.phase == .receiving)
        try await transfer.awaitCancel()
        #expect(!probe.operation.isFinished)
        transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
        #expect(await probe.ended().count == 1)
    }

    @Test func deadlineFiresWhileDecoding() async {
        let (entered, gate) = (Recorder<Void>(), Gate())
        let queue = makeQueue(InMemoryTransport { _ in .status(.ok) })
        let request = TextRequest(process: { _ in
            entered.record(())
            try? gate.wait()
            return "late"
        })
        let probe = Probe(request, on: queue).run(on: queue)
        await entered.first(1)
        await clock.sleeps.first(1)

        clock.advance(by: .seconds(5))

        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        gate.open()
    }

    @Test func deadlineIncludesRetryDelay() async {
        let retry = ClosureInterceptor(retry: { _, _ in .retry(after: .seconds(60)) })
        let transport = InMemoryTransport { _ in .status(503) }
        let queue = makeQueue(transport, interceptors: [retry])
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        #expect(await Set(clock.sleeps.first(2)) == [.seconds(5), .seconds(60)])

        clock.advance(by: .seconds(5))

        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
        #expect(transport.requests.count == 1)
    }

    @Test func requestDeadlineOverridesEnvironment() async {
        var options = RequestOptions()
        options.deadline = .milliseconds(300)
        let queue = makeQueue()
        let probe = Probe(TextRequest(options: options), on: queue).run(on: queue)

        #expect(await clock.sleeps.first(1) == [.milliseconds(300)])
        clock.advance(by: .milliseconds(300))

        #expect(await probe.ended().map(\.error?.code) == [.deadlineExceeded])
    }

    @Test func deferredRequestAppliesItsDeadline() async {
        var options = RequestOptions()
        options.deadline = .milliseconds(300)
        let request = TextRequest(options: options)
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent)) { $0.clock = clock }
        let first = queue.addRequest(TextRequest(), session: InMemoryTransport { _ in .status(.ok) })

        let second = queue.addRequest(after: first) { _ in request }
        #expect(await clock.sleeps.first(1) == [.milliseconds(300)])
        await sent.first(1)
        clock.advance(by: .milliseconds(300))
        await second.end()

        #expect(second.result?.error?.code == .deadlineExceeded)
    }

    @Test func completionStopsDeadlineTimer() async {
        let queue = makeQueue(InMemoryTransport { _ in .status(.ok) })

        let probe = Probe(TextRequest(), on: queue).run(on: queue)

        #expect(await probe.ended().first?.value == "")
        clock.advance(by: .seconds(10))
        #expect(await probe.ended().count == 1)
    }
}
