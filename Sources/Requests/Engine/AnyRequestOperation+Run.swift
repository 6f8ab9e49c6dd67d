// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension AnyRequestOperation {
    /// Runs the request: conditions, then tries until one succeeds or no other is allowed.
    ///
    /// This function has all steps of every request, in their order. It runs in one task, which is cancelled when the
    /// operation has its result, from whatever source: then nothing is sent any more, and the rest has no effect. A
    /// transfer that is running at that moment keeps the operation from finishing until it has ended.
    final func run() async {
        do throws(RunFailure) {
            guard let plan = try makePlan() else { return }
            var turn = Try(1, of: self, plan)
            try await turn.checkConditions()
            while try isWanted() {
                var sent: HTTPRequest?
                do throws(RunFailure) {
                    let request = try await turn.makeRequest()
                    sent = request
                    let answer = try await turn.send(request)
                    guard try isWanted() else { return }
                    return try await conclude(try turn.judge(answer, to: request), of: request)
                } catch {
                    guard try isWanted() else { return }
                    turn = try await turn.next(after: error, to: sent)
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Whether there is no result yet.
    ///
    /// - Throws: A cancellation, if a caller's code has cancelled the task of the run itself.
    private func isWanted() throws(RunFailure) -> Bool {
        guard Task.isCancelled else { return true }
        guard core.withLock({ $0.lifecycle.isRunning }) else { return false }
        throw RunFailure(RequestError(.cancelled, phase: phase), in: phase)
    }

    /// Makes the request if it is deferred, and returns the plan; `nil` if there is a result.
    private func makePlan() throws(RunFailure) -> RunPlan? {
        let (hasObservers, hasResult) = core.withLock { (!$0.observers.isEmpty, $0.result != nil) }
        guard !hasResult else { return nil }
        defer { if hasObservers { report(.started(self)) } }
        do {
            let plan = try resolvePlan()
            if let plan, !plan.options.exclusivity.isEmpty { try checkPlace(in: plan.options.exclusivity) }
            return plan
        } catch {
            throw RunFailure(error, in: .building)
        }
    }

    // MARK: Transfers

    /// Records that a transfer begins; returns the facts that it needs, or `nil` if there is a result, and nothing is
    /// to be sent.
    final func begin(
        _ transfer: Transfer
    ) -> (isPaused: Bool, observers: [any OperationObserver], number: Int, isFirst: Bool)? {
        let (isBegun, facts, former) = core.withLock { core in
            let isBegun = core.lifecycle.handle(.transferBegins) == .send
            let former = isBegun ? core.run.record.add(transfer) : nil
            let record = core.run.record
            return (isBegun, (core.run.isPaused, core.observers, record.ownCount, record.count == 1), former)
        }
        withExtendedLifetime(former) {}
        return isBegun ? facts : nil
    }

    // MARK: The task

    /// Begins the run of an operation that has started, in a task of its own or in the one that waits for the start.
    final func beginRun() {
        let (waiter, isAwaited, startsElsewhere) = core.withLock { core in
            (core.run.begin(self), core.run.isAwaited, core.run.startsElsewhere)
        }
        // The task will come to the start later.
        if isAwaited, waiter == nil { return }
        let begin: @Sendable () -> Void = { [self] in
            if let waiter { return waiter.resume(returning: self) }
            keep(RunExecutor.task(qualityOfService.taskPriority) { await self.run() })
        }
        // Never on the main thread, nor on a queue of the caller's, where completions run.
        if startsElsewhere || Thread.isMain {
            DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { RunExecutor.resuming(begin) }
        } else {
            RunExecutor.resuming(begin)
        }
    }

    /// Makes the task of the run now, with the task-locals of the present task; it waits for the start.
    final func prepareTask() {
        core.withLock { $0.run.awaitStart() }
        // Runs up to the wait at once: the thread that starts the operation then continues it.
        RunExecutor.resuming {
            let task = RunExecutor.task { [core] in
                let operation = await withUnsafeContinuation { waiter in
                    if let known = core.withLock({ $0.run.attach(waiter) }) { waiter.resume(returning: known) }
                }
                await operation?.run()
            }
            keep(task)
        }
    }

    private func keep(_ task: Task<Void, Never>) {
        if !core.withLock({ $0.run.keep(task) }) { task.cancel() }
    }

    /// Makes the operation leave the thread that starts it at once: the thread is a caller's.
    final func startElsewhere() { core.withLock { $0.run.startsElsewhere = true } }
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
