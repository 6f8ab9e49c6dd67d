// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Runs the jobs of a task on its own threads, one for each job that runs at a time.
///
/// A job may block its thread: the next one gets another.
final class ThreadExecutor: Sendable {
    private static let shared = ThreadExecutor()

    private let line = Line()

    /// Runs a closure, and the child tasks that it makes, on threads of the executor.
    static func run(_ body: @Sendable () async throws -> Void) async throws {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            try await withTaskExecutorPreference(shared, operation: body)
        } else {
            try await body()
        }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        line.add { job.runSynchronously(on: executor) }
    }
}

/// Jobs that wait for a thread, and the threads that wait for jobs.
///
/// Sendable: the condition guards both variables.
private final class Line: @unchecked Sendable {
    private let condition = NSCondition()
    private var work: [@Sendable () -> Void] = []
    private var idle = 0

    func add(_ work: @escaping @Sendable () -> Void) {
        condition.lock()
        self.work.append(work)
        let needsThread = idle < self.work.count
        condition.signal()
        condition.unlock()
        if needsThread { Thread.detachNewThread { self.run() } }
    }

    private func run() -> Never {
        while true {
            condition.lock()
            idle += 1
            while work.isEmpty { condition.wait() }
            idle -= 1
            let next = work.removeFirst()
            condition.unlock()
            autoreleasing(next)
        }
    }

    private func autoreleasing(_ work: () -> Void) {
        #if canImport(ObjectiveC)
        autoreleasepool { work() }
        #else
        work()
        #endif
    }
}
