// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Operations on several queues, only one of which may run at a time.
@Suite(.bounded) struct ExclusivityTests {
    /// Counts the operations that run at the same time, and records their order.
    final class Room: Sendable {
        private let state = Locked((present: 0, most: 0, order: [String]()))

        var most: Int { state.withLock { $0.most } }
        var order: [String] { state.withLock { $0.order } }

        func enter(_ name: String) {
            state.withLock {
                $0.present += 1
                $0.most = max($0.most, $0.present)
                $0.order.append(name)
            }
        }

        func leave() { state.withLock { $0.present -= 1 } }
    }

    private static func request(_ name: String, _ categories: Set<RequestOptions.ExclusiveCategory>) -> TextRequest {
        var options = RequestOptions()
        options.exclusivity = categories
        return TextRequest(identifier: name, options: options)
    }

    private func category() -> RequestOptions.ExclusiveCategory { RequestOptions.ExclusiveCategory(UUID()) }

    @Test func exclusiveRequestsRunSeriallyAcrossQueues() async throws {
        let (category, transport) = (category(), ManualTransport())
        let queues = [TestQueue(transport), TestQueue(transport, width: 1)]

        let operations = (0..<6).map { queues[$0 % 2].addRequest(Self.request("\($0)", [category])) }
        for number in 0..<6 {
            let transfer = try await transport.awaitTransfer(count: number + 1)
            #expect(transport.transfers.count == number + 1)
            #expect(operations.map(\.isExecuting).filter(\.self).count == 1)
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.end(nil))
            await operations[number].end()
        }

