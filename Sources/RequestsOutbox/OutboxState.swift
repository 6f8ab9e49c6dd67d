// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of an outbox, without I/O and without a clock: its entries, and which of them may be sent next.
///
/// The entries are those in the journal, so an attempt changes its entry only when the outcome has been recorded. Each
/// transition returns the actions to perform, in order. Times are relative to the opening of the outbox, so that a
/// change of the system clock delays nothing.
struct OutboxState: Sendable {
    enum Action: Sendable {
        case report(Outbox.Event)
        case send(Item)
        case cancel(UUID)
        /// Discards the body of an entry that is no longer in the journal.
        case discard(String)
    }

    /// An entry of the journal; its `state` is only the persistent part of the state that the application sees.
    struct Item: Sendable {
        var entry: Outbox.Entry
        let content: String
        /// The position in the order of all entries.
        let position: Int
        /// The version of the journal in which the entry was added; `nil` for the first version.
        let version: Int?
        /// The earliest time of the next attempt.
        var due = Duration.zero

        var categoryKey: CategoryKey { [entry.account, entry.category ?? entry.id.uuidString] }
        var attempt: ScheduledAttempt { ScheduledAttempt(due: due, position: position) }
        var record: OutboxRecord { .added(entry, content: content, position: position, version: version) }
    }

    /// An attempt to send an entry, from its start until its outcome is recorded.
    ///
    /// The category waits for the attempt, even if the application has removed the entry in the meantime, because
    /// nothing can stop a server that has received a request.
    private struct ActiveAttempt: Sendable {
        let categoryKey: CategoryKey
        /// The file that the request may be reading.
        let body: String?
        /// Whether a request was sent that has no response yet.
        var awaitsResponse = false
        /// Whether the request was cancelled because the account has changed.
        var isCancelled = false
    }

    /// A record that must be written before any new record.
    struct PendingRecord: Sendable {
        let id: UUID
        let record: OutboxRecord
        /// Whether the entry's body file is deleted once the record has been written.
        var discardsBody = false
        /// Whether the record must be in the journal.
        ///
        /// If the record of a failed attempt is missing, the next process merely sends the entry too early.
        var isRequired = true
        /// Returns the event to report if the record ends an attempt.
        var event: (@Sendable (Outbox.Entry) -> Outbox.Event)?
    }

    /// A failed attempt, and the decision about it.
    struct AttemptFailure: Sendable {
        let decision: Outbox.Decision
        /// The reason, if the decision parks the entry.
        var reason = Reason.refused
        /// The seconds before the next attempt, if the decision is `retry`.
        var wait: TimeInterval = 0
        /// The time of the next attempt, if the decision is `retry`.
        var next = Date.distantPast
        /// The error as a string, for the entry.
        let summary: String
    }

    typealias Reason = Outbox.Entry.Reason

    /// The account and the category of entries that are sent one at a time; unique for an entry without a category.
    typealias CategoryKey = [String?]

    /// The entries of a category, without those that it has skipped, and the scheduled attempt of the first entry.
    private struct CategoryQueue: Sendable {
        /// The positions of the entries; all except the first may be outdated.
        var positions = Heap<Int>()
        var attempt: ScheduledAttempt?
    }

    /// The time from which an entry may be sent, and its position, which breaks ties.
    struct ScheduledAttempt: Sendable, Comparable {
        var due: Duration
        var position: Int

        static func < (one: ScheduledAttempt, other: ScheduledAttempt) -> Bool {
            (one.due, one.position) < (other.due, other.position)
        }
    }

    var account: String? { didSet { if account != oldValue { scheduleAll() } } }
    var isClosed = false
    var isPaused: Bool
    var isConnected: Bool
    /// The records that must be written, in order.
    private(set) var pendingRecords: [PendingRecord] = []
    private let maximumConcurrency: Int
    private var items: [Int: Item] = [:]
    private var positions: [UUID: Int] = [:]
    private var queues: [CategoryKey: CategoryQueue] = [:]
    /// The scheduled attempts; all except the first may be outdated.
    private var scheduledAttempts = Heap<ScheduledAttempt>()
    private var activeAttempts: [UUID: ActiveAttempt] = [:]
    private var lastPosition = 0

