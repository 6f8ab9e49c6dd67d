// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

private let echo = InMemoryTransport(recordsRequests: false) { _ in .status(.ok, body: Data("\"x\"".utf8)) }

/// An operation without a result, like those of users.
private final class Step: AsynchronousOperation, @unchecked Sendable {
    override func execute() { finish() }
}

private func request(_ name: String, _ categories: Set<RequestOptions.ExclusiveCategory> = []) -> TextRequest {
    var options = RequestOptions()
    options.exclusivity = categories
    return TextRequest(identifier: name, options: options)
}

extension RequestOperation {
    fileprivate var errorCode: RequestError.Code? {
        if case .failure(let error as RequestError) = result { error.code } else { nil }
    }
}

/// Operations that would wait for themselves, whichever operation closes the cycle.
@Suite(.bounded) struct CycleDetectionTests {
    private let client = HTTPClient(baseURL: home, transport: echo)

    // MARK: Cycles that plain operations close

    @Test(arguments: [false, true], [1, 3])
    func cycleThroughPlainOperationFails(isClient: Bool, blocks: Int) async {
        let queue: any RequestQueue = isClient ? client : OperationQueue()
        let operation = client.makeOperation(for: request("a"))
        let others = (0..<blocks).map { _ in BlockOperation {} }

        operation.addDependency(others[0])
        for (other, next) in zip(others, others.dropFirst()) { other.addDependency(next) }
        others[blocks - 1].addDependency(operation)
        for operation in [operation] + others { queue.addOperation(operation) }

        #expect(await holds(within: 10) { operation.isFinished && others.allSatisfy(\.isFinished) })
        #expect(operation.errorCode == .dependencyCycle)
        #expect(others.allSatisfy { !$0.isCancelled })
    }

    @Test func cycleClosedAfterEnqueueingFails() async {
        let page = BlockOperation {}
        let recipe = client.addRequest(request("recipe"), dependencies: [page])
        page.addDependency(recipe)
        client.addOperation(page)

        #expect(await holds(within: 10) { recipe.isFinished && page.isFinished })
        #expect(recipe.errorCode == .dependencyCycle)
    }

    @Test func cycleOfGroupAndPlainOperationIsBroken() async {
        let block = BlockOperation {}
        let group = client.addGroup([request("1"), request("2")])
        group.addDependency(block)
        block.addDependency(group)
        client.addOperation(block)

        #expect(await holds(within: 10) { group.isFinished && block.isFinished })
    }

    @Test func cycleCancelsOperationWithoutResult() async {
        let (step, block) = (Step(), BlockOperation {})
        step.addDependency(block)
        block.addDependency(step)
        for operation in [step, block] { client.addOperation(operation) }

        #expect(await holds(within: 10) { step.isFinished && block.isFinished })
        #expect(step.isCancelled && !block.isCancelled)
    }

    @Test func longWaitIsNotReportedAsCycle() async {
        let (first, last) = (BlockOperation {}, BlockOperation {})
        let requests = (0..<100).map { client.addRequest(request("\($0)"), dependencies: [first]) }
        for request in requests { last.addDependency(request) }
        client.addOperation(last)
        let urgent = BlockOperation {}
        urgent.addDependency(first)
        client.addOperation(urgent)
        await holds(within: 1.5) { false }

        #expect(requests.allSatisfy { $0.result == nil })
        client.addOperation(first)
        #expect(await holds(within: 10) { last.isFinished })
        #expect(requests.allSatisfy { (try? $0.result?.get()) != nil })
    }

    @Test func cycleErrorDistinguishesOperations() async throws {
        let first = client.makeOperation(for: Get<String>("recipes", "1"))
        let second = client.makeOperation(for: Get<String>("recipes", "2").tag("soup"))
        let third = client.makeOperation(for: Get<String>("recipes", "3"))
        third.name = "bread"
        for (operation, next) in [(first, second), (second, third), (third, first)] { operation.addDependency(next) }

        guard case .failure(let error) = third.result else {
            Issue.record("The cycle wasn't refused.")
            return
        }
        let reason = try #require(error.reason)
        #expect(reason.contains("recipes/1") && reason.contains("→ soup →") && reason.hasSuffix("→ bread"))
        for operation in [first, second] { operation.cancel() }
    }

