// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

extension Operation {
    /// Whether the operation waits for another of its category.
    var isInLine: Bool {
        dependencies.contains { !$0.isFinished }
    }
}

/// The moments at which operations, groups and their members join and leave the queues of their categories.
@Suite(.bounded) struct ExclusivityTicketTests {
    private typealias ManualOperation = ExclusivityTests.ManualOperation

    private let category = RequestOptions.ExclusiveCategory(UUID())
    private let other = RequestOptions.ExclusiveCategory(UUID())

    private func request(_ name: String, _ categories: Set<RequestOptions.ExclusiveCategory> = []) -> TextRequest {
        var options = RequestOptions()
        options.exclusivity = categories
        return TextRequest(identifier: name, options: options)
    }

    /// Adds an operation that runs until a test finishes it.
    private func holder(of category: RequestOptions.ExclusiveCategory) async throws -> ManualOperation {
        let holder = ManualOperation()
        OperationQueue().addOperation(holder, exclusive: [category])
        try await eventually { holder.isExecuting }
        return holder
    }

    // MARK: Groups

    @Test func nestedGroupWaitsForOuterGroupTicket() async throws {
        let (holder, queue, began) = (try await holder(of: category), TestQueue(), Locked(false))
        let outer = queue.addGroup([request("0")], exclusive: [category])

        let inner = outer.addGroup([request("1")])
        let grown = outer.addOperationGroup { (_: any RequestQueue) in began.withLock { $0 = true } }
        let passing = queue.addRequest(request("passing"))
        await passing.end()

        #expect(inner.members.allSatisfy { !$0.isReady })
        #expect(!began.withLock { $0 })
        holder.finish()
        for operation in [outer, inner, grown] as [Operation] { await operation.end() }
        #expect(began.withLock { $0 })
    }

    @Test func waitingGroupMemberHoldsNoCategory() async throws {
        let (holder, queue) = (try await holder(of: category), TestQueue())
        let waiting = queue.addGroup([request("member", [other])], exclusive: [category])

        // The work of the holder may need the same category as the member.
        let work = queue.addRequest(request("work", [other]))
        await work.end()

        #expect(work.result?.value == "hello")
        holder.finish()
        await waiting.end()
        #expect(waiting.members[0].result?.value == "hello")
    }

    @Test(arguments: [false, true])
    func priorityAppliesToGroupsAndDeferredRequests(_ isGroup: Bool) async throws {
        let (holder, queue, order) = (try await holder(of: category), TestQueue(), Locked<[String]>([]))
        let serial = DispatchQueue(label: "order")
        @Sendable func note(_ name: String) -> @Sendable (Any) -> Void { { _ in order.withLock { $0.append(name) } } }
        let usual = queue.addGroup(
            [request("usual")],
            completionQueue: serial,
            exclusive: [category],
            completion: note("usual")
        )
        let cause = queue.addRequest(request("cause"))
        await cause.end()

        let urgent: Operation =
            if isGroup {
                queue.addGroup(
                    [request("urgent")],
                    completionQueue: serial,
                    priority: .veryHigh,
                    exclusive: [category],
                    completion: note("urgent")
                )
            } else {
                queue.addRequest(after: cause, completionQueue: serial, priority: .veryHigh, exclusive: [category]) {
                    _ in
                    TextRequest(identifier: "urgent")
                } completion: {
                    note("urgent")($0)
                }
            }
        #expect(urgent.isInLine)
        holder.finish()
        for operation in [usual, urgent] { await operation.end() }
        try await eventually { order.withLock { $0.count } == 2 }

        #expect(order.withLock { $0 } == ["urgent", "usual"])
    }

    // MARK: Ends

    @Test func cancelInSuspendedQueueReleasesItsCategory() async throws {
        let (suspended, queue) = (TestQueue(isSuspended: true), TestQueue())
        let cancelled = suspended.addRequest(request("cancelled", [category]))
        let next = queue.addRequest(request("next", [category]))
        #expect(next.isInLine)

        cancelled.cancel()
        await next.end()

        #expect(next.result?.value == "hello")
        #expect(!cancelled.isFinished)
        suspended.base.isSuspended = false
        await cancelled.end()
    }

