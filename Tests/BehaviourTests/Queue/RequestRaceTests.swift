// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Races of two threads for one operation.
///
/// Each race runs many times. Each time, one completion is called, the operation ends, and all of its memory is
/// released.
@Suite(.bounded) struct RequestRaceTests {
    private let census = Census()

    /// Runs one race after another, and waits until all of their objects are deallocated.
    private func race(_ body: (TextRequest) async throws -> Int) async rethrows {
        var completions: [Int: Int] = [:]
        for _ in 0..<Scale.races {
            completions[try await body(TextRequest(life: census.life())), default: 0] += 1
        }
        #expect(completions == [1: Scale.races])
        await census.extinction()
    }

    @Test func cancellationRacesStart() async {
        await race { request in
            let queue = TestQueue()
            let probe = Probe(request, on: queue)
            simultaneously {
                queue.addOperation(probe.operation)
            } and: {
                probe.operation.cancel()
            }
            return await probe.ended().count
        }
    }

    @Test func cancellationRacesQueueResumption() async {
        await race { request in
            let queue = TestQueue(isSuspended: true)
            let probe = Probe(request, on: queue).run(on: queue)
            simultaneously {
                queue.base.isSuspended = false
            } and: {
                probe.operation.cancel()
            }
            return await probe.ended().count
        }
    }

    @Test func cancellationRacesCancellation() async {
        await race { request in
            let queue = TestQueue()
            let probe = Probe(request, on: queue).run(on: queue)
            simultaneously {
                probe.operation.cancel()
            } and: {
                probe.operation.cancel()
            }
            return await probe.ended().count
        }
    }

    @Test func cancellationRacesTransferCompletion() async throws {
        try await race { request in
            let transport = ManualTransport()
            let queue = TestQueue(transport)
            let probe = Probe(request, on: queue).run(on: queue)
            let transfer = try await transport.awaitTransfer()
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            simultaneously {
                transfer.receive(.end(nil))
            } and: {
                probe.operation.cancel()
            }
            return await probe.ended().count
        }
    }

    enum Rival: CaseIterable {
        case cancel, secondCall
    }

    @Test(arguments: Rival.allCases)
    func buildCompletionRacesCancelOrSecondCall(_ rival: Rival) async {
        await race { request in
            var request = request
            let replies = Recorder<BuildCompletion>()
            request.make = { replies.record($0) }
            let queue = TestQueue()
            let probe = Probe(request, on: queue).run(on: queue)
            let reply = await replies.first(1)[0]
            replies.forget()
            simultaneously {
                reply(.success(URLRequest(url: home)))
            } and: {
                switch rival {
                case .cancel: probe.operation.cancel()
                case .secondCall: reply(.failure(SampleError()))
                }
            }
            return await probe.ended().count
        }
    }

    // A cancellation handler of an interceptor's task, stored late, once replaced that of the transfer, so the transfer
    // never ended.
    @Test func cancellationRacesInterceptedTransfer() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent)) { $0.interceptors = [ClosureInterceptor()] }
        var number = 0
        await race { request in
            number += 1
            let probe = Probe(request, on: queue).run(on: queue)
            await sent.first(number)
            probe.operation.cancel()
            return await probe.ended().count
        }
    }

    @Test func cancellationRacesRetry() async {
        let clock = TestClock()
        let retry = ClosureInterceptor(retry: { _, context in
            context.attempt < 3 ? .retry(after: .seconds(1)) : .fail
        })
        let queue = TestQueue(InMemoryTransport { _ in .status(503) }) {
            $0.clock = clock
            $0.interceptors = [retry]
        }
        var sleeps = 0
        await race { request in
            let probe = Probe(request, on: queue).run(on: queue)
            sleeps += 1
            await clock.sleeps.first(sleeps)
            simultaneously {
                clock.advance(by: .seconds(1))
            } and: {
                probe.operation.cancel()
            }
            let count = await probe.ended().count
            sleeps = clock.sleeps.count
            return count
        }
    }

    @Test func deadlineRacesTransferCompletion() async throws {
        let clock = TestClock()
        var number = 0
        try await race { request in
            number += 1
            let transport = ManualTransport()
            let queue = TestQueue(transport) {
                $0.clock = clock
                $0.deadline = .seconds(1)
            }
            let probe = Probe(request, on: queue).run(on: queue)
            let transfer = try await transport.awaitTransfer()
            await clock.sleeps.first(number)
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            simultaneously {
                clock.advance(by: .seconds(1))
            } and: {
                transfer.receive(.end(nil))
            }
            return await probe.ended().count
        }
    }

    @Test func queueReleaseRacesTransferCompletion() async throws {
        try await race { request in
            let transport = ManualTransport()
            let (probe, queue) = {
                let queue = TestQueue(transport, width: 1)
                return (Probe(request, on: queue).run(on: queue), Locked<TestQueue?>(queue))
            }()
            let transfer = try await transport.awaitTransfer()
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            simultaneously {
                queue.withLock { $0 = nil }
            } and: {
                transfer.receive(.data(Data("hello".utf8)))
                transfer.receive(.end(nil))
            }
            let completions = await probe.ended()
            #expect(completions.map(\.value) == ["hello"])
            return completions.count
        }
    }

    @Test func addingCompletionRacesOperationEnd() async {
        await race { request in
            let queue = TestQueue()
            let probe = Probe(request, on: queue)
            let late = Recorder<Bool>()
            simultaneously {
                queue.addOperation(probe.operation)
            } and: {
                probe.operation.addCompletion(on: .global()) { late.record($0.value != nil) }
            }
            await late.first(1)
            return await probe.ended().count
        }
    }

    @Test func completionsAddedDuringDeliveryKeepOrder() async {
        let serial = DispatchQueue(label: "completions")
        await race { request in
            let queue = TestQueue()
            let probe = Probe(request, on: queue)
            let told = Recorder<Int>()
            probe.operation.addCompletion(on: serial) { _ in told.record(0) }
            simultaneously {
                queue.addOperation(probe.operation)
            } and: {
                for place in 1...3 { probe.operation.addCompletion(on: serial) { _ in told.record(place) } }
            }
            #expect(await told.first(4) == [0, 1, 2, 3])
            return await probe.ended().count
        }
    }

    /// The task gets the result of its operation, whichever event comes first. Without a response, a lost cancellation
    /// would make the task wait forever.
    @Test(arguments: [true, false]) func taskCancellationRacesFetch(isAnswered: Bool) async {
        await race { request in
            let (made, ends) = (Recorder<Void>(), Recorder<String>())
            let answer: StubResponse = isAnswered ? .status(.ok, body: Data("hello".utf8)) : .never
            let queue = TestQueue(InMemoryTransport { _ in answer }, isSuspended: true) {
                $0.monitors = [
                    .events { event, _ in
                        if case .operationCreated = event { made.record(()) }
                        if case .operationEnded(let outcome) = event { ends.record("\(outcome)") }
                    }
                ]
            }
            let task = Task { try await queue.fetch(request) }
            await made.first(1)
            simultaneously {
                task.cancel()
            } and: {
                queue.base.isSuspended = false
            }
            let result = await task.result
            let isCancelled = (result.error as? RequestError)?.code == .cancelled
            #expect(isCancelled || isAnswered && result.value == "hello")
            #expect(await ends.first(1) == [isCancelled ? "cancelled" : "success"])
            for operation in queue.operations { await operation.end() }
            return ends.count
        }
    }
}
