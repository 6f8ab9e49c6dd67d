// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state of an outbox, without I/O and without a clock: its entries, and which of them may be sent next.
///
/// Each transition returns the actions to perform, in their order.
struct OutboxState: Sendable {
    enum Action: Sendable {
        /// Write a record for which no caller waits, and then discard the body of the entry.
        case note(OutboxRecord, discarding: String?)
        case report(Outbox.Event)
        case send(Item)
        case cancel(UUID)
    }

    /// An entry, whose `state` is only the persistent part of the state that the application sees.
    struct Item: Sendable {
        var entry: Outbox.Entry
        let content: String
        /// The place in the order of all entries.
        let number: Int

        var line: Line { [entry.account, entry.category ?? entry.id.uuidString] }
        var turn: Turn { Turn(date: entry.nextAttempt ?? .distantPast, number: number) }
    }

    /// The decision about a failed attempt, the reason if it parks the entry, the time of the next attempt if not, and
    /// the error as text.
    typealias End = (decision: Outbox.Decision, reason: Reason, next: Date, summary: String)
    typealias Reason = Outbox.Entry.Reason

    /// The account and the category of a line of entries, which contains all its entries except the passed ones.
    typealias Line = [String?]

    /// A time at which an entry may be the next one to be sent.
    struct Turn: Sendable, Comparable {
        var date: Date
        var number: Int

        static func < (one: Turn, other: Turn) -> Bool { (one.date, one.number) < (other.date, other.number) }
    }

    var account: String? {
        // Turns of lines that had to wait may be gone.
        didSet { agenda = lines.values.compactMap { $0.first.flatMap { items[$0]?.turn } }.sorted(by: >) }
    }
    var isClosed = false
    /// The entries whose requests were cancelled because the account has changed.
    var cancelledByAccount: Set<UUID> = []
    var isPaused: Bool
    var isConnected: Bool
    private let width: Int
    private var items: [Int: Item] = [:]
    private var numbers: [UUID: Int] = [:]
    private var lines: [Line: [Int]] = [:]
    /// The turns, the earliest last; some of them may be outdated.
    private var agenda: [Turn] = []
    /// The entries that are being sent, until the end of their operations and handlers is reported.
    private var sending: Set<Int> = []
    private var last = 0

    /// Makes the state from the records of a journal.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - settings: The settings of the outbox.
    ///   - latest: The latest time of an attempt; a later one comes from a clock that was wrong.
    init(_ records: [OutboxRecord], _ settings: Outbox.Settings, latest: Date) {
        (account, isPaused, isConnected) = (settings.account, settings.isPaused, settings.connectivity.isConnected)
        width = max(1, settings.maxConcurrentEntries)
        for record in records { apply(record) }
        for var item in sorted {
            // This version of the application may be able to send it.
            if case .parked(let reason) = item.entry.state, ![.refused, .expired].contains(reason) {
                item.entry.state = .pending
            }
            item.entry.nextAttempt = item.entry.nextAttempt.map { min($0, latest) }
            update(item)
        }
    }

    // MARK: Queries

    private var sorted: [Item] { items.values.sorted { $0.number < $1.number } }
    /// The entries as the application sees them, in the order in which they were added.
    var entries: [Outbox.Entry] { sorted.map(entry) }
    /// The records of all entries, for a new journal.
    var records: [OutboxRecord] { sorted.map { .added($0.entry, content: $0.content) } }
    /// The names of all bodies.
    var bodies: Set<String> { Set(items.values.compactMap(\.entry.body)) }
    var isEmpty: Bool { items.isEmpty }
    /// Whether nothing can be sent unless the application acts.
    var isDrained: Bool { isClosed || (sending.isEmpty && !agenda.contains(where: isCurrent)) }

    /// The time at which something may be sent next; `nil` if nothing waits for a time.
    var nextDate: Date? {
        isPaused || !isConnected || sending.count >= width ? nil : agenda.last(where: isCurrent)?.date
    }

    private func item(_ id: UUID) -> Item? { numbers[id].flatMap { items[$0] } }

    /// Whether an entry that is being sent may still be sent, which isn't so with the credentials of another account.
    func isWanted(_ id: UUID) -> Bool { !isClosed && item(id).map { $0.entry.account == account } ?? false }

    /// The entry as the application sees it.
    func entry(_ item: Item) -> Outbox.Entry {
        var entry = item.entry
        if sending.contains(item.number) {
            entry.state = .sending
        } else if entry.state == .pending, entry.account != account {
            entry.state = .parked(.otherAccount)
        }
        return entry
    }

    /// Whether a turn still belongs to the first entry of its line, and that entry waits to be sent.
    private func isCurrent(_ turn: Turn) -> Bool {
        guard let item = items[turn.number], item.turn == turn, entry(item).state == .pending else { return false }
        return lines[item.line]?.first == turn.number && !sending.contains { items[$0]?.line == item.line }
    }

    // MARK: Changes by the application

