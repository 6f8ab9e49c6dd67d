// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Continues the tasks of requests on the threads that resume them, so that no request needs the cooperative pool.
///
/// The cooperative pool has only as many threads as there are cores. If callers blocked all of them, for example with
/// `waitUntilFinished` in a `Task`, no request could finish.
///
/// On this executor, a task continues on the thread that resumed it, without a thread switch, if the resuming code
/// calls ``resuming(_:)``. Only the library's own threads do, that is, the threads that start operations, report that a
/// transfer has finished, or fire timers. If any other thread resumes the task, it continues on Dispatch's global
/// queue, which adds threads when others are blocked.
///
/// Before macOS 15 and iOS 18, tasks can't have a preferred executor. There, the cooperative pool runs the tasks, and
/// callers block it at their own risk.
enum RunExecutor {
    /// Starts a task that runs on this executor.
    ///
    /// The task inherits the task-local values of the current task, if there is one.
    // The function is generic, like the initializers of `Task`, because otherwise `body` would need another closure
    // around it.
    static func task<Success: Sendable>(
        _ priority: TaskPriority? = nil,
        _ body: sending @escaping @isolated(any) () async -> Success
    ) -> Task<Success, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task(executorPreference: ResumingExecutor.shared, priority: priority, operation: body)
        } else {
            Task(priority: priority, operation: body)
        }
    }

    /// Starts a task that runs on this executor, and inherits neither task-local values nor the priority.
    static func detachedTask<Success: Sendable>(
        _ priority: TaskPriority? = nil,
        _ body: sending @escaping @isolated(any) () async -> Success
    ) -> Task<Success, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            Task.detached(executorPreference: ResumingExecutor.shared, priority: priority, operation: body)
        } else {
            Task.detached(priority: priority, operation: body)
        }
    }

    /// Calls a closure that resumes or starts a task, and then runs the task on this thread until it suspends.
    ///
    /// Call this only on a thread that the library may occupy at that moment, and that holds no lock.
    static func resuming(_ body: () -> Void) {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            ResumingExecutor.shared.resuming(body)
        } else {
            body()
        }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ResumingExecutor: TaskExecutor {
    static let shared = ResumingExecutor()

    /// The key of a thread's job slot, that is, a pointer to the job to run next; set only inside `resuming`.
    private let jobSlotKey: pthread_key_t

    init() {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        jobSlotKey = key
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The slot holds only one job. Other resumed jobs go to the global queue, because the job in the slot may
        // depend on them.
        if let slot = pthread_getspecific(jobSlotKey)?.assumingMemoryBound(to: UnownedJob?.self), slot.pointee == nil {
            slot.pointee = job
        } else {
            let queue = DispatchQueue.global(qos: job.priority.dispatchQoS)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    func resuming(_ body: () -> Void) {
        var job: UnownedJob?
        withUnsafeMutablePointer(to: &job) { pointer in
            let outer = pthread_getspecific(jobSlotKey)
            pthread_setspecific(jobSlotKey, pointer)
            body()
            // Clear the slot, because jobs that this job resumes must not wait until it returns.
            pthread_setspecific(jobSlotKey, nil)
            pointer.pointee?.runSynchronously(on: asUnownedTaskExecutor())
            pthread_setspecific(jobSlotKey, outer)
        }
    }
}

extension JobPriority {
    fileprivate var dispatchQoS: DispatchQoS.QoSClass {
        switch TaskPriority(self) ?? .medium {
        case .high...: .userInitiated
        case .medium...: .default
        case .low...: .utility
        default: .background
        }
    }
}