    // MARK: Rejected members

    @Test func groupEndsIfMemberDependsOnIt() async {
        let step = Step()
        let group: OperationGroup<Void> = client.addOperationGroup { _ in }
        let open: OperationGroup<Void> = client.addOperationGroup { group in
            guard let self = group as? OperationGroup<Void> else { return }
            step.addDependency(self)
            group.addOperation(step)
        }

        #expect(await holds(within: 10) { group.isFinished && open.isFinished && step.isFinished })
        #expect(step.isCancelled)
    }

    @Test func groupEndsIfMemberDependsOnFailedMember() async {
        client.isSuspended = true
        let group = client.addGroup([request("0")])
        let first = client.makeOperation(for: request("first"))
        first.addDependency(group)
        group.addOperation(first)
        let second = client.makeOperation(for: request("second"))
        second.addDependency(first)
        group.addOperation(second)
        client.isSuspended = false

        #expect(await holds(within: 10) { group.isFinished && first.isFinished && second.isFinished })
        #expect(first.errorCode == .dependencyCycle)
        #expect((try? second.result?.get()) != nil)
    }

    @Test func groupsWithMutualDependenciesEnd() async {
        client.isSuspended = true
        let groups = (0..<3).map { client.addGroup([request("\($0)")]) }
        let members = groups.indices.map { index in
            let member = Step()
            member.addDependency(groups[(index + 1) % groups.count])
            return member
        }
        for (group, member) in zip(groups, members) { group.addOperation(member) }
        client.isSuspended = false

        #expect(await holds(within: 10) { (groups + members as [Operation]).allSatisfy(\.isFinished) })
        #expect(members.filter(\.isCancelled).count == 1)
    }

    @Test func addingGroupToItselfFails() async {
        client.isSuspended = true
        let group = client.addGroup([request("1")])
        group.addOperation(group)
        let outer: OperationGroup<Void> = client.addOperationGroup { _ in }
        client.isSuspended = false

        #expect(await holds(within: 10) { group.isFinished && outer.isFinished })
        #expect(group.errorCode == .dependencyCycle && group.members[0].errorCode == .dependencyCycle)
    }

    @Test func addingGroupToItsMemberFails() async {
        client.isSuspended = true
        let outer = client.addGroup([request("1")])
        let inner = outer.addGroup([request("2")])
        inner.addOperation(outer)
        client.isSuspended = false

        #expect(await holds(within: 10) { outer.isFinished && inner.isFinished })
        #expect(outer.errorCode == .dependencyCycle)
    }

    // On Linux, a dependency keeps a pointer to each operation that depends on it, and follows it at its end.
    @Test(arguments: [false, true])
    func cancelledWaitingMemberIsCleanedUp(isExclusive: Bool) async {
        let causes = (0..<100).map { _ in BlockOperation {} }
        let groups = causes.map { cause -> OperationGroup<Void> in
            let category = RequestOptions.ExclusiveCategory(UUID())
            return client.addOperationGroup { group in
                let member = BlockOperation {}
                member.addDependency(cause)
                group.addOperation(member, exclusive: isExclusive ? [category] : [])
                throw SampleError()
            }
        }
        #expect(await holds(within: 10) { groups.allSatisfy(\.isFinished) && client.operations.isEmpty })
        for cause in causes { client.addOperation(cause) }

        #expect(await holds(within: 10) { causes.allSatisfy(\.isFinished) })
    }

    // MARK: Released clients