    /// Creates the state from the content of a journal.
    ///
    /// A damaged part may have recorded that an earlier entry was sent. Such an entry isn't sent again unless the
    /// application retries it, because it could overwrite the effect of a newer entry.
    ///
    /// - Parameters:
    ///   - parts: The records and the damaged parts.
    ///   - settings: The settings of the outbox.
    ///   - date: The current date.
    init(_ parts: [OutboxRecord.Part], _ settings: Outbox.Settings, at date: Date) {
        (account, isPaused, isConnected) = (settings.account, settings.isPaused, settings.connectivity.isConnected)
        maximumConcurrency = max(1, settings.maxConcurrentEntries)
        // The entries that may have been sent, and the subset that may have been skipped instead.
        var (uncertain, skipped): (Set<UUID>, Set<UUID>) = ([], [])
        for part in parts {
            switch part {
            case .record(let record):
                if case .sent(_, let key, let position) = record {
                    removeEntries(key, before: position, keeping: skipped)
                }
                apply(record, at: .zero)
                uncertain.subtract(record.ids)
                skipped.subtract(record.ids)
            case .damage(_, .addition): break
            case .damage(_, .end(let ids)):
                uncertain.formUnion(candidates(ids))
            case .damage(_, .change(let ids)):
                uncertain.formUnion(candidates(ids))
                skipped.formUnion(candidates(ids))
            case .damage(_, .anything):
                uncertain.formUnion(positions.keys)
                skipped.formUnion(positions.keys)
            }
        }
        for position in Array(items.keys) {
            guard items[position]?.reopen(at: date, uncertain: uncertain) == true, let entry = items[position]?.entry
            else {
                continue
            }
            pendingRecords.append(PendingRecord(id: entry.id, record: .changed(entry), isRequired: false))
        }
        scheduleAll()
    }

    /// Returns the entry of a damaged record, or all entries if its identifier can't be trusted.
    private func candidates(_ ids: Set<UUID>) -> Set<UUID> {
        let remaining = ids.filter { positions[$0] != nil }
        return remaining.count == 1 ? remaining : Set(positions.keys)
    }

    /// Removes the entries that precede an entry of their category that was sent, and parks those that may have been
    /// skipped.
    private mutating func removeEntries(_ key: CategoryKey, before position: Int, keeping skipped: Set<UUID> = []) {
        while let first = queues[key]?.positions.first, first < position, var item = items[first] {
            if skipped.contains(item.entry.id) {
                (item.entry.state, item.entry.isPassed) = (.parked(.uncertain), true)
                (item.entry.nextAttempt, item.entry.wait) = (nil, nil)
                apply(.changed(item.entry), at: .zero)
            } else {
                remove(item.entry.id)
            }
        }
    }

    // MARK: Queries

    private var sorted: [Item] { items.values.sorted { $0.position < $1.position } }
    /// The entries as the application sees them, in the order in which they were added.
    var entries: [Outbox.Entry] { sorted.map(entry) }
    /// The records of all entries, for a new journal.
    var records: [OutboxRecord] { sorted.map(\.record) }
    /// The file names of all bodies.
    var bodies: Set<String> { Set(items.values.compactMap(\.entry.body)) }
    var isEmpty: Bool { items.isEmpty }
    /// Whether nothing can be sent unless the application acts.
    var isDrained: Bool { isClosed || (activeAttempts.isEmpty && scheduledAttempts.first == nil) }

    /// The time at which something may be sent next; `nil` if nothing waits for a time.
    var nextDueTime: Duration? {
        isPaused || !isConnected || activeAttempts.count >= maximumConcurrency ? nil : scheduledAttempts.first?.due
    }

    private func item(_ id: UUID) -> Item? { positions[id].flatMap { items[$0] } }

    /// Returns the entry as the application sees it; `nil` if there is none.
    func entry(_ id: UUID) -> Outbox.Entry? { item(id).map(entry) }

    private func entry(_ item: Item) -> Outbox.Entry {
        var entry = item.entry
        if activeAttempts[entry.id] != nil {
            entry.state = .sending
        } else if entry.state == .pending, entry.account != account {
            entry.state = .parked(.otherAccount)
        }
        return entry
    }

    /// Returns whether an entry that is being sent belongs to the current account, in which case its request may
    /// continue.
    private func isAllowed(_ id: UUID) -> Bool {
        !isClosed && activeAttempts[id].map { $0.categoryKey[0] == account } ?? false
    }

    /// Returns whether the response to an entry is handled.
    ///
    /// The response is ignored if the account has changed, or if the application has removed the entry.
    func handlesResponse(_ id: UUID) -> Bool {
        isAllowed(id) && item(id) != nil && activeAttempts[id]?.isCancelled == false
    }

    // MARK: Application changes

    /// Returns the position for a new entry.
    mutating func reservePosition() -> Int {
        lastPosition += 1
        return lastPosition
    }

    /// Applies a record that was written to the journal.
    mutating func commit(_ record: OutboxRecord, at time: Duration) -> [Action] {
        switch record {
        case .added(let new, _, _, _), .changed(let new):
            let previous = item(new.id)
            if let previous, activeAttempts[new.id] != nil {
                // A running attempt takes precedence, so restore the previous entry in the journal too.
                pendingRecords.append(PendingRecord(id: new.id, record: .changed(previous.entry)))
                return []
            }
            apply(record, at: time)
            guard let entry = entry(new.id) else { return [] }
            return [.report(previous == nil ? .added(entry) : .retried(entry))]
        case .discarded, .sent, .removed:
            let previous = record.ids.compactMap(item)
            let events = previous.map { Action.report(.removed(entry($0))) }
            apply(record, at: time)
            let ends: [Action] = previous.compactMap { item in
                guard let active = activeAttempts[item.entry.id] else { return item.entry.body.map(Action.discard) }
                return active.awaitsResponse ? nil : .cancel(item.entry.id)
            }
            return ends + events
        }
    }

