// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// An operation queue with its own transport and environment.
package final class TestQueue: RequestQueue {
    package let transport: any HTTPTransport
    package let environment: RequestEnvironment
    package let base = OperationQueue()

    package init(
        _ transport: any HTTPTransport = InMemoryTransport { _ in .status(.ok, body: Data("hello".utf8)) },
        width: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) {
        var environment = RequestEnvironment()
        configure(&environment)
        self.transport = transport
        self.environment = environment
        base.maxConcurrentOperationCount = width
        base.isSuspended = isSuspended
    }

    package var operations: [Operation] { base.operations }
    package var underlyingQueue: DispatchQueue? { base.underlyingQueue }
    package func addOperation(_ operation: Operation) { base.addOperation(operation) }
}

extension Operation {
    private static let watchers = OperationQueue()

    /// Waits until the operation has finished, on any thread.
    package func end() async {
        await withCheckedContinuation { continuation in
            let watcher = BlockOperation { continuation.resume() }
            watcher.addDependency(self)
            Self.watchers.addOperation(watcher)
            watcher.notifyQueueIfReady()
        }
    }
}

extension DispatchQueue {
    /// Waits until everything that was enqueued before has run.
    package func drain() async {
        await withCheckedContinuation { continuation in
            async(flags: .barrier) { continuation.resume() }
        }
    }
}

extension Result {
    package var value: Success? { try? get() }
    package var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension InMemoryTransport {
    /// Returns a transport that never responds, and records sent requests.
    package static func silent(_ sent: Recorder<ReceivedRequest>) -> InMemoryTransport {
        InMemoryTransport { request in
            sent.record(request)
            return .never
        }
    }

    /// Returns a transport with responses in turn, the last of which repeats.
    package static func answering(_ answers: [StubResponse]) -> InMemoryTransport {
        let number = Locked(0)
        return InMemoryTransport { _ in
            number.withLock { number in
                defer { number += 1 }
                return answers[min(number, answers.count - 1)]
            }
        }
    }
}
