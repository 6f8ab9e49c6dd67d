// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension AnyRequestOperation {
    /// Runs the request: conditions, then attempts until one succeeds or no other is allowed.
    ///
    /// This function has all steps of every request, in their order. It runs in one task, which is cancelled when the
    /// operation has its result, from whatever source: then nothing is sent any more, and the rest has no effect. A
    /// transfer that is running at that moment keeps the operation from finishing until it has ended.
    ///
    /// - Parameter observers: The features of the operation at its start.
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
                    let answer: RawResponse
                    do {
                        let chain = try attempt.makeChain(isShared: isShared(observers))
                        answer = try await chain(request)
                    } catch {
                        throw RunFailure(sending: error)
                    }
                    guard try shouldContinue() else { return }
                    return try await handling.conclude(try attempt.transformAndValidate(answer, to: request), of: request)
                } catch {
                    // A result cancels the transfers first, and then this task: their error must not lead to a retry.
                    guard hasNoResult, try shouldContinue() else { return }
                    attempt = try await attempt.next(after: error, to: sent)
                }
            }
        } catch {
            handling.fail(error)
        }
    }

    /// Returns whether the run should go on: `false` after its task was cancelled because of a result.
    ///
    /// - Throws: A cancellation, if a caller's code has cancelled the task of the run itself.
    private func shouldContinue() throws(RunFailure) -> Bool {
        guard Task.isCancelled else { return true }
        guard hasNoResult else { return false }
        throw RunFailure(RequestError(.cancelled, phase: phase), in: phase)
    }

    /// Creates the request if it is deferred, and returns the configuration; `nil` if there is a result.
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

    /// Returns whether the request may share the transfer of an equal one.
    private func isShared(_ observers: [any OperationObserver]) -> Bool {
        !observers.isEmpty && observer(CoalescingParticipant.self)?.isRegistered == true
    }

    /// Whether there is no result yet.
    final var hasNoResult: Bool { core.withLock { $0.lifecycle.isRunning } }

    // MARK: Transfers

    /// Records that a transfer begins; returns the facts that it needs, or `nil` if there is a result, and nothing is
    /// to be sent.
    final func begin(
        _ transfer: Transfer
    ) -> (isPaused: Bool, observers: [any OperationObserver], number: Int, isFirst: Bool)? {
        let (isBegun, facts, previous) = core.withLock { core in
            let isBegun = core.lifecycle.handle(.transferBegins) == .send
            let previous = isBegun ? core.run.record.add(transfer) : nil
            let record = core.run.record
            return (isBegun, (core.run.isPaused, core.observers, record.unsharedCount, record.count == 1), previous)
        }
        withExtendedLifetime(previous) {}
        return isBegun ? facts : nil
    }

    /// Records that a transfer has ended, and finishes if there is a result and it was the last.
    final func endTransfer(_ transfer: Transfer) {
        let action = core.withLock { core in
            core.run.record.didEnd(transfer)
            return core.lifecycle.handle(.transferEnded)
        }
        perform(action)
    }

    // MARK: The task

    /// Begins the run after the start was announced: in the task that waits for the start, or in a new one.
    final func beginRun() {
        let (action, start, waiter, hasWaitingTask, startsOnAnotherThread) = core.withLock { core in
            let action = core.lifecycle.handle(.announced)
            let start = RunState.Start(operation: self, observers: core.observers)
            let waiter = action == .execute ? core.run.begin(start) : nil
            return (action, start, waiter, core.run.hasWaitingTask, core.run.startsOnAnotherThread)
        }
        guard action == .execute else { return perform(action) }
        // The task will come to the start later.
        if hasWaitingTask, waiter == nil { return }
        // Never on the main thread, nor on a queue of the caller's, where completions run.
        if startsOnAnotherThread || Thread.isMain {
            DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { start.begin(waiter) }
        } else {
            start.begin(waiter)
        }
    }

    /// Makes the task of the run now, so that it inherits the task-locals of the current task; it waits for the start.
    ///
    /// - Parameter completion: Receives the result.
    final func prepareTask(_ completion: OperationCore.Completion) {
        // Runs up to the wait at once: the thread that starts the operation then continues it.
        RunExecutor.resuming {
            let task = RunExecutor.task { [core] in
                let start = await withUnsafeContinuation { waiter in
                    if let known = core.withLock({ $0.run.attach(waiter) }) { waiter.resume(returning: known) }
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

    /// Makes the operation leave the thread that starts it at once: the thread is a caller's.
    final func startOnAnotherThread() { core.withLock { $0.run.startsOnAnotherThread = true } }
}

extension RunState {
    /// An operation that has started, with the features that it had at that time.
    struct Start: Sendable {
        let operation: AnyRequestOperation
        let observers: [any OperationObserver]

        /// Resumes the task that waits for the start, or creates one, on this thread.
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
