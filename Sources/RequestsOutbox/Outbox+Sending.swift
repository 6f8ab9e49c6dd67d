// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The work of an outbox on its queue: it writes records, sends entries, and reports events.
extension Outbox {
    /// The longest wait that a server can ask for: a day.
    static let longestWait: TimeInterval = 86_400
    /// The wait before records that couldn't be written are written again.
    private static let writingWait = Duration.seconds(10)

    // MARK: Writing

    /// Writes records, and waits until they are on the disk and applied to the state.
    ///
    /// The records of all waiting callers are written together, with one wait for the disk.
    ///
    /// - Throws: `FileError` or ``Outbox/Error``.
    func commit(_ records: [OutboxRecord]) async throws {
        let lines = try records.lines()
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = shared.withLock { shared in
                shared.changes.append((records, lines, continuation))
                return shared.changes.count == 1
            }
            if isFirst { queue.async { self.flush() } }
        }
    }

    private func flush() {
        let changes = shared.withLock { shared in
            defer { shared.changes = [] }
            return shared.changes
        }
        // Separately: on a full disk, nothing is added, but entries can be removed.
        for isAddition in [false, true] {
            let group = changes.filter { $0.records.contains(where: \.isAddition) == isAddition }
            guard !group.isEmpty else { continue }
            let result = Result {
                try write(group.reduce(into: Data()) { $0 += $1.lines }, isDurable: true, isAddition: isAddition)
            }
            let records = (try? result.get()) == nil ? [] : group.flatMap(\.records)
            let time = stopwatch.elapsed
            // Before the callers are resumed: if one of them closes the outbox, the events would be lost.
            advance { state in records.flatMap { state.commit($0, at: time) } }
            for change in group { change.end.resume(with: result) }
        }
    }

    /// Writes the records for which no caller waits, and then lines: all, or none if it throws.
    ///
    /// A power failure may lose a record that isn't durable. Then the entry is sent again, which needs its body: so the
    /// body is discarded only after a durable record.
    ///
    /// - Throws: `FileError` or ``Outbox/Error``.
    func write(_ lines: Data = Data(), isDurable: Bool = false, isAddition: Bool = false) throws {
        let (unwritten, isClosed) = shared.withLock { ($0.state.unwritten, $0.state.isClosed) }
        guard !isClosed else { throw closingError }
        let (records, required) = (unwritten.map(\.record), unwritten.filter(\.isRequired).map(\.record))
        let canLeaveOut = !isAddition && required.count < records.count
        let isDurable = isDurable || unwritten.contains(where: \.hasBody)
        do {
            let usesReserve = !isAddition && !canLeaveOut
            try store.append(records.lines() + lines, isDurable: isDurable, usesReserve: usesReserve)
        } catch let error as FileError where canLeaveOut && error.code == .diskFull {
            try store.append(required.lines() + lines, isDurable: isDurable, usesReserve: true)
        }
        let time = stopwatch.elapsed
        perform(shared.withLock { $0.state.didWrite(unwritten.count, at: time) })
    }

    // MARK: Steps

    /// Changes the state on the queue, from any thread.
    func step(
        at alarm: Duration = .zero,
        _ change: @escaping @Sendable (inout OutboxState) -> [OutboxState.Action] = { _ in [] }
    ) {
        queue.async { [weak self] in self?.advance(at: alarm, change) }
    }

    /// Changes the state, and performs the resulting actions.
    ///
    /// While records can't be written, nothing is sent.
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
        } while canWrite && shared.withLock { !$0.state.unwritten.isEmpty }
        let state = shared.withLock { $0.state }
        store.compact(isEmpty: state.isEmpty) { state.records }
        if let loss = store.loss { return stop(after: loss) }
        let isWaiting = state.nextTime != nil || !state.unwritten.isEmpty
        setAlarm(canWrite ? state.nextTime : isWaiting ? time + Self.writingWait : nil, at: time)
        for waiter in shared.withLock({ $0.waiters.values }) { waiter.yield() }
    }

    private func perform(_ actions: [OutboxState.Action]) {
        for action in actions {
            switch action {
            case .report(let event): for reader in shared.withLock({ $0.readers.values }) { reader.yield(event) }
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
            let isWanted = shared.withLock { shared in
                shared.operations[item.entry.id] = operation
                return shared.state.cancelUnwanted([item.entry.id]).isEmpty
            }
            // From here on, a change of the account finds the operation. A cancelled operation sends nothing.
            if !isWanted { operation.cancel() }
            client.addOperation(operation)
        } catch Outbox.Error.unregistered(let name) {
            refuse(item.entry, RequestError(Outbox.Error.unregistered(name)), .unregistered)
        } catch {
            refuse(item.entry, RequestError(error), .unreadable)
        }
    }

    /// Returns the operation of an entry.
    func operation<R: NetworkRequest>(_ request: R, _ entry: Entry, _ handle: @escaping Handler<R>) -> R.OperationType {
        var environment = client.environment
        // Applied before the request inherits anything.
        environment.changes.append { [body = entry.body.map(store.body)] request in
            request.headers.set(.idempotencyKey(entry.id.uuidString))
            if let body { request.body = .file(body) } else { try request.body.refuseFiles() }
        }
        environment.lastInterceptor = .intercepting { [weak self] request, next in
            guard self?.shared.withLock({ $0.state.begin(entry.id) }) ?? true else {
                throw RequestError(.cancelled, phase: .building, reason: "the entry was removed from the outbox")
            }
            defer { self?.shared.withLock { $0.state.end(entry.id) } }
            return try await next(request)
        }
        let operation: R.OperationType = client.makeOperation(for: request, in: environment, nil)
        operation.addUnconvertedCompletion(on: queue) { [weak self] result in
            // The operation is released outside of the lock: it may be an object of the application.
            let ended = self?.shared.withLock {
                ($0.operations.removeValue(forKey: entry.id), $0.state.isHandled(entry.id))
            }
            switch result {
            case .success(let response) where ended?.1 == true:
                Task { [weak self] in
                    // The account may have changed before the task has begun.
                    guard self?.shared.withLock({ $0.state.isHandled(entry.id) }) == true else {
                        return self?.step { $0.sent(entry.id, response.head) }
                    }
                    do {
                        try await handle(Delivery(entry: entry, request: request, response: response))
                        self?.step { $0.sent(entry.id, response.head) }
                    } catch {
                        // Another attempt would get the same response. A handler that was cancelled hasn't cancelled
                        // the request.
                        let reason = "the handler of the response has thrown an error"
                        let error = RequestError(.other, phase: .decoding, reason: reason, underlying: error)
                        self?.refuse(entry, error, .unhandled)
                    }
                }
            case .success(let response): self?.advance { $0.sent(entry.id, response.head) }
            case .failure(let error):
                self?.fail(entry, error)
            }
        }
        return operation
    }

    private func fail(_ entry: Entry, _ error: RequestError) {
        let (environment, decision) = (client.environment, settings.decide(error, entry))
        let wait = settings.backoff.delay(before: entry.attempts + 1, random: environment.random)
        let asked = error.retryAfter(from: environment.currentDate) ?? .zero
        let seconds = min(max(wait, asked).clampedSeconds, Self.longestWait)
        let (next, summary) = (environment.currentDate + seconds, error.summary)
        let end = OutboxState.End(decision: decision, wait: seconds, next: next, summary: summary)
        advance { $0.failed(entry.id, error, end) }
    }

    /// Parks an entry that was being sent; from any thread.
    private func refuse(_ entry: Entry, _ error: RequestError, _ reason: Entry.Reason) {
        let end = OutboxState.End(decision: .park, reason: reason, summary: error.summary)
        step { $0.failed(entry.id, error, end) }
    }
}

extension HTTPBody {
    /// Checks that the content is neither a file nor a form with one.
    ///
    /// - Throws: ``Outbox/Error``.
    func refuseFiles() throws(Outbox.Error) {
        guard !isFile else { throw .fileBody }
        for part in (source as? MultipartForm)?.parts ?? [] { try part.body.refuseFiles() }
    }
}
