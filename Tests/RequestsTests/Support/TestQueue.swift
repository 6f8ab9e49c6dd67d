// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

@testable import Requests

/// An operation queue with its own transport and environment.
final class TestQueue: RequestQueue {
    let transport: any HTTPTransport
    let environment: RequestEnvironment
    let base = OperationQueue()

    init(
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

    var operations: [Operation] { base.operations }
    var underlyingQueue: DispatchQueue? { base.underlyingQueue }
    func addOperation(_ operation: Operation) { base.addOperation(operation) }
}

extension Operation {
    private static let watchers = OperationQueue()

    /// Waits until the operation has finished, on any thread.
    func end() async {
        await withCheckedContinuation { continuation in
            let watcher = BlockOperation { continuation.resume() }
            watcher.addDependency(self)
            Self.watchers.addOperation(watcher)
            watcher.remindQueue()
        }
    }
}

extension DispatchQueue {
    /// Waits until everything that was enqueued before has run.
    func drain() async {
        await withCheckedContinuation { continuation in
            async(flags: .barrier) { continuation.resume() }
        }
    }
}

extension Result {
    var value: Success? { try? get() }
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension InMemoryTransport {
    /// Returns a transport that never responds, and records sent requests.
    static func silent(_ sent: Recorder<TransportRequest>) -> InMemoryTransport {
        InMemoryTransport { request in
            sent.record(request)
            return .never
        }
    }

    /// Returns a transport with responses in turn, the last of which repeats.
    static func answering(_ answers: [StubResponse]) -> InMemoryTransport {
        let number = Locked(0)
        return InMemoryTransport { _ in
            number.withLock { number in
                defer { number += 1 }
                return answers[min(number, answers.count - 1)]
            }
        }
    }
}
