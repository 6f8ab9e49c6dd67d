// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Continues runs where they are resumed, so that a request needs no thread of the cooperative pool.
///
/// A run is a task, and a task continues on its executor. The global one has as many threads as there are cores, and
/// callers who block them, with `waitUntilFinished` in a `Task` for example, would keep every request from its end.
/// This one continues a run on the thread that has resumed it, if that is one of the library's (``resuming(_:)`` says
/// so): the thread that started the operation, delivered the end of a transfer, or fired a timer. There, no change of
/// thread is paid for either. Anywhere else it continues on Dispatch's global queue, which adds threads for those that
/// block.
///
/// On Apple platforms before macOS 15 and iOS 18, tasks know no executor. There, the cooperative pool continues the
/// runs, and blocking that pool is at the caller's risk.
enum RunExecutor {
    /// Starts a task that continues on this executor.
    ///
    /// The task inherits the task-locals of the task that calls this, if one does.
    // Generic, like the initializers of `Task`: otherwise `body` would have to be wrapped in another closure.
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

    /// Starts a task that continues on this executor, and inherits neither task-locals nor priority.
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

    /// Resumes a run, or starts one, and continues it on this thread as far as it goes without waiting.
    ///
    /// For a thread that is the library's to use at this moment, and on which no lock is held.
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

    /// The job that the thread is to run next, where it is inside of `resuming`.
    private let place: pthread_key_t

    init() {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        place = key
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // One job only: whatever else is resumed at the same time may have to end before this one does.
        if let place = pthread_getspecific(place)?.assumingMemoryBound(to: UnownedJob?.self), place.pointee == nil {
            place.pointee = job
        } else {
            let queue = DispatchQueue.global(qos: job.priority.dispatchQoS)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    func resuming(_ body: () -> Void) {
        var job: UnownedJob?
        withUnsafeMutablePointer(to: &job) { pointer in
            let outer = pthread_getspecific(place)
            pthread_setspecific(place, pointer)
            body()
            // The job itself may resume others, which must not wait behind it.
            pthread_setspecific(place, nil)
            pointer.pointee?.runSynchronously(on: asUnownedTaskExecutor())
            pthread_setspecific(place, outer)
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
