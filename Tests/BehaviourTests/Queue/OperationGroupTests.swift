// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Groups whose members aren't known in advance, of one type and of any.
@Suite(.bounded) struct OperationGroupTests {
    /// Responds with the path of the request.
    private let echo = InMemoryTransport { request in
        .status(.ok, body: Data(request.url.lastPathComponent.utf8))
    }

    private static func request(_ name: String) -> TextRequest {
        let url = home.deletingLastPathComponent().appending(path: name)
        return TextRequest(identifier: name, make: { $0(.success(URLRequest(url: url))) })
    }

    // MARK: Fan-out

    @Test(arguments: [1, 4]) func requestsAndGroupsCanBeChained(width: Int) async throws {
        let queue = TestQueue(echo, width: width)

        let user = queue.addRequest(Self.request("ada"))
        let repos = queue.addRequest(after: user) { Self.request("\($0)-one-two-three") }
        let issues = queue.addGroup(after: repos) { $0.split(separator: "-").map { Self.request("issues-\($0)") } }
        let summary = queue.addRequest(after: issues) { Self.request($0.joined(separator: "+")) }

        #expect(try await summary.value() == "issues-ada+issues-one+issues-two+issues-three")
        #expect(issues.members.count == 4 && issues.results?.map(\.value).last == "issues-three")
    }

    /// A group may run as long as the application, while its members come and go.
    @Test func runningGroupReleasesFinishedMembers() async throws {
        struct Reference: Sendable { weak var operation: NetworkOperation<TextRequest>? }
        let queue = TestQueue(echo, width: 2)

        let group = queue.addOperationGroup { group in
            var references: [Reference] = []
            for number in 0..<500 {
                let operation = group.addRequest(Self.request("\(number)"))
                references.append(Reference(operation: operation))
                _ = try await operation.value()
            }
            return references.count { $0.operation != nil }
        }

        #expect(try await group.value() < 200)
    }

    @Test func readdedFinishedMemberIsIgnored() async throws {
        let queue = TestQueue(echo, width: 2)

        let group = queue.addOperationGroup { group in
            let first = group.addRequest(Self.request("first"))
            for number in 0..<200 { _ = try await group.fetch(Self.request("\(number)")) }
            group.addOperation(first)
            return try await first.value()
        }

        #expect(try await group.value() == "first")
    }

    @Test func emptyDeferredGroupCompletes() async throws {
        let queue = TestQueue(echo, width: 1)
        let first = queue.addRequest(Self.request("none"))

        let group = queue.addGroup(after: first) { _ in [TextRequest]() }

        #expect(try await group.value() == [])
    }

    @Test func failedDependencyCreatesNoMembers() async {
        let transport = InMemoryTransport { _ in .status(.notFound) }
        let queue = TestQueue(transport)
        let first = queue.addRequest(TextRequest())

        let group = queue.addGroup(after: first) { _ in
            Issue.record("made")
            return [TextRequest()]
        }
        await group.end()

        #expect((group.result?.error as? RequestError)?.code == .dependencyFailed)
        #expect(group.results == nil && transport.requests.count == 1)
    }

    @Test func closureErrorFailsGroup() async {
        let queue = TestQueue(echo)
        let first = queue.addRequest(Self.request("a"))

        let group = queue.addGroup(after: first) { _ -> [TextRequest] in throw SampleError() }

        await #expect(throws: SampleError.self) { try await group.value() }
    }

    @Test func failedMemberFailsGroupButNotOthers() async throws {
        let queue = TestQueue(InMemoryTransport { $0.url.lastPathComponent == "b" ? .status(.notFound) : .status(.ok) })
        let first = queue.addRequest(Self.request("first"))

        let group = queue.addGroup(after: first) { _ in ["a", "b", "c"].map(Self.request) }
        let report = queue.addRequest(after: group.outcomes) { results in
            Self.request(results.map { $0.error.map { "\($0.code)" } ?? "fine" }.joined(separator: "-"))
        }
        let never = queue.addRequest(after: group) { _ in TextRequest() }
        for operation in [report, never] { await operation.end() }

        #expect((group.result?.error as? RequestError)?.code == .unacceptableStatus)
        #expect(report.request?.identifier == "fine-unacceptableStatus-fine")
        #expect(never.result?.error?.code == .dependencyFailed)
    }

    @Test func failFastGroupCancelsOtherMembers() async {
        let queue = TestQueue(InMemoryTransport { $0.url.lastPathComponent == "b" ? .status(.notFound) : .never })
        let requests = ["a", "b", "c"].map(Self.request)

        let group = queue.addGroup(requests, failingFast: true)
        await group.end()

        #expect((group.result?.error as? RequestError)?.code == .unacceptableStatus)
        #expect(group.results?.map { $0.error?.code } == [.cancelled, .unacceptableStatus, .cancelled])
        #expect(!group.isCancelled)
    }