    @Test func clientIssuesOneTicketPerRequest() async throws {
        let holder = try await holder(of: category)
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) })
        let group = client.addGroup([request("1", [category])])
        let operations = group.members + [client.addRequest(request("0", [category]))]

        for operation in operations { #expect(operation.dependencies.count == 1) }
        holder.finish()
        for operation in operations { await operation.end() }
    }

    // MARK: Long queues

    // Operations check only as much of the queue as needed. If each checked all of it, this test would take minutes.
    @Test func longQueueIsServedAndShownInGraph() async throws {
        let (holder, count) = (try await holder(of: category), Scale.pick(500, whole: 5_000))
        let queue = TestQueue()
        let operations = (0..<count).map { queue.addRequest(request("\($0)", [category])) }

        let graph = queue.graph()
        #expect(graph.edges.count { $0.kind == .exclusivity } == count)
        holder.finish()
        for operation in operations { await operation.end() }

        #expect(operations.allSatisfy { $0.result?.value == "hello" })
    }

    // If each member scanned the whole preceding group, this test would take minutes.
    @Test func largeGroupsInSameCategoryScale() async throws {
        let (holder, count) = (try await holder(of: category), Scale.pick(500, whole: 5_000))
        let queue = TestQueue()
        let requests = (0..<count).map { TextRequest(identifier: "\($0)") }

        let groups = (0..<2).map { _ in queue.addGroup(requests, exclusive: [category]) }
        holder.finish()
        for group in groups { await group.end() }

        #expect(groups.allSatisfy { $0.result?.value?.count == count })
    }

    @Test func equalNumbersOfDifferentTypesDiffer() {
        #expect(RequestOptions.ExclusiveCategory(1 as Int) != RequestOptions.ExclusiveCategory(1 as Int64))
        #expect(RequestOptions.ExclusiveCategory(1) == RequestOptions.ExclusiveCategory(1))
        #expect(RequestOptions.ExclusiveCategory("1") != RequestOptions.ExclusiveCategory(1))
        let number = 7
        #expect("document \(number)" as RequestOptions.ExclusiveCategory == "document 7")
    }
}

/// The events at the end of a group, and the queues on which they occur.
@Suite(.bounded) struct GroupEndTests {
    @Test func operationAddedToFinishedGroupUsesItsQueue() async throws {
        let label = DispatchQueue(label: "completions")
        label.setSpecific(key: Self.key, value: true)
        let base = OperationQueue()
        base.underlyingQueue = label
        let group = base.addGroup([TextRequest(identifier: "member")], session: InMemoryTransport { _ in .status(.ok) })
        await group.end()
        let isThere = Recorder<Bool>()

        group.addRequest(TextRequest(identifier: "late")) { _ in
            isThere.record(DispatchQueue.getSpecific(key: Self.key) ?? false)
        }

        #expect(await isThere.first(1) == [true])
    }

    private static let key = DispatchSpecificKey<Bool>()

    @Test func cancelAllRequestsWaitsForNestedGroups() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let isAdded = Gate()
        let group = queue.addOperationGroup { group in
            let nested = group.addGroup([TextRequest(identifier: "nested")])
            isAdded.open()
            await nested.end()
        }
        // The requests of a group may be sent before it is added.
        try await isAdded.wait()
        let transfer = try await transport.awaitTransfer()
        let isOver = Locked(false)

        group.cancelAllRequests { isOver.withLock { $0 = true } }
        await DispatchQueue.global().drain()

        #expect(!isOver.withLock { $0 })
        transfer.receive(.end(RequestError(.cancelled, phase: .sending)))
        try await eventually { isOver.withLock { $0 } }
        await group.end()
    }

    @Test func failFastGroupReportsMemberResults() async throws {
        let transport = ManualTransport()
        let queue = TestQueue(transport)
        let told = Recorder<[String]>()
        let group = queue.addGroup((0..<3).map { TextRequest(identifier: "\($0)") }, failingFast: true) { results in
            told.record(results.map { "\($0.error?.code as Any)" })
        }
        try await transport.awaitTransfer(count: 3).receive(.end(RequestError(.connectionLost, phase: .sending)))
        let results = await told.first(1)[0]

        #expect(results == group.results.map { $0.map { "\($0.error?.code as Any)" } })
        for transfer in transport.transfers { transfer.receive(.end(RequestError(.cancelled, phase: .sending))) }
        await group.end()
    }

    @Test(arguments: [true, false])
    func canReachIgnoresInterceptorsAndValidators(_ isThere: Bool) async {
        let client = HTTPClient(
            transport: InMemoryTransport { _ in
                isThere ? .status(.ok) : .failure(RequestError(.cannotConnect, phase: .sending))
            }
        ) {
            $0.interceptors = [.adapting { _ in throw RequestError(.authenticationFailed, phase: .building) }]
            $0.validators = [.head { _, _ in throw RequestError(.rejected, phase: .validating) }]
        }

        #expect(await client.canReach(home) == isThere)
    }

    @Test func canReachIgnoresScopedInterceptors() async {
        let client = HTTPClient(transport: InMemoryTransport { _ in .status(.ok) }) {
            let refusal = ClosureInterceptor(adapt: { _, _ in throw SampleError() })
            $0.interceptors = [refusal.scoped { _ in true }]
        }

        #expect(await client.canReach(home))
    }

    @Test func canReachIgnoresConditionsAndValidators() async {
        let transport = InMemoryTransport { _ in .status(.unauthorized) }
        let client = HTTPClient(transport: transport) {
            $0.conditions = [.condition { _ in throw SampleError() }]
            $0.validators = [.closure { _, _ in .retry(.immediate(limit: 3)) }]
        }

        #expect(await client.canReach(home))
        #expect(transport.requests.count == 1)
    }

    @Test func hostBehindRefusingProxyIsUnreachable() async {
        let head = HTTPResponseHead(status: .badGateway)
        let refusal = RequestError(.proxyRefused, phase: .sending, response: head)
        let client = HTTPClient(transport: InMemoryTransport { _ in .failure(refusal) })

        #expect(await !client.canReach(home))
    }
}
