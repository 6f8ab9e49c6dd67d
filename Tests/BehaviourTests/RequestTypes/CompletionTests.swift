// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Exactly one completion, however the operation ends.
@Suite(.bounded) struct CompletionTests {
    @Test func successCompletesOnce() async {
        let queue = TestQueue()

        let probe = Probe(TextRequest(), on: queue).run(on: queue)

        let results = await probe.ended()
        #expect(results.map(\.value) == ["hello"])
        #expect(probe.operation.result?.value == "hello")
        #expect(probe.operation.isFinished && !probe.operation.isExecuting && !probe.operation.isCancelled)
    }

    @Test func transferFailureCompletesOnce() async {
        let queue = TestQueue(InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .receiving)) })

        let results = await Probe(TextRequest(), on: queue).run(on: queue).ended()

        #expect(results.map(\.error?.code) == [.connectionLost])
        #expect(results.first?.error?.phase == .receiving)
        #expect(results.first?.error?.transfers.count == 1)
    }

    struct Building: Sendable, CustomStringConvertible {
        let description: String
        let make: @Sendable (@escaping BuildCompletion) -> Void
        let code: RequestError.Code?
    }

    static let buildings = [
        Building(
            description: "later, on another thread",
            make: { reply in
                DispatchQueue.global().async { reply(.success(URLRequest(url: home))) }
            },
            code: nil
        ),
        Building(
            description: "twice",
            make: { reply in
                for _ in 0..<2 { reply(.success(URLRequest(url: home))) }
            },
            code: nil
        ),
        Building(
            description: "a success, then a failure",
            make: { reply in
                reply(.success(URLRequest(url: home)))
                reply(.failure(SampleError()))
            },
            code: nil
        ),
        Building(
            description: "a failure, then a success",
            make: { reply in
                reply(.failure(SampleError()))
                reply(.success(URLRequest(url: home)))
            },
            code: .other
        ),
        Building(description: "a failure", make: { $0(.failure(SampleError())) }, code: .other),
        Building(description: "never", make: { _ in }, code: .invalidRequest),
        Building(
            description: "never, released later",
            make: { reply in
                DispatchQueue.global().async { _ = reply }
            },
            code: .invalidRequest
        ),
        Building(
            description: "an invalid address",
            make: { reply in
                reply(.success(URLRequest(url: URL(string: "file:///etc/passwd")!)))
            },
            code: .invalidRequest
        ),
    ]

    @Test(arguments: buildings) func irregularBuildCallbacksCompleteOnce(_ building: Building) async {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("hello".utf8)) }
        let queue = TestQueue(transport)

        let results = await Probe(TextRequest(make: building.make), on: queue).run(on: queue).ended()

        #expect(results.count == 1)
        #expect(results.first?.error?.code == building.code)
        #expect(results.first?.value == (building.code == nil ? "hello" : nil))
        #expect(transport.requests.count == (building.code == nil ? 1 : 0))
    }

    @Test func processingErrorIsTheUnderlyingError() async {
        let queue = TestQueue()
        let request = TextRequest(process: { _ in throw SampleError(name: "unreadable") })

        let results = await Probe(request, on: queue).run(on: queue).ended()

        #expect(results.map { $0.error?.underlying as? SampleError } == [SampleError(name: "unreadable")])
        #expect(results.first?.error?.phase == .decoding)
        #expect(results.first?.error?.response?.status == .ok)
        #expect(results.first?.error?.body == Data("hello".utf8))
    }

    @Test func deallocatedOperationCompletesAsCancelled() async {
        let results = Recorder<Result<String, RequestError>>()

        do { _ = TestQueue().makeOperation(for: TextRequest()) { results.record($0) } }

        let all = await results.first(1)
        #expect(all.map(\.error?.code) == [.cancelled])
    }

    @Test func releasedQueueStillRunsItsOperations() async {
        var queue: TestQueue? = TestQueue(width: 1)
        let probes = (0..<10).map { _ in Probe(TextRequest(), on: queue!) }
        for probe in probes { queue?.addOperation(probe.operation) }

        queue = nil

        for probe in probes { #expect(await probe.ended().count == 1) }
    }

    @Test func finishingWithoutResultCancelsOperation() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await sent.first(1)

        probe.operation.finish()

        #expect(await probe.ended().map(\.error?.code) == [.cancelled])
        #expect(probe.operation.result?.error?.code == .cancelled)
        await #expect(throws: RequestError.self) { try await probe.operation.value() }
    }

    @Test func completionAddedAfterEndIsCalled() async {
        let queue = TestQueue()
        let probe = Probe(TextRequest(), on: queue).run(on: queue)
        await probe.operation.end()
        let late = Recorder<String?>()

        probe.operation.addCompletion(on: .global()) { late.record($0.value) }

        #expect(await late.first(1) == ["hello"])
        #expect(await probe.completions().count == 1)
    }

    @Test func firstExternalResultWins() async {
        let queue = TestQueue(isSuspended: true)
        let probe = Probe(TextRequest(), on: queue).run(on: queue)

        #expect(probe.operation.finish(with: .success("canned")))
        #expect(!probe.operation.finish(with: .success("late")))
        #expect(!probe.operation.finish(throwing: SampleError()))
        probe.operation.cancel()

        #expect(await probe.completions().map(\.value) == ["canned"])
        #expect(!probe.operation.isFinished)
        queue.base.isSuspended = false
        #expect(await probe.ended().map(\.value) == ["canned"])
    }

    @Test func completionBlockIsAvailableToCaller() async {
        let queue = TestQueue()
        let probe = Probe(TextRequest(), on: queue)
        #expect(probe.operation.completionBlock == nil)
        let calls = Recorder<Bool>()
        let operation = probe.operation
        operation.completionBlock = { [unowned operation] in calls.record(operation.isFinished) }

        #expect(await probe.run(on: queue).ended().count == 1)

        #expect(await calls.first(1) == [true])
    }
}