    /// Marks the requests that an account change has cancelled, and returns their identifiers.
    mutating func cancelDisallowed(_ ids: some Sequence<UUID>) -> [UUID] {
        let disallowed = ids.filter { !isAllowed($0) }
        for id in disallowed { activeAttempts[id]?.isCancelled = true }
        return disallowed
    }

    // MARK: Sending

    /// Starts the attempts that are due, up to the concurrency limit.
    ///
    /// - Parameters:
    ///   - time: The current time, for attempts.
    ///   - date: The current date, for entries that expire.
    /// - Returns: The actions to perform.
    mutating func next(at time: Duration, _ date: Date) -> [Action] {
        var actions: [Action] = []
        while !isPaused, isConnected, !isClosed, activeAttempts.count < maximumConcurrency,
            let attempt = scheduledAttempts.first, attempt.due <= time
        {
            scheduledAttempts.popFirst()
            if let item = items[attempt.position] {
                activeAttempts[item.entry.id] = ActiveAttempt(categoryKey: item.categoryKey, body: item.entry.body)
                queues[item.categoryKey]?.attempt = nil
                if let expires = item.entry.expires, expires <= date {
                    park(item, .expired, isPassed: true, nil)
                } else {
                    actions += [.report(.sending(entry(item))), .send(item)]
                }
            }
            discardOutdatedAttempts()
        }
        return actions
    }

    /// Records that a request of an entry is being sent; returns `false` if the entry was removed, and so must not be
    /// sent.
    mutating func requestStarted(_ id: UUID) -> Bool {
        let exists = item(id) != nil
        if exists { activeAttempts[id]?.awaitsResponse = true }
        return exists
    }

    /// Records that the request of an entry has a response, or has failed.
    mutating func requestEnded(_ id: UUID) { activeAttempts[id]?.awaitsResponse = false }

    /// Queues the record that an entry was sent, after its response was handled; writing the record ends the attempt.
    mutating func attemptSucceeded(_ id: UUID, _ response: HTTPResponseHead) -> [Action] {
        guard activeAttempts[id] != nil else { return [] }
        guard let item = item(id) else { return finish(id) }
        // An earlier entry is first in the category if the application has retried it in the meantime.
        let first = queues[item.categoryKey]?.positions.first ?? item.position
        let record = OutboxRecord.sent(id, categoryKey: item.categoryKey, before: min(first, item.position))
        pendingRecords.append(
            PendingRecord(id: id, record: record, discardsBody: item.entry.body != nil) { .sent($0, response) }
        )
        return []
    }

    /// Queues the record of a failed attempt; writing the record ends the attempt.
    mutating func attemptFailed(_ id: UUID, _ error: RequestError, _ failure: AttemptFailure) -> [Action] {
        guard let active = activeAttempts[id] else { return [] }
        guard var item = item(id) else { return finish(id) }
        // A cancellation because of an account change isn't a failure, even if the account has changed back since.
        if error.code == .cancelled, active.isCancelled || !isAllowed(id) {
            let isAllowed = isAllowed(id)
            return finish(id) + (isAllowed ? [] : [.report(.parked(entry(item), nil))])
        }
        (item.entry.attempts, item.entry.failure) = (item.entry.attempts + 1, failure.summary)
        if failure.decision == .retry {
            (item.entry.nextAttempt, item.entry.wait) = (failure.next, failure.wait)
            pendingRecords.append(
                PendingRecord(id: id, record: .changed(item.entry), isRequired: false) { .failed($0, error) }
            )
        } else {
            park(item, failure.reason, isPassed: failure.decision == .skip, error)
        }
        return []
    }

    private mutating func park(_ item: Item, _ reason: Reason, isPassed: Bool, _ error: RequestError?) {
        var entry = item.entry
        (entry.state, entry.nextAttempt, entry.wait, entry.isPassed) = (.parked(reason), nil, nil, isPassed)
        pendingRecords.append(PendingRecord(id: entry.id, record: .changed(entry)) { .parked($0, error) })
    }

    /// Applies the oldest pending records, which were written to the journal, or needn't be.
    mutating func didWrite(_ count: Int, at time: Duration) -> [Action] {
        let written = pendingRecords.prefix(count)
        pendingRecords.removeFirst(count)
        return written.flatMap { written in
            let id = written.id
            let previous = entry(id)
            apply(written.record, at: time)
            guard let event = written.event else { return [Action]() }
            let actions = finish(id)
            return actions + [(entry(id) ?? previous).map { .report(event($0)) }].compactMap(\.self)
        }
    }

