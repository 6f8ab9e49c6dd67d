// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of an outbox, without I/O and without a clock: its entries, and which of them may be sent next.
///
/// The entries are those of the journal: the end of an attempt changes its entry once it is recorded. Each transition
/// returns the actions to perform, in their order. Times count from the opening of the outbox, so that a change of the
/// date delays nothing.
struct OutboxState: Sendable {
    enum Action: Sendable {
        case report(Outbox.Event)
        case send(Item)
        case cancel(UUID)
        /// Discard the body of an entry that isn't in the journal any more.
        case discard(String)
    }

    /// An entry, whose `state` is only the persistent part of the state that the application sees.
    struct Item: Sendable {
        var entry: Outbox.Entry
        let content: String
        /// The position in the order of all entries.
        let position: Int
        /// The version of the journal in which it was added; `nil` for the first.
        let version: Int?
        /// The earliest time of the next attempt.
        var due = Duration.zero

        var categoryKey: CategoryKey { [entry.account, entry.category ?? entry.id.uuidString] }
        var attempt: ScheduledAttempt { ScheduledAttempt(due: due, position: position) }
        var record: OutboxRecord { .added(entry, content: content, position: position, version: version) }
    }

    /// The work on an entry, from the beginning of an attempt until its end is recorded.
    ///
    /// Its category waits for that, even if the application has removed the entry in the meantime: nothing can stop a
    /// server that has received a request.
    private struct Work: Sendable {
        let categoryKey: CategoryKey
        /// The file that the request may be reading.
        let body: String?
        /// Whether a request has gone out and wasn't answered yet.
        var isUnderWay = false
        /// Whether the request was cancelled because the account has changed.
        var isCancelled = false
    }

    /// A record to be written before any other.
    struct Unwritten: Sendable {
        let id: UUID
        let record: OutboxRecord
        /// Whether a body is discarded after it.
        var hasBody = false
        /// Whether it must be in the journal.
        ///
        /// Without the record of a failed attempt, the next process only sends the entry too early.
        var isRequired = true
        /// Returns the event, if the record is the end of the work on its entry.
        var event: (@Sendable (Outbox.Entry) -> Outbox.Event)?
    }

    /// The decision about a failed attempt.
    struct End: Sendable {
        let decision: Outbox.Decision
        /// The reason, if the decision parks the entry.
        var reason = Reason.refused
        /// The seconds before the next attempt, if the decision retries it.
        var wait: TimeInterval = 0
        /// The time of the next attempt, if the decision retries it.
        var next = Date.distantPast
        /// The error, as a string for the entry.
        let summary: String
    }

    typealias Reason = Outbox.Entry.Reason

    /// The account and the category of entries that are sent one at a time; that of an entry without a category is its own.
    typealias CategoryKey = [String?]

    /// The entries of a category, except the passed ones, and the scheduled attempt of the first.
    private struct CategoryQueue: Sendable {
        /// The first position always belongs to an entry of the category; later ones may be outdated.
        var positions = Heap<Int>()
        var attempt: ScheduledAttempt?
    }

    /// A time at which an entry may be the next one to be sent.
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
    /// The records that must be written, in their order.
    private(set) var unwritten: [Unwritten] = []
    private let width: Int
    private var items: [Int: Item] = [:]
    private var positions: [UUID: Int] = [:]
    private var queues: [CategoryKey: CategoryQueue] = [:]
    /// The scheduled attempts, of which some may be outdated, but not the first.
    private var agenda = Heap<ScheduledAttempt>()
    private var works: [UUID: Work] = [:]
    private var lastPosition = 0

