// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The work of an outbox on its queue: it writes records, sends entries, and reports events.
extension Outbox {
    /// The longest wait that a server can ask for: a day.
    static let longestWait: TimeInterval = 86_400

    // MARK: Writing

    /// Writes records, and waits until they are on the disk and applied to the state.
    ///
    /// The records of all waiting callers are written together, with one wait for the disk.
    ///
    /// - Throws: ``FileError`` or ``Outbox/Error``.
    func commit(_ records: [OutboxRecord]) async throws {
        let lines = try records.reduce(into: Data()) { $0 += try $1.line() }
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = shared.withLock { shared in
                shared.changes.append((records, lines, continuation))
                return shared.changes.count == 1
            }
            if isFirst { queue.async { self.flush() } }
        }
    }

    private func flush() {
        let (changes, isClosed) = shared.withLock { shared in
            defer { shared.changes = [] }
            return (shared.changes, shared.state.isClosed)
        }
        let result = Result {
            guard !isClosed else { throw Outbox.Error.closed }
            try store.append(changes.reduce(into: Data()) { $0 += $1.lines }, isDurable: true)
        }
        let records = (try? result.get()) == nil ? [] : changes.flatMap(\.records)
        let actions = shared.withLock { shared in records.flatMap { shared.state.commit($0) } }
        // Before the callers are resumed: if one of them closes the outbox, the events would be lost.
        advance { _ in actions }
        for change in changes { change.end.resume(with: result) }
    }

    // MARK: Steps

    /// Changes the state on the queue, from any thread.
    func step(
        at alarm: Date? = nil,
        _ change: @escaping @Sendable (inout OutboxState) -> [OutboxState.Action] = { _ in [] }
    ) {
        queue.async { [weak self] in self?.advance(at: alarm, change) }
    }

    /// Changes the state, and performs the resulting actions.
    ///
    /// - Parameters:
    ///   - alarm: The time of the alarm, if an alarm is the reason for the call.
    ///   - change: Changes the state.
    private func advance(at alarm: Date? = nil, _ change: (inout OutboxState) -> [OutboxState.Action]) {
        let now = client.environment.now()
        // The alarm counts, even if the date was set back in the meantime.
        let due = max(now, alarm ?? now)
        let actions = shared.withLock { change(&$0.state) + $0.state.next(at: now, due: due) }
        for action in actions { perform(action) }
        let state = shared.withLock { $0.state }
        guard !state.isClosed else { return }
        store.compact(isEmpty: state.isEmpty) { state.records }
        setAlarm(state.nextDate, now)
    }

    private func perform(_ action: OutboxState.Action) {
        switch action {
        case .note(let record, let body):
            // A power failure may lose a record that isn't durable. Then the entry is sent again, which needs its body:
            // so the body is discarded only after a durable record.
            let isWritten = (try? store.append(record.line(), isDurable: body != nil)) != nil
            if let body, isWritten { store.discard(body) }
        case .report(let event): for reader in shared.withLock({ $0.readers.values }) { reader.yield(event) }
        case .cancel(let id): shared.withLock { $0.operations.removeValue(forKey: id) }?.cancel()
        case .send(let item): send(item)
        }
    }

    private func setAlarm(_ next: Date?, _ now: Date) {
        guard shared.withLock({ $0.alarm?.date }) != next else { return }
        var alarm: (date: Date, timer: DelayedAction)? = next.map { next in
            let wait = Duration(clampedSeconds: min(next.timeIntervalSince(now), Self.longestWait))
            let timer = DelayedAction(after: wait, on: client.environment.clock) { [weak self] in
                self?.shared.withLock { if $0.alarm?.date == next { $0.alarm = nil } }
                self?.step(at: next)
            }
            return (next, timer)
        }
        shared.withLock { swap(&$0.alarm, &alarm) }
        alarm?.timer.cancel()
    }

    // MARK: Sending

    private func send(_ item: OutboxState.Item) {
        guard let makeOperation = settings.kinds[item.entry.type] else {
            return refuse(item.entry, Outbox.Error.unregistered(item.entry.type), .unregistered)
        }
        do {
            let operation = try makeOperation(self, item)
            operation.name = item.entry.category
            let isWanted = shared.withLock { shared in
                shared.operations[item.entry.id] = operation
                let isWanted = shared.state.isWanted(item.entry.id)
                if !isWanted { shared.state.cancelledByAccount.insert(item.entry.id) }
                return isWanted
            }
            // From here on, a change of the account finds the operation. A cancelled operation sends nothing.
            if !isWanted { operation.cancel() }
            _ = client.enqueue(operation, nil)
        } catch {
            refuse(item.entry, error, .unreadable)
        }
    }

    /// Makes the operation of an entry.
    func operation<R: NetworkRequest>(_ request: R, _ entry: Entry, _ handle: @escaping Handler<R>) -> R.OperationType {
        var environment = client.environment
        // Applied before the request inherits anything.
        environment.changes.append { [body = entry.body.map(store.body)] request in
            request.headers.set(.idempotencyKey(entry.id.uuidString))
            if let body { request.body = .file(body) } else { try request.body.refuseFiles() }
        }
        let operation: R.OperationType = client.makeOperation(for: request, in: environment, nil)
        operation.addResponseCompletion(on: queue) { [core = operation.core, weak self] result in
            _ = self?.shared.withLock { $0.operations.removeValue(forKey: entry.id) }
            switch result {
            case .success(let response):
                Task { [weak self] in
                    do {
                        try await handle(Delivery(entry: entry, request: request, response: response))
                        self?.step { $0.sent(entry.id, response.head) }
                    } catch {
                        // Another attempt would get the same response. If the handler was cancelled, the request
                        // wasn't.
                        let error = RequestError(error)
                        let isCancelled = error.code == .cancelled
                        let failure = isCancelled ? RequestError(.other, phase: .decoding, underlying: error) : error
                        self?.refuse(entry, failure, .refused)
                    }
                }
            case .failure(let error):
                // The failure, before the request converted it to its own error type.
                self?.fail(entry, core.withLock { $0.run.failure } ?? RequestError(error))
            }
        }
        return operation
    }

    private func fail(_ entry: Entry, _ error: RequestError) {
        let (environment, decision) = (client.environment, settings.decide(error, entry))
        let wait = settings.backoff.delay(before: entry.attempts + 1, random: environment.random)
        let asked = error.retryAfter(from: environment.now()) ?? .zero
        let next = environment.now() + min(max(wait, asked).clampedSeconds, Self.longestWait)
        let summary = error.summary
        advance { $0.failed(entry.id, error, (decision, .refused, next, summary)) }
    }

    /// Parks an entry that was being sent; from any thread.
    private func refuse(_ entry: Entry, _ error: any Swift.Error, _ reason: Entry.Reason) {
        let error = RequestError(error)
        let summary = error.summary
        step { $0.failed(entry.id, error, (.park, reason, .distantPast, summary)) }
    }
}

extension HTTPBody {
    /// Checks that the content is neither a file nor a form with one.
    ///
    /// - Throws: ``Outbox/Error``.
    func refuseFiles() throws(Outbox.Error) {
        if case .file = content { throw .fileBody }
        for part in (source as? MultipartForm)?.parts ?? [] { try part.body.refuseFiles() }
    }
}
