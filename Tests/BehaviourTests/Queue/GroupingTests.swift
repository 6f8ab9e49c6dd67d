// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct GroupingTests {
    private typealias Results = [Result<String, RequestError>]

    private let completionQueue = DispatchQueue(label: "completions")
    private let completions = Recorder<[Result<String, RequestError>]>()

    private func addGroup(
        _ count: Int,
        to queue: TestQueue,
        coalescing: Bool = false
    ) -> RequestGroup<TextRequest> {
        let requests = (0..<count).map { TextRequest(identifier: coalescing ? "same" : "\($0)") }
        return queue.addGroup(requests, completionQueue: completionQueue, coalescing: coalescing) {
            [completions] results in
            completions.record(results)
        }
    }

    private func calls() async -> [[Result<String, RequestError>]] {
        await completionQueue.drain()
        return completions.elements
    }

    private func codes(_ results: [Result<String, RequestError>]?) -> [RequestError.Code?]? {
        results?.map { $0.error?.code }
    }

    @Test func resultsAreInRequestOrder() async throws {
        let transport = InMemoryTransport { request in
            request.headers["X-Number"].map { .status(.ok, body: Data($0.utf8)) } ?? .status(.notFound)
        }
        let queue = TestQueue(transport)
        let requests = (0..<20).map { number in
            let headers: HTTPHeaders = number == 7 ? [] : ["X-Number": "\(number)"]
            return WireRequest(identifier: "\(number)", http: HTTPRequest(url: home, headers: headers))
        }

        let group = queue.addGroup(requests, completionQueue: completionQueue) { [completions] in
            completions.record($0)
        }
        await group.end()

        let results = try #require(group.results)
        try #require(results.count == 20)
        #expect(results.map(\.value) == (0..<20).map { $0 == 7 ? nil : "\($0)" })
        #expect(results[7].error?.code == .unacceptableStatus)
        #expect(group.members.allSatisfy(\.isFinished) && !group.isCancelled)
        #expect(await calls().map { $0.map(\.value) } == [results.map(\.value)])
    }

    @Test func emptyGroupCompletes() async {
        let group = addGroup(0, to: TestQueue(width: 1))

        await group.end()

        #expect(group.results?.isEmpty == true)
        #expect(await calls().map(\.count) == [0])
    }

    @Test func groupRunsOnSerialQueue() async throws {
        let queue = TestQueue(width: 1)

        let first = addGroup(5, to: queue)
        let second = queue.addGroup([TextRequest()], dependencies: [first])
        await second.end()

        #expect(first.isFinished)
        #expect(try await first.value() == Array(repeating: "hello", count: 5))
        #expect(await calls().count == 1)
    }

    @Test func dependentRunsAfterMembersAndCompletion() async {
        let queue = TestQueue()
        let events = Recorder<String>()
        let serial = OperationQueue()
        serial.underlyingQueue = completionQueue
        let requests = [TextRequest(identifier: "1"), TextRequest(identifier: "2")]
        let group = queue.addGroup(requests, completionQueue: completionQueue) { _ in events.record("completion") }
        let after = BlockOperation { events.record(group.results == nil ? "too early" : "dependent") }
        after.addDependency(group)

        serial.addOperation(after)

        #expect(await events.first(2) == ["completion", "dependent"])
    }

    @Test func cancelledGroupCompletesOnSuspendedQueue() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport, isSuspended: true)
        let group = addGroup(3, to: queue)

        group.cancel()
        group.cancel()

        #expect(group.isCancelled && !group.isFinished)
        #expect(codes(group.results) == [.cancelled, .cancelled, .cancelled])
        #expect(await calls().map(codes) == [[.cancelled, .cancelled, .cancelled]])
        queue.base.isSuspended = false
        await group.end()
        #expect(await calls().count == 1 && transport.requests.isEmpty)
    }

    @Test func groupFinishesAfterCancelledMembers() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport, width: 1)
        let group = addGroup(2, to: queue)
        let transfer = try await transport.awaitTransfer()

        // The transfer of the first member ends late, and so does the member.
        group.cancel()
        try await transfer.awaitCancel()
        #expect(await calls().count == 1)
        #expect(!group.isFinished && group.members.first?.isFinished == false)
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))

        await group.end()
        #expect(group.members.map(\.isFinished) == [true, true])
        #expect(await calls().count == 1)
    }

    @Test func cancellingQueueCancelsGroup() async {
        let queue = TestQueue(InMemoryTransport { _ in .never }, width: 2)
        let group = addGroup(10, to: queue)

        queue.base.cancelAllOperations()
        await group.end()

        #expect(await calls().map(codes) == [Array(repeating: .cancelled, count: 10)])
    }

    @Test func cancelledMemberIsFailureAmongResults() async throws {
        let queue = TestQueue(isSuspended: true)
        let group = addGroup(3, to: queue)
        try #require(group.members.count == 3)

        group.members[1].cancel()
        #expect(group.results == nil)
        queue.base.isSuspended = false
        await group.end()

        #expect(!group.isCancelled && codes(group.results) == [nil, .cancelled, nil])
        #expect(await calls().map(codes) == [[nil, .cancelled, nil]])
    }

    @Test func cancellingFinishedGroupHasNoEffect() async {
        let group = addGroup(2, to: TestQueue())
        await group.end()

        group.cancel()

        #expect(!group.isCancelled && codes(group.results) == [nil, nil])
        #expect(await calls().count == 1)
    }

    @Test func finishingGroupEarlyCancelsMembers() async {
        let queue = TestQueue(InMemoryTransport { _ in .never })
        let group = addGroup(2, to: queue)

        group.finish()
        await group.end()

        #expect(codes(group.results) == [.cancelled, .cancelled])
        #expect(await calls().map(codes) == [[.cancelled, .cancelled]])
    }

    @Test func groupDependingOnItselfFails() async {
        let queue = TestQueue(isSuspended: true)
        let group = addGroup(2, to: queue)
        let after = queue.addRequest(TextRequest(), dependencies: [group])

        group.addDependency(after)

        #expect(codes(group.results) == [.dependencyCycle, .dependencyCycle])
        queue.base.isSuspended = false
        await after.end()
        #expect(after.result?.value == "hello")
        #expect(await calls().count == 1)
    }

    @Test func onlyMemberDependingOnGroupFails() async throws {
        let queue = TestQueue(isSuspended: true)
        let group = addGroup(2, to: queue)
        try #require(group.members.count == 2)

        group.members[0].addDependency(group)
        queue.base.isSuspended = false
        await group.end()

        #expect(codes(group.results) == [.dependencyCycle, nil])
    }

    @Test func equalRequestsCanShareTransfer() async throws {
        let transport = ManualTransport()
        let group = addGroup(3, to: TestQueue(transport), coalescing: true)
        let transfer = try await transport.awaitTransfer()

        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.data(Data("one".utf8)))
        transfer.receive(.end(nil))
        await group.end()

        #expect(group.results?.map(\.value) == ["one", "one", "one"])
        #expect(transport.transfers.count == 1)
    }

    @Test func valueThrowsFirstFailure() async throws {
        let queue = TestQueue(isSuspended: true)
        let group = addGroup(3, to: queue)
        try #require(group.members.count == 3)
        let values = Task { try await group.value() }

        group.members[2].finish(with: .success("third"))
        group.members[1].finish(throwing: SampleError())
        queue.base.isSuspended = false

        await #expect(throws: RequestError.self) { try await values.value }
        await group.end()
        #expect(group.results?.map(\.value) == ["hello", nil, "third"])
    }

    @Test func requestsOfDifferentTypesCompleteTogether() async {
        let queue = TestQueue()
        let texts = Recorder<String>()

        let group = queue.addRequests(
            TextRequest(),
            UntypedRequest(),
            CustomFailureRequest(make: { $0(.failure(SampleError(name: "made"))) }),
            completionQueue: completionQueue
        ) { text, data, custom in
            let error: CustomFailureRequest.Failure? = custom.error
            texts.record("\(text.value ?? "") \(data.value?.count ?? 0) \(error == .sample("made"))")
        }
        await group.end()
        await completionQueue.drain()

        #expect(texts.elements == ["hello 5 true"])
    }

    @Test func cancellingMixedGroupCancelsAllRequests() async {
        let queue = TestQueue(isSuspended: true)
        let codes = Recorder<[RequestError.Code?]>()

        let group = queue.addRequests(TextRequest(), WireRequest(), completionQueue: completionQueue) {
            codes.record([$0.error?.code, $1.error?.code])
        }
        group.cancel()
        await completionQueue.drain()

        #expect(codes.elements == [[.cancelled, .cancelled]])
        queue.base.isSuspended = false
        await group.end()
    }

    /// A queue that drops its operations.
    final class LosingQueue: RequestQueue {
        var operations: [Operation] { [] }
        func addOperation(_ operation: Operation) {}
    }

    @Test func groupCompletesWhenQueueDropsIt() async {
        let requests = [TextRequest(), TextRequest()]

        LosingQueue().addGroup(requests, completionQueue: completionQueue) { [completions] in completions.record($0) }

        #expect(await completions.first(1).map(codes) == [[.cancelled, .cancelled]])
    }

    @Test func finishedGroupIsDeallocated() async {
        let census = Census()
        do {
            let queue = TestQueue()
            let group = queue.addGroup((0..<10).map { _ in TextRequest(life: census.life()) }) { _ in }
            await group.end()
        }

        await census.extinction()
    }
}

