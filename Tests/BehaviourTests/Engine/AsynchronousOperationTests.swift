// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct AsynchronousOperationTests {
    final class Held: AsynchronousOperation, @unchecked Sendable {
        let entries = Recorder<Void>()
        override func execute() { entries.record(()) }
    }

    private let queue = OperationQueue()

    @Test func operationExecutesUntilFinishIsCalled() async {
        let operation = Held()
        #expect(operation.isAsynchronous && operation.isReady && !operation.isExecuting)
        queue.addOperation(operation)
        await operation.entries.first(1)
        #expect(operation.isExecuting && !operation.isFinished)

        operation.finish()
        operation.finish()

        await operation.end()
        #expect(operation.isFinished && !operation.isExecuting && operation.entries.count == 1)
    }

    @Test func cancelledOperationDoesNotExecute() async {
        let operation = Held()

        operation.cancel()
        #expect(operation.isCancelled && !operation.isFinished)
        queue.addOperation(operation)

        await operation.end()
        #expect(operation.entries.count == 0)
    }

    @Test func operationFinishedEarlyEndsOnStart() async {
        let operation = Held()

        operation.finish()
        #expect(!operation.isFinished)
        operation.start()
        operation.start()

        #expect(operation.isFinished && operation.entries.count == 0)
    }

    @Test func baseClassFinishesImmediately() async {
        let operation = AsynchronousOperation()
        queue.addOperation(operation)
        await operation.end()
        #expect(operation.isFinished && !operation.isCancelled)
    }

    final class Mortal: AsynchronousOperation, @unchecked Sendable {
        private let life: Census.Life
        init(_ life: Census.Life) { self.life = life }
    }

    @Test func finishedDependencyIsReleased() async {
        let census = Census()
        let last = AsynchronousOperation()
        do {
            let first = Mortal(census.life())
            last.addDependency(first)
            queue.addOperation(first)
        }

        queue.addOperation(last)

        await last.end()
        await census.extinction()
        withExtendedLifetime(last) {}
    }

    /// An operation whose dependency finishes when the queue first reads `isReady`.
    private final class Asked: AsynchronousOperation, @unchecked Sendable {
        private let isAwaited = Locked(false)
        private let dependency = AsynchronousOperation()

        override init() {
            super.init()
            addDependency(dependency)
            isAwaited.withLock { $0 = true }
        }

        override var isReady: Bool {
            let isReady = super.isReady
            if isAwaited.withLock({ $0 }) { dependency.start() }
            return isReady
        }
    }

    /// Foundation's queue on Linux misses the end of a dependency while an operation is being added.
    @Test(arguments: [true, false])
    func operationStartsIfDependencyEndsDuringEnqueue(_ isClient: Bool) async {
        let operation = Asked()
        if isClient { HTTPClient().addOperation(operation) } else { TestQueue().addOperation(operation, exclusive: []) }
        await operation.end()

        #expect(operation.isFinished)
    }
}
