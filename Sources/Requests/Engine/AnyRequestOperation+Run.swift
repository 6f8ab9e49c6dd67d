// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension AnyRequestOperation {
    /// Runs the request: checks the conditions, then makes attempts until one succeeds or no further attempt is
    /// allowed.
    ///
    /// This function contains all steps of a request, in order. It runs in one task, which is cancelled as soon as the
    /// operation has a result, no matter where the result comes from. After that, nothing is sent, and the remaining
    /// steps have no effect. The operation finishes only after all running transfers have ended.
    ///
    /// - Parameter observers: The observers that the operation had when it started.
    final func run(_ observers: [any OperationObserver]) async {
        let handling = handling
        do throws(RunFailure) {
            guard let configuration = try resolve(observers) else { return }
            var attempt = Attempt(1, of: self, configuration)
            try await attempt.checkConditions()
            while try shouldContinue() {
                var sent: HTTPRequest?
                do throws(RunFailure) {
                    let request = try await attempt.makeRequest()
                    sent = request
                    let response: RawResponse
                    do {
                        let chain = try attempt.makeChain(isShared: isShared(observers))
                        response = try await chain(request)
                    } catch {
                        throw RunFailure(sending: error)
                    }
                    guard try shouldContinue() else { return }
                    return try await handling.conclude(
                        try attempt.transformAndValidate(response, to: request),
                        of: request
                    )
                } catch {
                    // When the operation gets a result, its transfers are cancelled before this task is. The errors of
                    // these transfers must not lead to a retry.
                    guard hasNoResult, try shouldContinue() else { return }
                    attempt = try await attempt.next(after: error, to: sent)
                }
            }
        } catch {
            handling.fail(error)
        }
    }

    /// Returns whether the run should continue: `false` if its task was cancelled because the operation has a result.
    ///
    /// - Throws: A cancellation error, if the caller's code has cancelled the run's task although there is no result
    ///   yet.
    private func shouldContinue() throws(RunFailure) -> Bool {
        guard Task.isCancelled else { return true }
        guard hasNoResult else { return false }
        throw RunFailure(RequestError(.cancelled, phase: phase), in: phase)
    }

    /// Creates the request if it is deferred, and returns the configuration; `nil` if there is already a result.
    private func resolve(_ observers: [any OperationObserver]) throws(RunFailure) -> RunConfiguration? {
        guard try shouldContinue() else { return nil }
        defer { for observer in observers { observer.begin(self) } }
        do {
            let configuration = isDeferred ? try handling.resolve() : configuration
            if let configuration, !configuration.options.exclusivity.isEmpty {
                try checkExclusivity(in: configuration.options.exclusivity)
            }
            return configuration
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    /// Returns whether the request may share the transfer of an equal request.
    private func isShared(_ observers: [any OperationObserver]) -> Bool {
        !observers.isEmpty && observer(CoalescingParticipant.self)?.isRegistered == true
    }

    /// Whether the operation is running, and has no result yet.
    final var hasNoResult: Bool { core.withLock { $0.lifecycle.isRunning } }

    // MARK: Transfers

    /// Records the beginning of a transfer, and returns what the transfer needs.
    ///
    /// Returns `nil` if there is already a result, in which case nothing may be sent.
    final func begin(
        _ transfer: Transfer
    ) -> (isPaused: Bool, observers: [any OperationObserver], number: Int, isFirst: Bool)? {
        let (isBegun, details, previous) = core.withLock { core in
            let isBegun = core.lifecycle.handle(.transferBegins) == .send
            let previous = isBegun ? core.run.record.add(transfer) : nil
            let record = core.run.record
            return (isBegun, (core.run.isPaused, core.observers, record.unsharedCount, record.count == 1), previous)
        }
        withExtendedLifetime(previous) {}
        return isBegun ? details : nil
    }

    /// Records that a transfer has ended; if no other is running and there is a result, the operation finishes.
    final func endTransfer(_ transfer: Transfer) {
        let action = core.withLock { core in
            core.run.record.didEnd(transfer)
            return core.lifecycle.handle(.transferEnded)
        }
        perform(action)
    }

    // MARK: The task

    /// Begins the run after observers were notified of the start, either in the task that waits for the start or in a
    /// new task.
    final func beginRun() {
        let (action, start, waiter, hasWaitingTask, startsOnAnotherThread) = core.withLock { core in
            let action = core.lifecycle.handle(.announced)
            let start = RunState.Start(operation: self, observers: core.observers)
            let waiter = action == .execute ? core.run.begin(start) : nil
            return (action, start, waiter, core.run.hasWaitingTask, core.run.startsOnAnotherThread)
        }
        guard action == .execute else { return perform(action) }
        // The waiting task hasn't suspended yet. When it reaches that point, it finds the recorded start, and
        // continues.
        if hasWaitingTask, waiter == nil { return }
        // Never occupy the main thread or a caller's queue, because completions run there.
        if startsOnAnotherThread || Thread.isMain {
            DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { start.begin(waiter) }
        } else {
            start.begin(waiter)
        }
    }

    /// Creates the task of the run now, so that it inherits the task-local values of the current task.
    ///
    /// The task then waits until the operation starts.
    ///
    /// - Parameter completion: Receives the result.
    final func prepareTask(_ completion: OperationCore.Completion) {
        // The task runs immediately until it waits, so the thread that starts the operation can then resume it.
        RunExecutor.resuming {
            let task = RunExecutor.task { [core] in
                let start = await withUnsafeContinuation { waiter in
                    if let operationStart = core.withLock({ $0.run.attach(waiter) }) {
                        waiter.resume(returning: operationStart)
                    }
                }
                if let start { await start.operation.run(start.observers) }
            }
            let (isStored, result) = core.withLock { core in
                core.run.recordWaitingTask()
                return (core.run.store(task), core.add(completion))
            }
            if !isStored { task.cancel() }
            if let result { completion(result) }
        }
    }

    /// Makes the run begin on a thread other than the one that starts the operation, which may belong to the caller.
    final func startOnAnotherThread() { core.withLock { $0.run.startsOnAnotherThread = true } }
}

extension RunState {
    /// An operation that has started, with its observers at that time.
    struct Start: Sendable {
        let operation: AnyRequestOperation
        let observers: [any OperationObserver]

        /// Resumes the waiting task, or creates a task if none is waiting, and runs it on this thread.
        fileprivate func begin(_ waiter: UnsafeContinuation<Start?, Never>?) {
            RunExecutor.resuming {
                if let waiter { return waiter.resume(returning: self) }
                let task = RunExecutor.task(operation.qualityOfService.taskPriority) { await operation.run(observers) }
                if !operation.core.withLock({ $0.run.store(task) }) { task.cancel() }
            }
        }
    }
}

extension QualityOfService {
    var dispatchQoS: DispatchQoS.QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .default
        }
    }

    fileprivate var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .high
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}
