// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting

@testable import Requests

/// An operation queue with a transport and an environment of its own.
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

    /// Returns when the operation is finished, whichever thread finishes it.
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
    /// Returns when everything that was enqueued before has run.
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
    /// Answers with nothing until it is told to, and tells when something was sent.
    static func silent(_ sent: Recorder<TransportRequest>) -> InMemoryTransport {
        InMemoryTransport { request in
            sent.record(request)
            return .never
        }
    }

    /// Answers one after the other; the last one again and again.
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
