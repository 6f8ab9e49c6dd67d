// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A minimal correct asynchronous operation, which the library's operations are compared with.
///
/// It has a lock, the two notifications, and a completion on a queue.
// Sendable: all mutable state is behind the lock.
final class BareOperation: Operation, @unchecked Sendable {
    private enum State { case ready, executing, finished }

    private let lock = NSLock()
    private var state = State.ready
    private let completion: (@Sendable (Int) -> Void)?

    init(completion: (@Sendable (Int) -> Void)? = nil) {
        self.completion = completion
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    override func start() {
        if isCancelled { return finish() }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { state = .executing }
        didChangeValue(forKey: "isExecuting")
        if let completion { DispatchQueue.global(qos: .utility).async { completion(1) } }
        finish()
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { state = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