    @Test(arguments: ["addGroup", "addGroup(after:)", "addRequests", "addOperationGroup", "nested", "inheriting"])
    func releasingSuspendedClientCancelsGroup(kind: String) async {
        let calls = Recorder<String>()
        weak var former: HTTPClient?
        do {
            let client = HTTPClient(transport: echo)
            former = client
            client.isSuspended = true
            switch kind {
            case "addGroup": client.addGroup([request("1")]) { _ in calls.record("group") }
            case "addGroup(after:)":
                let first = client.addRequest(request("1"))
                client.addGroup(after: first) { _ in
                    [request("2")]
                } completion: { _ in
                    calls.record("group")
                }
            case "addRequests": client.addRequests(request("1"), request("2")) { _, _ in calls.record("group") }
            case "nested":
                client.addOperationGroup { group in
                    try await group.addGroup([request("1")]).value()
                } completion: { _ in
                    calls.record("group")
                }
            default:
                let client = kind == "inheriting" ? client.inheriting { $0.headers["X-A"] = "b" } : client
                client.addOperationGroup { group in
                    try await group.fetch(request("1"))
                } completion: { _ in
                    calls.record("group")
                }
            }
        }

        #expect(await holds(within: 5) { calls.count == 1 && former == nil })
    }

    @Test func groupOutlivesReleasedClient() async throws {
        let (began, goOn) = (Recorder<Void>(), Recorder<Void>())
        var client: HTTPClient? = HTTPClient(transport: echo)
        let group = client?.addOperationGroup { group in
            began.record(())
            await goOn.first(1)
            return try await group.fetch(request("late"))
        }
        await began.first(1)
        client = nil
        goOn.record(())

        #expect(try await group?.value() == "\"x\"")
    }
}

/// Members that need the exclusive category that their own group holds.
@Suite(.bounded) struct ExclusivityCycleRaceTests {
    /// The role of the operation that waits for its own group.
    enum Form: CaseIterable { case member, outsideRequest, outsideBlock, outsideGroup }

    /// Runs its work until it is told to finish.
    private final class Holder: AsynchronousOperation, @unchecked Sendable {
        override func execute() {}
    }

    @Test(arguments: Form.allCases)
    func exclusivityCycleRacesHolderCompletion(_ form: Form) async {
        var rounds: [[Operation]] = []
        for round in 0..<Scale.races {
            let (category, holder) = (RequestOptions.ExclusiveCategory("\(form) \(round)"), Holder())
            let client = HTTPClient(transport: echo)
            client.addOperation(holder, exclusive: [category])
            let added = Locked<[Operation]>([])
            simultaneously {
                holder.finish()
            } and: {
                let operations = Self.close(form, category, client)
                added.withLock { $0 = operations }
            }
            rounds.append(added.withLock { $0 })
        }

        await holds(within: Scale.pick(20, whole: 200)) { rounds.allSatisfy { $0.allSatisfy(\.isFinished) } }
        let endless = rounds.indices.filter { !rounds[$0].allSatisfy(\.isFinished) }
        #expect(endless.isEmpty, "of \(rounds.count) rounds")
    }

    /// Adds a group, and an operation of its category that it waits for.
    private static func close(
        _ form: Form,
        _ category: RequestOptions.ExclusiveCategory,
        _ client: HTTPClient
    ) -> [Operation] {
        if form == .member {
            let group: OperationGroup<Void> = client.addOperationGroup(exclusive: [category]) { group in
                _ = try? await group.fetch(request("member", [category]))
            }
            return [group]
        }
        let outside: Operation =
            switch form {
            case .outsideGroup: client.addGroup([request("outside")], exclusive: [category])
            case .outsideBlock: BlockOperation {}
            default: client.makeOperation(for: request("outside", [category]))
            }
        let group: OperationGroup<Void> = client.addOperationGroup(exclusive: [category]) { group in
            group.addRequest(request("member"), dependencies: [outside])
        }
        switch form {
        case .outsideBlock: client.addOperation(outside, exclusive: [category])
        case .outsideRequest: client.addOperation(outside)
        default: break
        }
        return [group, outside]
    }