    @Test func outcomeIsAvailableToNextRequestAfterFailure() async {
        let queue = TestQueue(InMemoryTransport { _ in .status(.notFound) })
        let first = queue.addRequest(TextRequest())

        let second = queue.addRequest(after: first.outcome) { outcome in
            TextRequest(identifier: outcome.error?.code == .unacceptableStatus ? "fallback" : "no")
        }
        await second.end()

        #expect(second.request?.identifier == "fallback")
    }

    // MARK: Groups of any operations

    @Test(arguments: [1, 4]) func groupCanGrowWhileRunning(width: Int) async throws {
        let queue = TestQueue(echo, width: width)

        let group = queue.addOperationGroup { group in
            let first = try await group.fetch(Self.request("first"))
            for number in 0..<3 { group.addRequest(Self.request("\(first)-\(number)")) }
            let plain = BlockOperation {}
            group.addOperation(plain)
            let inner = group.addGroup(["x", "y"].map(Self.request))
            return try await inner.value().joined()
        }

        #expect(try await group.value() == "xy")
        await group.end()
        #expect(group.operations.isEmpty)
        try await eventually { queue.operations.isEmpty }
    }

    @Test func groupWaitsForProducedMembers() async throws {
        final class Producer: AsynchronousOperation, @unchecked Sendable {
            let depth: Int
            let runs: Recorder<Int>

            init(_ depth: Int, _ runs: Recorder<Int>) {
                (self.depth, self.runs) = (depth, runs)
            }

            override func execute() {
                runs.record(depth)
                if depth > 0 { for _ in 0..<2 { produce(Producer(depth - 1, runs)) } }
                finish()
            }
        }
        let runs = Recorder<Int>()
        let queue = TestQueue(width: 1)

        let group = queue.addOperationGroup { group in group.addOperation(Producer(4, runs)) }
        await group.end()

        #expect(runs.elements.count == 31)
        let alone = Recorder<Int>()
        queue.addOperation(Producer(3, alone))
        await alone.first(15)
    }

    @Test func closureErrorCancelsMembers() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        let member = Recorder<RequestError.Code?>()

        let group: OperationGroup<Void> = queue.addOperationGroup { group in
            group.addRequest(TextRequest()) { member.record($0.error?.code) }
            await sent.first(1)
            throw SampleError()
        }
        await group.end()

