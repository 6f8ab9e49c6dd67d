// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The work of an outbox on its queue: writing records, sending entries, and reporting events.
extension Outbox {
    /// The maximum wait that a server can request: a day.
    static let maximumWait: TimeInterval = 86_400
    /// The delay before another attempt to write records that couldn't be written.
    private static let writeRetryDelay = Duration.seconds(10)

    // MARK: Writing

    /// Writes records, and waits until they are on disk and applied to the state.
    ///
    /// The records of all waiting callers are written together, with a single wait for the disk.
    ///
    /// - Throws: `FileError` or ``Outbox/Error``.
    func commit(_ records: [OutboxRecord]) async throws {
        let lines = try records.lines()
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = shared.withLock { shared in
                shared.queuedCommits.append((records, lines, continuation))
                return shared.queuedCommits.count == 1
            }
            if isFirst { queue.async { self.flush() } }
        }
    }

    private func flush() {
        let commits = shared.withLock { shared in
            defer { shared.queuedCommits = [] }
            return shared.queuedCommits
        }
        // Write additions separately, because on a full disk, nothing can be added, but entries can be removed.
        for isAddition in [false, true] {
            let group = commits.filter { $0.records.contains(where: \.isAddition) == isAddition }
            guard !group.isEmpty else { continue }
            let result = Result {
                try write(group.reduce(into: Data()) { $0 += $1.lines }, isDurable: true, isAddition: isAddition)
            }
            let records = (try? result.get()) == nil ? [] : group.flatMap(\.records)
            let time = stopwatch.elapsed
            // Apply the records before the callers resume, because if one of the callers closed the outbox, the events
            // would be lost.
            advance { state in records.flatMap { state.commit($0, at: time) } }
            for commit in group { commit.continuation.resume(with: result) }
        }
    }

    /// Writes the records that no caller waits for, followed by `lines`; if the method throws, nothing was written.
    ///
    /// A power failure may lose a record that isn't durable. In that case, the entry is sent again, and its body is
    /// needed, so a body is discarded only after a durable record.
    ///
    /// - Throws: `FileError` or ``Outbox/Error``.
    func write(_ lines: Data = Data(), isDurable: Bool = false, isAddition: Bool = false) throws {
        let (pendingRecords, isClosed) = shared.withLock { ($0.state.pendingRecords, $0.state.isClosed) }
        guard !isClosed else { throw closingError }
        let (records, required) = (pendingRecords.map(\.record), pendingRecords.filter(\.isRequired).map(\.record))
        let canOmitRecords = !isAddition && required.count < records.count
        let isDurable = isDurable || pendingRecords.contains(where: \.discardsBody)
        do {
            let usesReserve = !isAddition && !canOmitRecords
            try store.append(records.lines() + lines, isDurable: isDurable, usesReserve: usesReserve)
        } catch let error as FileError where canOmitRecords && error.code == .diskFull {
            try store.append(required.lines() + lines, isDurable: isDurable, usesReserve: true)
        }
        let time = stopwatch.elapsed
        perform(shared.withLock { $0.state.didWrite(pendingRecords.count, at: time) })
    }

    // MARK: State changes

    /// Changes the state on the queue; may be called from any thread.
    func step(
        at alarm: Duration = .zero,
        _ change: @escaping @Sendable (inout OutboxState) -> [OutboxState.Action] = { _ in [] }
    ) {
        queue.async { [weak self] in self?.advance(at: alarm, change) }
    }

    /// Changes the state, and performs the resulting actions.
    ///
    /// Nothing is sent while records can't be written.
    ///
    /// - Parameters:
    ///   - alarm: The time of the alarm, if an alarm is the reason for the call.
    ///   - change: Changes the state.
    private func advance(at alarm: Duration = .zero, _ change: (inout OutboxState) -> [OutboxState.Action]) {
        perform(shared.withLock { change(&$0.state) })
        let (time, date) = (max(stopwatch.elapsed, alarm), client.environment.currentDate)
        var canWrite = true
        repeat {
            guard !shared.withLock({ $0.state.isClosed }) else { return }
            canWrite = (try? write()) != nil
            if canWrite { perform(shared.withLock { $0.state.next(at: time, date) }) }
        } while canWrite && shared.withLock { !$0.state.pendingRecords.isEmpty }
        let state = shared.withLock { $0.state }
        store.compact(isEmpty: state.isEmpty) { state.records }
        if let loss = store.folderLoss { return stop(after: loss) }
        let isWaiting = state.nextDueTime != nil || !state.pendingRecords.isEmpty
        setAlarm(canWrite ? state.nextDueTime : isWaiting ? time + Self.writeRetryDelay : nil, at: time)
        for waiter in shared.withLock({ $0.drainWaiters.values }) { waiter.yield() }
    }

    private func perform(_ actions: [OutboxState.Action]) {
        for action in actions {
            switch action {
            case .report(let event): for reader in shared.withLock({ $0.subscribers.values }) { reader.yield(event) }
            case .cancel(let id): shared.withLock { $0.operations.removeValue(forKey: id) }?.cancel()
            case .discard(let body): store.discard(body)
            case .send(let item): send(item)
            }
        }
    }

    private func setAlarm(_ next: Duration?, at time: Duration) {
        guard shared.withLock({ $0.alarm?.time }) != next else { return }
        var alarm: (time: Duration, timer: DelayedAction)? = next.map { next in
            let timer = DelayedAction(after: next - time, on: clock) { [weak self] in
                self?.shared.withLock { if $0.alarm?.time == next { $0.alarm = nil } }
                self?.step(at: next)
            }
            return (next, timer)
        }
        shared.withLock { swap(&$0.alarm, &alarm) }
        alarm?.timer.cancel()
    }

    // MARK: Sending

    private func send(_ item: OutboxState.Item) {
        do {
            let operation = try settings.registry.operation(for: item, of: self)
            operation.name = item.entry.category
            let isAllowed = shared.withLock { shared in
                shared.operations[item.entry.id] = operation
                return shared.state.cancelDisallowed([item.entry.id]).isEmpty
            }
            // From here on, setting another account finds the operation and cancels it. A cancelled operation sends
            // nothing.
            if !isAllowed { operation.cancel() }
            client.addOperation(operation)
        } catch Outbox.Error.unregistered(let name) {
            park(item.entry, RequestError(Outbox.Error.unregistered(name)), .unregistered)
        } catch {
            park(item.entry, RequestError(error), .unreadable)
        }
    }

    /// Returns the operation that sends an entry.
    func operation<R: NetworkRequest>(_ request: R, _ entry: Entry, _ handle: @escaping Handler<R>) -> R.OperationType {
        var environment = client.environment
        // Apply this change before the request inherits anything.
        environment.changes.append { [body = entry.body.map(store.body)] request in
            request.headers.set(.idempotencyKey(entry.id.uuidString))
            if let body { request.body = .file(body) } else { try request.body.rejectFiles() }
        }
        environment.lastInterceptor = .intercepting { [weak self] request, next in
            guard self?.shared.withLock({ $0.state.requestStarted(entry.id) }) ?? true else {
                throw RequestError(.cancelled, phase: .building, reason: "the entry was removed from the outbox")
            }
            defer { self?.shared.withLock { $0.state.requestEnded(entry.id) } }
            return try await next(request)
        }
        let operation: R.OperationType = client.makeOperation(for: request, in: environment, nil)
        operation.addUnconvertedCompletion(on: queue) { [weak self] result in
            // Release the operation outside the lock, because its class may belong to the application.
            let ended = self?.shared.withLock {
                ($0.operations.removeValue(forKey: entry.id), $0.state.handlesResponse(entry.id))
            }
            switch result {
            case .success(let response) where ended?.1 == true:
                Task { [weak self] in
                    // The account may have changed before the task started.
                    guard self?.shared.withLock({ $0.state.handlesResponse(entry.id) }) == true else {
                        return self?.step { $0.attemptSucceeded(entry.id, response.head) }
                    }
                    do {
                        try await handle(Delivery(entry: entry, request: request, response: response))
                        self?.step { $0.attemptSucceeded(entry.id, response.head) }
                    } catch {
                        // Park the entry, because another attempt would get the same response. If a cancelled handler
                        // throws an error, that doesn't mean that the request was cancelled.
                        let reason = "the response handler threw an error"
                        let error = RequestError(.other, phase: .decoding, reason: reason, underlying: error)
                        self?.park(entry, error, .unhandled)
                    }
                }
            case .success(let response): self?.advance { $0.attemptSucceeded(entry.id, response.head) }
            case .failure(let error):
                self?.recordFailedAttempt(entry, error)
            }
        }
        return operation
    }

    private func recordFailedAttempt(_ entry: Entry, _ error: RequestError) {
        let (environment, decision) = (client.environment, settings.decide(error, entry))
        let wait = settings.backoff.delay(before: entry.attempts + 1, random: environment.random)
        let requestedWait = error.retryAfter(from: environment.currentDate) ?? .zero
        let seconds = min(max(wait, requestedWait).clampedSeconds, Self.maximumWait)
        let (next, summary) = (environment.currentDate + seconds, error.summary)
        let failure = OutboxState.AttemptFailure(decision: decision, wait: seconds, next: next, summary: summary)
        advance { $0.attemptFailed(entry.id, error, failure) }
    }

    /// Parks an entry that was being sent; may be called from any thread.
    private func park(_ entry: Entry, _ error: RequestError, _ reason: Entry.Reason) {
        let failure = OutboxState.AttemptFailure(decision: .park, reason: reason, summary: error.summary)
        step { $0.attemptFailed(entry.id, error, failure) }
    }
}

extension HTTPBody {
    /// Checks that the content is neither a file nor a form that contains one.
    ///
    /// - Throws: ``Outbox/Error``.
    func rejectFiles() throws(Outbox.Error) {
        guard !isFile else { throw .fileBody }
        for part in (source as? MultipartForm)?.parts ?? [] { try part.body.rejectFiles() }
    }
}