@Suite(.bounded) struct GroupingRaceTests {
    private let census = Census()

    private func race(
        isSuspended: Bool,
        _ body: (TestQueue, RequestGroup<TextRequest>) -> Void
    ) async {
        var counts: [Int: Int] = [:]
        let completionQueue = DispatchQueue(label: "completions")
        for _ in 0..<Scale.races {
            let queue = TestQueue(width: 2, isSuspended: isSuspended)
            let completions = Recorder<Int>()
            let requests = (0..<3).map { TextRequest(identifier: "\($0)", life: census.life()) }
            let group = queue.addGroup(requests, completionQueue: completionQueue) { completions.record($0.count) }
            body(queue, group)
            await group.end()
            await completionQueue.drain()
            let isWhole = group.members.allSatisfy(\.isFinished) && completions.elements == [3]
            counts[isWhole ? 1 : 0, default: 0] += 1
        }
        #expect(counts == [1: Scale.races])
        await census.extinction()
    }

    @Test func cancellationRacesQueueResumption() async {
        await race(isSuspended: true) { queue, group in
            simultaneously {
                queue.base.isSuspended = false
            } and: {
                group.cancel()
            }
        }
    }

    @Test func cancellationRacesCancellation() async {
        await race(isSuspended: false) { _, group in
            simultaneously {
                group.cancel()
            } and: {
                group.cancel()
            }
        }
    }

    @Test func finishRacesMemberCancellation() async {
        await race(isSuspended: false) { _, group in
            simultaneously {
                group.finish()
            } and: {
                group.members.last?.cancel()
            }
        }
    }
}