    /// Creates the state from the content of a journal.
    ///
    /// A damaged part may have been the record that an entry before it was sent. Such an entry isn't sent again, unless
    /// the application says so: it could replace a newer one.
    ///
    /// - Parameters:
    ///   - parts: The records and the damaged parts.
    ///   - settings: The settings of the outbox.
    ///   - date: The current date.
    init(_ parts: [OutboxRecord.Part], _ settings: Outbox.Settings, at date: Date) {
        (account, isPaused, isConnected) = (settings.account, settings.isPaused, settings.connectivity.isConnected)
        width = max(1, settings.maxConcurrentEntries)
        // The entries that may have been sent, and those among them that may have been skipped instead.
        var (uncertain, skipped): (Set<UUID>, Set<UUID>) = ([], [])
        for part in parts {
            switch part {
            case .record(let record):
                if case .sent(_, let key, let position) = record { end(key, before: position, keeping: skipped) }
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
            unwritten.append(Unwritten(id: entry.id, record: .changed(entry), isRequired: false))
        }
        scheduleAll()
    }

    /// Returns the entry of a damaged record, or all entries if its identifier can't be trusted.
    private func candidates(_ ids: Set<UUID>) -> Set<UUID> {
        let left = ids.filter { positions[$0] != nil }
        return left.count == 1 ? left : Set(positions.keys)
    }

    /// Removes the entries of a category before one that was sent, and parks those that may have been skipped.
    private mutating func end(_ key: CategoryKey, before position: Int, keeping skipped: Set<UUID> = []) {
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
    /// The names of all bodies.
    var bodies: Set<String> { Set(items.values.compactMap(\.entry.body)) }
    var isEmpty: Bool { items.isEmpty }
    /// Whether nothing can be sent unless the application acts.
    var isDrained: Bool { isClosed || (works.isEmpty && agenda.first == nil) }

    /// The time at which something may be sent next; `nil` if nothing waits for a time.
    var nextTime: Duration? { isPaused || !isConnected || works.count >= width ? nil : agenda.first?.due }

    private func item(_ id: UUID) -> Item? { positions[id].flatMap { items[$0] } }

    /// The entry as the application sees it; `nil` if there is none.
    func entry(_ id: UUID) -> Outbox.Entry? { item(id).map(entry) }

    private func entry(_ item: Item) -> Outbox.Entry {
        var entry = item.entry
        if works[entry.id] != nil {
            entry.state = .sending
        } else if entry.state == .pending, entry.account != account {
            entry.state = .parked(.otherAccount)
        }
        return entry
    }

    /// Whether an entry that is being sent may still be sent, which isn't so with the credentials of another account.
    private func isWanted(_ id: UUID) -> Bool { !isClosed && works[id].map { $0.categoryKey[0] == account } ?? false }

    /// Whether the response to an entry is handled, which only its own account and its application may cause.
    func isHandled(_ id: UUID) -> Bool { isWanted(id) && item(id) != nil && works[id]?.isCancelled == false }

    // MARK: Changes by the application

    /// Returns the position of a new entry.
    mutating func takePosition() -> Int {
        lastPosition += 1
        return lastPosition
    }

    /// Applies a record that is in the journal.
    mutating func commit(_ record: OutboxRecord, at time: Duration) -> [Action] {
        switch record {
        case .added(let new, _, _, _), .changed(let new):
            let previous = item(new.id)
            if let previous, works[new.id] != nil {
                // A running attempt takes precedence, in the journal too.
                unwritten.append(Unwritten(id: new.id, record: .changed(previous.entry)))
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
                guard let work = works[item.entry.id] else { return item.entry.body.map(Action.discard) }
                return work.isUnderWay ? nil : .cancel(item.entry.id)
            }
            return ends + events
        }
    }

    /// Records that some requests were cancelled because the account has changed, and returns these.
    mutating func cancelUnwanted(_ ids: some Sequence<UUID>) -> [UUID] {
        let unwanted = ids.filter { !isWanted($0) }
        for id in unwanted { works[id]?.isCancelled = true }
        return unwanted
    }

    // MARK: Sending

    /// Returns the entries to send now.
    ///
    /// - Parameters:
    ///   - time: The current time, for attempts.
    ///   - date: The current date, for entries that expire.
    /// - Returns: The actions to perform.
    mutating func next(at time: Duration, _ date: Date) -> [Action] {
        var actions: [Action] = []
        while !isPaused, isConnected, !isClosed, works.count < width, let attempt = agenda.first, attempt.due <= time {
            agenda.popFirst()
            if let item = items[attempt.position] {
                works[item.entry.id] = Work(categoryKey: item.categoryKey, body: item.entry.body)
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

    /// Records that a request of an entry goes out; returns false if the entry was removed, so that it must not.
    mutating func begin(_ id: UUID) -> Bool {
        let isThere = item(id) != nil
        if isThere { works[id]?.isUnderWay = true }
        return isThere
    }

    /// Records that the request of an entry was answered, or has failed.
    mutating func end(_ id: UUID) { works[id]?.isUnderWay = false }

    /// Ends the work on an entry that was sent, and whose response was handled.
    mutating func sent(_ id: UUID, _ response: HTTPResponseHead) -> [Action] {
        guard works[id] != nil else { return [] }
        guard let item = item(id) else { return finish(id) }
        // An earlier one is in the category if the application has retried it in the meantime.
        let first = queues[item.categoryKey]?.positions.first ?? item.position
        let record = OutboxRecord.sent(id, categoryKey: item.categoryKey, before: min(first, item.position))
        unwritten.append(
            Unwritten(id: id, record: record, hasBody: item.entry.body != nil) { .sent($0, response) }
        )
        return []
    }

    /// Ends the work on an entry whose attempt has failed.
    mutating func failed(_ id: UUID, _ error: RequestError, _ end: End) -> [Action] {
        guard let work = works[id] else { return [] }
        guard var item = item(id) else { return finish(id) }
        // A cancellation by a change of the account isn't a failure, even if the account has changed back since.
        if error.code == .cancelled, work.isCancelled || !isWanted(id) {
            let isWanted = isWanted(id)
            return finish(id) + (isWanted ? [] : [.report(.parked(entry(item), nil))])
        }
        (item.entry.attempts, item.entry.failure) = (item.entry.attempts + 1, end.summary)
        if end.decision == .retry {
            (item.entry.nextAttempt, item.entry.wait) = (end.next, end.wait)
            unwritten.append(
                Unwritten(id: id, record: .changed(item.entry), isRequired: false) { .failed($0, error) }
            )
        } else {
            park(item, end.reason, isPassed: end.decision == .skip, error)
        }
        return []
    }

    private mutating func park(_ item: Item, _ reason: Reason, isPassed: Bool, _ error: RequestError?) {
        var entry = item.entry
        (entry.state, entry.nextAttempt, entry.wait, entry.isPassed) = (.parked(reason), nil, nil, isPassed)
        unwritten.append(Unwritten(id: entry.id, record: .changed(entry)) { .parked($0, error) })
    }

    /// Applies the oldest unwritten records, which are in the journal now, or needn't be there.
    mutating func didWrite(_ count: Int, at time: Duration) -> [Action] {
        let written = unwritten.prefix(count)
        unwritten.removeFirst(count)
        return written.flatMap { written in
            let id = written.id
            let previous = entry(id)
            apply(written.record, at: time)
            guard let event = written.event else { return [Action]() }
            let actions = finish(id)
            return actions + [(entry(id) ?? previous).map { .report(event($0)) }].compactMap(\.self)
        }
    }

    /// Ends the work on an entry, so that its category continues.
    private mutating func finish(_ id: UUID) -> [Action] {
        guard let work = works.removeValue(forKey: id) else { return [] }
        schedule(work.categoryKey)
        return positions[id] == nil ? [work.body.map(Action.discard)].compactMap(\.self) : []
    }

    // MARK: Helpers

    private mutating func apply(_ record: OutboxRecord, at time: Duration) {
        switch record {
        case .added(let entry, let content, let given, let version):
            remove(entry.id)
            let position = given.flatMap { 0..<Int.max / 2 ~= $0 && items[$0] == nil ? $0 : nil } ?? lastPosition + 1
            lastPosition = max(lastPosition, position)
            let item = Item(entry: entry, content: content, position: position, version: version)
            (positions[entry.id], items[position]) = (position, item)
            enter(item)
        case .changed(let entry):
            guard var item = item(entry.id) else { return }
            let wasPassed = item.entry.isPassed
            (item.entry, item.due) = (entry, entry.wait.map { time + Duration(clampedSeconds: $0) } ?? .zero)
            items[item.position] = item
            if wasPassed { enter(item) } else { schedule(item.categoryKey) }
        case .sent(let id, let key, let position):
            remove(id)
            end(key, before: position)
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

    /// Adds an entry to the queue of its category, unless it is a passed one.
    private mutating func enter(_ item: Item) {
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
        if let attempt { agenda.insert(attempt) }
    }

    private mutating func scheduleAll() {
        for (key, queue) in queues {
            guard let item = queue.positions.first.flatMap({ items[$0] }) else { continue }
            let attempt = isReady(item) ? item.attempt : nil
            queues[key]?.attempt = attempt
        }
        agenda = Heap(queues.values.compactMap(\.attempt))
    }

    /// Whether the first entry of a category waits to be sent.
    private func isReady(_ item: Item) -> Bool {
        guard item.entry.state == .pending, item.entry.account == account else { return false }
        let key = item.categoryKey
        return !works.values.contains { $0.categoryKey == key }
    }

    private mutating func discardOutdatedAttempts() {
        while let attempt = agenda.first,
            items[attempt.position].flatMap({ queues[$0.categoryKey]?.attempt }) != attempt
        {
            agenda.popFirst()
        }
    }
}

extension OutboxState.Item {
    /// Adapts an entry of an earlier process to this one.
    ///
    /// A wait is never longer than it was: otherwise the attempt would be late if the date was set back.
    ///
    /// - Returns: Whether the wait was shortened. Unless the journal says so, each process would begin it anew.
    fileprivate mutating func reopen(at date: Date, uncertain: Set<UUID>) -> Bool {
        // This version of the application may be able to send it.
        if case .parked(let reason) = entry.state, reason == .unregistered || reason == .unreadable {
            entry.state = .pending
        }
        if entry.state == .pending, uncertain.contains(entry.id) {
            (entry.state, entry.nextAttempt, entry.wait) = (.parked(.uncertain), nil, nil)
        }
        guard let next = entry.nextAttempt else { return false }
        let (left, longest) = (next.timeIntervalSince(date), entry.wait ?? Outbox.longestWait)
        due = Duration(clampedSeconds: min(left, longest))
        guard left > longest else { return false }
        (entry.nextAttempt, entry.wait) = (date + longest, longest)
        return true
    }
}