    /// Finishes an entry's attempt, so that the next entry in its category can be sent.
    private mutating func finish(_ id: UUID) -> [Action] {
        guard let active = activeAttempts.removeValue(forKey: id) else { return [] }
        schedule(active.categoryKey)
        return positions[id] == nil ? [active.body.map(Action.discard)].compactMap(\.self) : []
    }

    // MARK: Helpers

    private mutating func apply(_ record: OutboxRecord, at time: Duration) {
        switch record {
        case .added(let entry, let content, let storedPosition, let version):
            remove(entry.id)
            let position =
                storedPosition.flatMap { 0..<Int.max / 2 ~= $0 && items[$0] == nil ? $0 : nil } ?? lastPosition + 1
            lastPosition = max(lastPosition, position)
            let item = Item(entry: entry, content: content, position: position, version: version)
            (positions[entry.id], items[position]) = (position, item)
            enqueue(item)
        case .changed(let entry):
            guard var item = item(entry.id) else { return }
            let wasPassed = item.entry.isPassed
            (item.entry, item.due) = (entry, entry.wait.map { time + Duration(clampedSeconds: $0) } ?? .zero)
            items[item.position] = item
            if wasPassed { enqueue(item) } else { schedule(item.categoryKey) }
        case .sent(let id, let key, let position):
            remove(id)
            removeEntries(key, before: position)
        case .discarded(let ids): for id in ids { remove(id) }
        case .removed(let id): remove(id)
        }
    }

    private mutating func remove(_ id: UUID) {
        guard let position = positions.removeValue(forKey: id), let item = items.removeValue(forKey: position) else {
            return
        }
        schedule(item.categoryKey)
    }

    /// Adds an entry to the queue of its category, unless the category continues without it.
    private mutating func enqueue(_ item: Item) {
        guard !item.entry.isPassed else { return }
        queues[item.categoryKey, default: CategoryQueue()].positions.insert(item.position)
        schedule(item.categoryKey)
    }

    /// Schedules the attempt of the first entry of a category.
    private mutating func schedule(_ key: CategoryKey) {
        defer { discardOutdatedAttempts() }
        while let position = queues[key]?.positions.first, items[position]?.entry.isPassed ?? true {
            queues[key]?.positions.popFirst()
        }
        guard let position = queues[key]?.positions.first, let item = items[position] else {
            queues[key] = nil
            return
        }
        let attempt = isReady(item) ? item.attempt : nil
        guard attempt != queues[key]?.attempt else { return }
        queues[key]?.attempt = attempt
        if let attempt { scheduledAttempts.insert(attempt) }
    }

    private mutating func scheduleAll() {
        for (key, queue) in queues {
            guard let item = queue.positions.first.flatMap({ items[$0] }) else { continue }
            let attempt = isReady(item) ? item.attempt : nil
            queues[key]?.attempt = attempt
        }
        scheduledAttempts = Heap(queues.values.compactMap(\.attempt))
    }

    /// Returns whether the first entry of a category may be scheduled.
    private func isReady(_ item: Item) -> Bool {
        guard item.entry.state == .pending, item.entry.account == account else { return false }
        let key = item.categoryKey
        return !activeAttempts.values.contains { $0.categoryKey == key }
    }

    private mutating func discardOutdatedAttempts() {
        while let attempt = scheduledAttempts.first,
            items[attempt.position].flatMap({ queues[$0.categoryKey]?.attempt }) != attempt
        {
            scheduledAttempts.popFirst()
        }
    }
}

extension OutboxState.Item {
    /// Adapts an entry from an earlier process to this process.
    ///
    /// A wait never becomes longer than it was, so that setting back the system clock doesn't delay the attempt.
    ///
    /// - Returns: Whether the wait was shortened. The journal must record this, or each process would start the wait
    ///   again.
    fileprivate mutating func reopen(at date: Date, uncertain: Set<UUID>) -> Bool {
        // This version of the application may be able to send the entry.
        if case .parked(let reason) = entry.state, reason == .unregistered || reason == .unreadable {
            entry.state = .pending
        }
        if entry.state == .pending, uncertain.contains(entry.id) {
            (entry.state, entry.nextAttempt, entry.wait) = (.parked(.uncertain), nil, nil)
        }
        guard let next = entry.nextAttempt else { return false }
        let (remaining, maximum) = (next.timeIntervalSince(date), entry.wait ?? Outbox.maximumWait)
        due = Duration(clampedSeconds: min(remaining, maximum))
        guard remaining > maximum else { return false }
        (entry.nextAttempt, entry.wait) = (date + maximum, maximum)
        return true
    }
}