        #expect(operations.allSatisfy { $0.result?.value == "" })
    }

    /// Equal requests share a response unless a write was added between them.
    @Test func sharedResponseIsNotOlderThanPrecedingWrite() async throws {
        let (category, text) = (category(), Locked("old"))
        let transport = InMemoryTransport { request in
            if request.method == .put { text.withLock { $0 = "new" } }
            return .status(.ok, body: Data(text.withLock { $0 }.utf8))
        }
        let queue = TestQueue(transport, isSuspended: true)
        var write = Self.request("write", [category])
        write.make = { completion in
            var request = URLRequest(url: home)
            request.httpMethod = "PUT"
            completion(.success(request))
        }

        let before = Probe(adding: Self.request("read", [category]), to: queue, coalescing: true)
        let between = queue.addRequest(write)
        let after = Probe(adding: Self.request("read", [category]), to: queue, coalescing: true)
        queue.base.isSuspended = false

        #expect(await before.ended().map(\.value) == ["old"])
        #expect(try await between.value() == "new")
        #expect(await after.ended().map(\.value) == ["new"])
    }

    @Test func groupMemberDoesNotShareEarlierResponse() async throws {
        let (category, text) = (category(), Locked("old"))
        let queue = TestQueue(
            InMemoryTransport { _ in .status(.ok, body: Data(text.withLock { $0 }.utf8)) },
            isSuspended: true
        )

        let before = Probe(adding: Self.request("read", [category]), to: queue, coalescing: true)
        let between = BlockOperation { text.withLock { $0 = "new" } }
        queue.addOperation(between, exclusive: [category])
        let group = queue.addGroup([Self.request("read", [])], coalescing: true, exclusive: [category])
        queue.base.isSuspended = false

        #expect(await before.ended().map(\.value) == ["old"])
        #expect(try await group.value() == ["new"])
    }

    @Test func waitingOperationOccupiesNoSlot() async throws {
        let category = category()
        let (transport, quick) = (ManualTransport(), InMemoryTransport { _ in .status(.ok) })
        let first = TestQueue(transport).addRequest(Self.request("first", [category]))
        let transfer = try await transport.awaitTransfer()
        let queue = TestQueue(quick, width: 1)

        let second = queue.addRequest(Self.request("second", [category]))
        let others = (0..<5).map { queue.addRequest(TextRequest(identifier: "\($0)")) }
        for other in others { await other.end() }

        #expect(!second.isExecuting && !second.isReady && second.result == nil)
        transfer.receive(.end(RequestError(.connectionLost, phase: .sending)))
        for operation in [first, second] { await operation.end() }
        #expect(second.result?.value == "")
    }

    @Test func highestPriorityThenFirstIsAdmitted() async throws {
        let (category, room) = (category(), Room())
        let queue = OperationQueue()
        var operations: [Operation] = []
        for (name, priority) in [("low", -4), ("a", 0), ("b", 0), ("high", 4)] {
            let operation = BlockOperation { room.enter(name) }
            operation.queuePriority = Operation.QueuePriority(rawValue: priority) ?? .normal
            operations.append(operation)
        }
        let first = ManualOperation()
        queue.addOperation(first, exclusive: [category])
        try await eventually { first.isExecuting }
        for operation in operations {
            queue.addOperation(operation, exclusive: [category])
            // The operation is queued once its preparation has ended.
            try await eventually { operation.isInLine }
        }
        first.finish()
        for operation in operations { await operation.end() }

        #expect(room.order == ["high", "a", "b", "low"])
    }

    /// Runs until a test finishes it.
    final class ManualOperation: AsynchronousOperation, @unchecked Sendable {
        override func execute() {}
    }

    @Test func ticketIsGrantedAfterDependenciesFinish() async {
        let (category, room) = (category(), Room())
        let gate = ManualOperation()
        gate.start()
        let early = BlockOperation { room.enter("early") }
        early.addDependency(gate)
        let late = BlockOperation { room.enter("late") }
        let queue = OperationQueue()

        queue.addOperation(early, exclusive: [category])
        queue.addOperation(late, exclusive: [category])
        await late.end()
        gate.finish()
        await early.end()

        #expect(room.order == ["late", "early"])
    }

    @Test func cancelledWaiterDoesNotBlockOthers() async throws {
        let category = category()
        let queue = OperationQueue()
        let first = ManualOperation()
        queue.addOperation(first, exclusive: [category])
        try await eventually { first.isExecuting }
        let waiting = (0..<3).map { _ in ManualOperation() }
        for operation in waiting { queue.addOperation(operation, exclusive: [category]) }

        waiting[0].cancel()
        await waiting[0].end()
        first.finish()
        try await eventually { waiting[1].isExecuting || waiting[2].isExecuting }

        #expect(waiting.filter(\.isExecuting).count == 1)
        for operation in waiting { operation.cancel() }
        for operation in waiting { await operation.end() }
    }

    @Test func deallocatedWaiterDoesNotBlockOthers() async {
        let category = category()
        do {
            let lost = GroupingTests.LosingQueue()
            lost.addOperation(AsynchronousOperation(), exclusive: [category])
        }

        let next = BlockOperation {}
        OperationQueue().addOperation(next, exclusive: [category])
        await next.end()
    }

    @Test func multipleCategoriesDoNotDeadlock() async {
        let (a, b, room) = (category(), category(), Room())
        let queue = OperationQueue()
        var operations: [Operation] = []
        for number in 0..<40 {
            let categories: Set<RequestOptions.ExclusiveCategory> =
                number % 3 == 0 ? [a, b] : number % 3 == 1 ? [a] : [b]
            let operation = BlockOperation {
                if number % 3 != 2 { room.enter("\(number)") }
                if number % 3 != 2 { room.leave() }
            }
            operations.append(operation)
            queue.addOperation(operation, exclusive: categories)
        }

        for operation in operations { await operation.end() }

        #expect(room.most == 1)
    }

    @Test func typesAndValuesCanBeCategories() {
        #expect(RequestOptions.ExclusiveCategory(Int.self) == RequestOptions.ExclusiveCategory(Int.self))
        #expect(RequestOptions.ExclusiveCategory(Int.self) != RequestOptions.ExclusiveCategory(String.self))
        #expect(
            RequestOptions.ExclusiveCategory(1) != RequestOptions.ExclusiveCategory("1")
                && "a" == RequestOptions.ExclusiveCategory("a")
        )
        #expect("\(RequestOptions.ExclusiveCategory(Int.self)) \(RequestOptions.ExclusiveCategory(7))" == "Int 7")
    }

    @Test func exclusiveRequestAddedWithoutCategoryFails() async {
        let category = category()
        let queue = TestQueue()
        // An operation queue's own `addOperation` has no categories.
        let plain = queue.makeOperation(for: Self.request("plain", [category]))
        queue.base.addOperation(plain)
        let first = queue.addRequest(TextRequest())
        let made = queue.addRequest(after: first) { _ in Self.request("made", [category]) }
        let named = queue.addRequest(after: first, exclusive: [category]) { _ in Self.request("named", [category]) }
        for operation in [plain, made, named] { await operation.end() }

        #expect(plain.result?.error?.code == .unsupported && made.result?.error?.code == .unsupported)
        #expect(named.result?.value == "hello")
    }

    // MARK: Groups and cycles

    @Test func groupHoldsCategoryUntilItEnds() async throws {
        let category = category()
        let transport = ManualTransport()
        let queue = TestQueue(transport)

        let group = queue.addGroup([TextRequest(identifier: "1"), TextRequest(identifier: "2")], exclusive: [category])
        _ = try await transport.awaitTransfer(count: 2)
        let other = queue.addRequest(Self.request("other", [category]))
        let second = queue.addGroup([TextRequest(identifier: "3")], exclusive: [category])
        for transfer in transport.transfers {
            #expect(transport.transfers.count == 2 && !other.isExecuting && second.members[0].isExecuting == false)
            transfer.receive(.head(HTTPResponseHead(status: .ok)))
            transfer.receive(.end(nil))
        }
        await group.end()

        let transfer = try await transport.awaitTransfer(count: 3)
        transfer.receive(.head(HTTPResponseHead(status: .ok)))
        transfer.receive(.end(nil))
        try await transport.awaitTransfer(count: 4).receive(.end(RequestError(.connectionLost, phase: .sending)))
        for operation in [other, second] as [Operation] { await operation.end() }
    }

    @Test func memberRequiringItsGroupsCategoryFails() async throws {
        let category = category()
        let queue = TestQueue()

        let group = queue.addOperationGroup(exclusive: [category]) { group in
            let member = group.makeOperation(for: Self.request("member", [category]))
            member.name = "member"
            group.addOperation(member)
            await member.end()
            return member.result?.error
        }
        let error = try await group.value()

        #expect(error?.code == .dependencyCycle)
        let way = "member → OperationGroup<Optional<RequestError>> → member"
        #expect(error?.reason == "the operation would wait for itself: \(way)")
        await group.end()
    }

    @Test func cycleOfMemberAndGroupFails() async throws {
        let category = category()
        let queue = TestQueue()
        let began = Recorder<Void>()
        let (outside, inner) = (ManualOperation(), ManualOperation())
        outside.name = "outside"

        let group: OperationGroup<Void> = queue.addOperationGroup(exclusive: [category]) { group in
            began.record(())
            inner.addDependency(outside)
            group.addOperation(inner)
        }
        group.name = "group"
        await began.first(1)
        // A member is counted before the group waits for it.
        try await eventually { group.dependencies.contains(inner) }
        queue.addOperation(outside, exclusive: [category])

        // The operation fails and ends, so that the others can run.
        await outside.end()
        try await eventually { inner.isExecuting }
        inner.finish()
        await group.end()
    }

    @Test func graphShowsGroupsAndWaitingOperations() async throws {
        let category = category()
        let queue = TestQueue(isSuspended: true)
        let holder = ManualOperation()
        let other = OperationQueue()
        other.addOperation(holder, exclusive: [category])
        try await eventually { holder.isExecuting }
        let waiting = ManualOperation()
        waiting.name = "waiting"
        queue.addOperation(waiting, exclusive: [category])
        try await eventually { waiting.isInLine }
        let first = queue.addRequest(TextRequest(identifier: "first"))
        queue.addGroup(after: first) { _ in [TextRequest()] }

        let graph = queue.graph()

        #expect(
            graph.description == """
                0 waiting   ManualOperation waiting, behind 3
                1 ready     TextRequest first
                2 waiting   RequestGroup<TextRequest>, after 1
                3 executing ManualOperation

                """
        )
        #expect(graph.mermaid.contains("n3 -.-> n0") && graph.mermaid.contains("n1 --> n2"))
        holder.finish()
        waiting.cancel()
        queue.base.cancelAllOperations()
        queue.base.isSuspended = false
    }
}

@Suite(.bounded) struct ExclusivityRaceTests {
    @Test func admissionRacesCancellationAcrossQueues() async {
        for round in 0..<Scale.races {
            let categories = (0..<2).map { RequestOptions.ExclusiveCategory("race \(round) \($0)") }
            let rooms = (0..<2).map { _ in ExclusivityTests.Room() }
            let queues = [OperationQueue(), OperationQueue()]
            queues[1].maxConcurrentOperationCount = 1
            let operations = (0..<8).map { number in
                BlockOperation {
                    for (index, room) in rooms.enumerated() where number % 4 == 0 || number % 2 == index {
                        room.enter("\(number)")
                    }
                    for (index, room) in rooms.enumerated() where number % 4 == 0 || number % 2 == index {
                        room.leave()
                    }
                }
            }
            simultaneously {
                for (number, operation) in operations.enumerated() {
                    let wanted = number % 4 == 0 ? Set(categories) : [categories[number % 2]]
                    queues[number / 4].addOperation(operation, exclusive: wanted)
                }
            } and: {
                operations[round % 8].cancel()
                operations[(round + 3) % 8].cancel()
            }
            for operation in operations { await operation.end() }
            #expect(rooms.allSatisfy { $0.most <= 1 })
        }
    }
}
