// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The order of result, completion and end, as every observer sees it.
@Suite(.bounded) struct CompletionOrderTests {
    @Test func resultIsAvailableToDependentOperations() async {
        let queue = TestQueue()
        let seen = Recorder<String?>()
        let request = queue.addRequest(TextRequest())
        let dependent = BlockOperation { seen.record(request.result?.value) }
        dependent.addDependency(request)

        queue.addOperation(dependent)

        #expect(await seen.first(1) == ["hello"])
    }

    @Test func resultIsAvailableInCompletionBlock() async {
        let queue = TestQueue(isSuspended: true)
        let seen = Recorder<String?>()
        let request = queue.addRequest(TextRequest())
        request.completionBlock = { [unowned request] in seen.record(request.result?.value) }

        queue.base.isSuspended = false

        #expect(await seen.first(1) == ["hello"])
    }

    @Test func completionPrecedesDependentOnSameQueue() async {
        let serial = DispatchQueue(label: "serial")
        let dependents = OperationQueue()
        dependents.underlyingQueue = serial
        let queue = TestQueue()
        let events = Recorder<String>()

        for _ in 0..<50 {
            let request = queue.makeOperation(for: TextRequest(), completionQueue: serial) { _ in
                events.record("completion")
            }
            let dependent = BlockOperation { events.record("dependent") }
            dependent.addDependency(request)
            dependents.addOperation(dependent)
            queue.addOperation(request)
            await dependent.end()
        }

        #expect(events.elements == (0..<50).flatMap { _ in ["completion", "dependent"] })
    }

    /// Monitors are notified between the result and the completions, for as long as they take.
    @Test func completionAddedByMonitorRunsLast() async {
        final class Latecomer: EventMonitor {
            let come = Locked<@Sendable () -> Void>({})

            func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
                if case .operationEnded = event { come.withLock { $0 }() }
            }
        }
        let (serial, events, monitor) = (DispatchQueue(label: "serial"), Recorder<String>(), Latecomer())
        let queue = TestQueue(isSuspended: true) { $0.monitors = [monitor] }
        let request = queue.addRequest(TextRequest())
        request.addCompletion(on: serial) { _ in events.record("first") }
        monitor.come.withLock { come in
            come = { [unowned request] in request.addCompletion(on: serial) { _ in events.record("late") } }
        }

        queue.base.isSuspended = false

        #expect(await events.first(2) == ["first", "late"])
    }

    @Test func cancellationKeepsCompletionOrder() async {
        let serial = DispatchQueue(label: "serial")
        let dependents = OperationQueue()
        dependents.underlyingQueue = serial
        let queue = TestQueue(isSuspended: true)
        let events = Recorder<String>()
        let request = queue.addRequest(TextRequest(), completionQueue: serial) { _ in events.record("completion") }
        let dependent = BlockOperation { events.record("dependent") }
        dependent.addDependency(request)
        dependents.addOperation(dependent)

        request.cancel()
        queue.base.isSuspended = false

        #expect(await events.first(2) == ["completion", "dependent"])
    }

    private static let key = DispatchSpecificKey<String>()

    @Test func completionDefaultsToUnderlyingQueue() async {
        let underlying = DispatchQueue(label: "underlying")
        underlying.setSpecific(key: Self.key, value: "underlying")
        let queue = TestQueue()
        queue.base.underlyingQueue = underlying
        let seen = Recorder<String?>()

        queue.addRequest(TextRequest()) { _ in seen.record(DispatchQueue.getSpecific(key: Self.key)) }

        #expect(await seen.first(1) == ["underlying"])
    }

    @Test func explicitCompletionQueueTakesPrecedence() async {
        let named = DispatchQueue(label: "named")
        named.setSpecific(key: Self.key, value: "named")
        let underlying = DispatchQueue(label: "underlying")
        let queue = TestQueue()
        queue.base.underlyingQueue = underlying
        let seen = Recorder<String?>()

        queue.addRequest(TextRequest(), completionQueue: named) { _ in
            seen.record(DispatchQueue.getSpecific(key: Self.key))
        }

        #expect(await seen.first(1) == ["named"])
        withExtendedLifetime(underlying) {}
    }

    @Test func completionFallsBackToGlobalUtilityQueue() async {
        let seen = Recorder<Void>()

        TestQueue().addRequest(TextRequest()) { _ in
            // Dispatch has no query for it: on another queue, the precondition ends the process.
            dispatchPrecondition(condition: .onQueue(.global(qos: .utility)))
            seen.record(())
        }

        await seen.first(1)
    }

    @Test func waitingOnCompletionQueueDoesNotDeadlock() async {
        let serial = DispatchQueue(label: "serial")
        let queue = TestQueue()
        let gate = Gate()
        let held = TestQueue(InMemoryTransport { _ in .status(.ok).held(by: gate) })
        let events = Recorder<String>()
        let request = held.makeOperation(for: TextRequest(), completionQueue: serial) { _ in
            events.record("completion")
        }

        serial.async {
            events.record("waiting")
            request.waitUntilFinished()
            events.record("waited")
        }
        await events.first(1)
        queue.addOperation(request)
        gate.open()

        #expect(await events.first(3) == ["waiting", "waited", "completion"])
    }

    @Test func valueReturnsTheOperationsResult() async throws {
        let queue = TestQueue()
        let request = queue.addRequest(TextRequest())

        let first = try await request.value()
        let second = try await request.value()

        #expect(first == "hello" && second == "hello")
    }

    @Test func cancellingAwaitingTaskKeepsOperationRunning() async throws {
        let gate = Gate()
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("late".utf8)).held(by: gate) })
        let request = queue.addRequest(TextRequest())
        let task = Task { try await request.value() }

        task.cancel()
        gate.open()

        #expect(try await task.value == "late")
        #expect(!request.isCancelled)
    }
}