        #expect(group.result?.error is SampleError)
        #expect(await member.first(1) == [.cancelled])
    }

    @Test func cancellingGroupCancelsTaskAndNestedGroups() async throws {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))
        let codes = Recorder<RequestError.Code?>()

        let group: OperationGroup<Void> = queue.addOperationGroup { group in
            group.addGroup([TextRequest(identifier: "1"), TextRequest(identifier: "2")]) { results in
                for result in results { codes.record(result.error?.code) }
            }
            try? await Gate().wait()
            try Task.checkCancellation()
        }
        await sent.first(2)
        group.cancel()
        await group.end()

        #expect(await codes.first(2) == [.cancelled, .cancelled])
        #expect(group.isCancelled && (group.result?.error as? RequestError)?.code == .cancelled)
        try await eventually { queue.operations.isEmpty }
    }

    @Test func cancelledGroupWithRunningMembersFails() async {
        let sent = Recorder<ReceivedRequest>()
        let queue = TestQueue(InMemoryTransport.silent(sent))

        let group = queue.addOperationGroup { group in
            group.addRequest(TextRequest())
            return "title"
        }
        await sent.first(1)
        group.cancel()
        await group.end()

        #expect((group.result?.error as? RequestError)?.code == .cancelled)
    }

    @Test func operationAddedToFinishedGroupIsCancelled() async {
        let queue = TestQueue()
        let group = queue.addOperationGroup { _ in 1 }
        await group.end()

        let late = group.addRequest(TextRequest())
        let plain = BlockOperation { Issue.record("ran") }
        group.addOperation(plain)
        for operation in [late, plain] { await operation.end() }

        #expect(late.result?.error?.reason == "its group has already finished")
    }

    @Test func operationAddedTwiceIsSingleMember() async {
        let queue = TestQueue(isSuspended: true)
        let group = queue.addGroup([TextRequest()])

        group.addOperation(group.members[0])
        queue.base.isSuspended = false
        await group.end()

        #expect(group.results?.map(\.value) == ["hello"])
    }

    @Test func groupTracksMemberProgress() async throws {
        let queue = TestQueue(echo, isSuspended: true)
        let group = queue.addGroup(["a", "b", "c"].map(Self.request))

        #expect(group.memberProgress.count == 3 && group.memberProgress.fraction == 0)
        queue.base.isSuspended = false
        await group.end()

        try await eventually { group.memberProgress.isIdle }
        #expect(group.memberProgress.finished == 3 && group.memberProgress.fraction == 1)
    }

    @Test func groupProgressIncludesNestedGroups() async throws {
        let queue = TestQueue(echo, isSuspended: true)
        let group = queue.addOperationGroup { group in
            group.addRequest(Self.request("a"))
            group.addGroup(["b", "c"].map(Self.request))
        }
        try await eventually { group.operations.count == 2 }

        #expect(group.memberProgress.count == 3)
        queue.base.isSuspended = false
        await group.end()
        try await eventually { group.memberProgress.finished == 3 }
    }

    @Test func groupCancelledWhileQueuedEndsImmediately() async {
        let queue = TestQueue()
        let category = RequestOptions.ExclusiveCategory(UUID())
        let holder = ExclusivityTests.ManualOperation()
        queue.addOperation(holder, exclusive: [category])
        let group = queue.addGroup([TextRequest()], exclusive: [category])

        group.cancel()
        await group.end()

        #expect(group.results?.first?.error?.code == .cancelled && !holder.isFinished)
        holder.finish()
    }

    @Test func closureInheritsTaskLocals() async throws {
        let queue = TestQueue()

        let group = Self.$mark.withValue("here") { queue.addOperationGroup { _ in Self.mark } }

        #expect(try await group.value() == "here")
    }

    @TaskLocal private static var mark = "nowhere"

    @Test func monitorsSeeStartAndEndOfGroup() async {
        let events = Recorder<String>()
        let queue = TestQueue(echo) { environment in
            environment.monitors = [
                .events { event, operation in
                    switch event {
                    case .operationCreated: events.record("\(operation.requestType) begins")
                    case .operationEnded(let outcome): events.record("\(operation.requestType) \(outcome)")
                    default: break
                    }
                }
            ]
        }

        let group = queue.addGroup([Self.request("a")])
        await group.end()

        #expect(
            events.elements == [
                "RequestGroup<TextRequest> begins", "TextRequest begins", "TextRequest success",
                "RequestGroup<TextRequest> success",
            ]
        )
    }

    // MARK: Cycles

    @Test func memberDependingOnItsGroupFails() async throws {
        let queue = TestQueue(isSuspended: true)
        let group = queue.addGroup([TextRequest(identifier: "1")])
        group.name = "sync"
        let between = BlockOperation {}
        between.name = "between"
        between.addDependency(group)
        let late = queue.makeOperation(for: TextRequest(identifier: "late"))
        late.name = "late"
        late.addDependency(between)

        group.addOperation(late)

        #expect(late.result?.error?.code == .dependencyCycle)
        #expect(late.result?.error?.reason?.contains("late → between → sync") == true)
        queue.addOperation(between)
        queue.base.isSuspended = false
        for operation in [group, late, between] { await operation.end() }
        #expect(group.results?.map(\.value) == ["hello"])
    }

    @Test func cycleErrorNamesOperations() {
        let queue = TestQueue()
        let operations = ["a", "b", "c"].map { name in
            let operation = queue.makeOperation(for: TextRequest(identifier: name))
            operation.name = name
            return operation
        }
        for index in 0..<3 { operations[index].addDependency(operations[(index + 1) % 3]) }

        #expect(operations[2].result?.error?.reason == "the operation would wait for itself: c → a → b → c")
        for operation in operations { operation.cancel() }
    }
}

@Suite(.bounded) struct OperationGroupRaceTests {
    @Test func additionRacesCancellationAndCompletion() async throws {
        let census = Census()
        for round in 0..<Scale.races {
            let queue = TestQueue(width: 2)
            let ends = Recorder<Int>()
            let group = queue.addOperationGroup { group in
                group.addRequest(TextRequest(life: census.life())) { _ in ends.record(0) }
            }
            let life = census.life()
            simultaneously {
                for number in 1...4 {
                    group.addRequest(TextRequest(identifier: "\(number)", life: life)) { _ in ends.record(number) }
                }
            } and: {
                if round.isMultiple(of: 2) { group.cancel() }
            }
            await group.end()
            try await eventually { Set(ends.elements).isSuperset(of: 1...4) }
        }
        await census.extinction()
    }
}