    @Test func cycleErrorNamesMemberAndGroup() async throws {
        let (category, client) = (RequestOptions.ExclusiveCategory(UUID()), HTTPClient(transport: echo))
        let member = client.makeOperation(for: request("member", [category]))
        let named = Gate()
        let group: OperationGroup<Void> = client.addOperationGroup(exclusive: [category]) { group in
            try await named.wait()
            group.addOperation(member)
        }
        group.name = "group"
        named.open()

        #expect(await holds(within: 10) { group.isFinished && member.isFinished })
        guard case .failure(let error) = member.result else {
            Issue.record("The member wasn't refused.")
            return
        }
        #expect(error.reason?.hasSuffix("TextRequest member → group → TextRequest member") == true, "\(error)")
    }
}

/// Ten times as many operations in one category take about ten times as long.
@Suite(.bounded) struct ExclusivityScaleTests {
    enum Row: CaseIterable { case blocks, priorities, dependencies, groups, manyCategories }

    private final class Holder: AsynchronousOperation, @unchecked Sendable {
        override func execute() {}
    }

    @Test(.tags(.alone), arguments: Row.allCases)
    func joiningBusyCategoryTakesLinearTime(_ row: Row) async throws {
        let isSmall = row == .manyCategories || row == .dependencies
        let count = Scale.pick(isSmall ? 10 : 100, whole: isSmall ? 100 : 1_000)
        _ = try await time(row, count)
        var (few, many) = (Double.infinity, Double.infinity)
        // Takes the best of several runs, because other threads of the process also take time.
        for _ in 0..<6 where !(many / few < 20) {
            few = min(few, try await time(row, count))
            many = min(many, try await time(row, 10 * count))
        }

        // Linear time would be 10 times as much, quadratic 100 times.
        #expect(many / few < 35, "\(count): \(few) s, \(10 * count): \(many) s")
    }

    /// Returns the processor time that operations need to join a queue.
    ///
    /// Their operation queue is suspended: on Linux, `OperationQueue` scans all waiting operations at each addition.
    private func time(_ row: Row, _ count: Int) async throws -> Double {
        let categories = (0..<(row == .manyCategories ? 101 : 1)).map { _ in RequestOptions.ExclusiveCategory(UUID()) }
        let (all, holder, client) = (Set(categories), Holder(), HTTPClient(transport: echo))
        OperationQueue().addOperation(holder, exclusive: all)
        try #require(await holds(within: 10) { holder.isExecuting })
        client.isSuspended = true
        let cause = BlockOperation {}
        var operations: [Operation] = []
        let start = ProcessorTime.ofProcess
        for number in 0..<count {
            switch row {
            case .blocks, .manyCategories:
                let block = BlockOperation {}
                client.addOperation(block, exclusive: all)
                operations.append(block)
            case .priorities:
                let priority: Operation.QueuePriority = number < count / 2 ? .low : .high
                operations.append(client.addRequest(request("\(number)", all), priority: priority))
            case .dependencies:
                let operation = client.addRequest(request("\(number)", all), dependencies: [cause])
                operations.append(client.addRequest(request("next"), dependencies: [operation]))
                operations.append(operation)
            case .groups: operations.append(client.addGroup([request("\(number)")], exclusive: all))
            }
        }
        OperationQueue().addOperation(cause)
        if row == .dependencies {
            // The operations join when the cause has ended, and have joined when they end.
            holder.finish()
            client.isSuspended = false
            await holds(within: 100) { operations.allSatisfy(\.isFinished) }
        }
        let duration = ProcessorTime.ofProcess - start
        for operation in operations { operation.cancel() }
        holder.finish()
        client.isSuspended = false
        #expect(await holds(within: 100) { operations.allSatisfy(\.isFinished) })
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }
}