    /// Applies a record that is in the journal.
    mutating func commit(_ record: OutboxRecord) -> [Action] {
        switch record {
        case .added(let entry, _), .changed(let entry):
            let former = item(entry.id)
            // A running attempt takes precedence, also in the journal.
            if let former, sending.contains(former.number) { return [.note(.changed(former.entry), discarding: nil)] }
            apply(record)
            guard let item = item(entry.id) else { return [] }
            update(item)
            return [.report(former == nil ? .added(self.entry(item)) : .retried(self.entry(item)))]
        case .removed(let id):
            guard let item = remove(id) else { return [] }
            let discarding = item.entry.body.map { Action.note(record, discarding: $0) }
            return [.cancel(id), discarding, .report(.removed(entry(item)))].compactMap(\.self)
        }
    }

    // MARK: Sending

    /// Returns the entries to send now.
    ///
    /// - Parameters:
    ///   - now: The current time, for entries that expire.
    ///   - due: The time for attempts: the current time, or that of the alarm if it is later.
    /// - Returns: The actions to perform.
    mutating func next(at now: Date, due: Date) -> [Action] {
        var actions: [Action] = []
        while !isPaused, isConnected, !isClosed, sending.count < width, let turn = agenda.last {
            let isCurrent = isCurrent(turn)
            guard turn.date <= due || !isCurrent else { break }
            agenda.removeLast()
            guard isCurrent, let item = items[turn.number] else { continue }
            if let expires = item.entry.expires, expires <= now {
                actions += park(item, .expired, isPassed: true, nil)
            } else {
                sending.insert(item.number)
                actions += [.report(.sending(entry(item))), .send(item)]
            }
        }
        return actions
    }

    /// Records that an entry was sent, and that its response was handled.
    mutating func sent(_ id: UUID, _ response: HTTPResponseHead) -> [Action] {
        guard let item = remove(id) else { return [] }
        return [.note(.removed(id), discarding: item.entry.body), .report(.sent(entry(item), response))]
    }

    /// Records that an attempt has failed.
    mutating func failed(_ id: UUID, _ error: RequestError, _ end: End) -> [Action] {
        guard var item = item(id) else { return [] }
        sending.remove(item.number)
        let wasCancelled = cancelledByAccount.remove(id) != nil
        // A cancellation by a change of the account isn't a failure, even if the account has changed back since.
        if error.code == .cancelled, wasCancelled || !isWanted(id) {
            update(item)
            return isWanted(id) ? [] : [.report(.parked(entry(item), nil))]
        }
        (item.entry.attempts, item.entry.failure) = (item.entry.attempts + 1, end.summary)
        guard end.decision == .retry else { return park(item, end.reason, isPassed: end.decision == .skip, error) }
        item.entry.nextAttempt = end.next
        update(item)
        return [.note(.changed(item.entry), discarding: nil), .report(.failed(entry(item), error))]
    }

    // MARK: Helpers

    private mutating func apply(_ record: OutboxRecord) {
        switch record {
        case .added(let entry, let content):
            if let number = numbers[entry.id] { items[number] = nil }
            last += 1
            numbers[entry.id] = last
            items[last] = Item(entry: entry, content: content, number: last)
        case .changed(let entry): numbers[entry.id].map { items[$0]?.entry = entry }
        case .removed(let id): numbers.removeValue(forKey: id).map { items[$0] = nil }
        }
    }

    private mutating func park(_ item: Item, _ reason: Reason, isPassed: Bool, _ error: RequestError?) -> [Action] {
        var item = item
        (item.entry.state, item.entry.nextAttempt, item.entry.isPassed) = (.parked(reason), nil, isPassed)
        update(item)
        return [.note(.changed(item.entry), discarding: nil), .report(.parked(entry(item), error))]
    }

    private mutating func remove(_ id: UUID) -> Item? {
        cancelledByAccount.remove(id)
        guard let item = item(id) else { return nil }
        apply(.removed(id))
        sending.remove(item.number)
        if let place = lines[item.line]?.firstIndex(of: item.number) { lines[item.line]?.remove(at: place) }
        arrange(item.line)
        return item
    }

    /// Stores a changed entry, and puts it in its line or takes it out.
    private mutating func update(_ item: Item) {
        items[item.number] = item
        var line = lines.removeValue(forKey: item.line) ?? []
        // A new entry is the last one.
        let place = line.last ?? 0 < item.number ? line.count : line.firstIndex { $0 >= item.number } ?? line.count
        let isInLine = place < line.count && line[place] == item.number
        if isInLine, item.entry.isPassed { line.remove(at: place) }
        if !isInLine, !item.entry.isPassed { line.insert(item.number, at: place) }
        lines[item.line] = line
        arrange(item.line)
    }

    /// Schedules the turn of a line, unless it is already scheduled.
    private mutating func arrange(_ line: Line) {
        guard let item = lines[line]?.first.flatMap({ items[$0] }) else { return lines[line] = nil }
        let place = agenda.firstIndex { $0 <= item.turn } ?? agenda.count
        if place == agenda.count || agenda[place] != item.turn { agenda.insert(item.turn, at: place) }
    }
}
