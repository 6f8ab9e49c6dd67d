// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The seats of equal requests, and the transfers that were made for them.
///
/// A request takes a seat when it is added. What it may join is settled when it is about to be sent: a transfer of the
/// same ``WireIdentity`` that is under way, or that has ended since the seat was taken. A seat joins a transfer once: its
/// next attempt needs another answer, from a transfer that somebody else's next attempt has begun, or from a new one.
///
/// The machine does nothing itself: what it drops, its owner cancels when the lock is free again.
struct CoalescingGroup<Transfer: AnyObject & Sendable>: Sendable {
    /// What tells one seat from the others.
    typealias SeatID = ObjectIdentifier

    private struct Seat: Sendable {
        /// How many transfers had ended when the seat was taken.
        let birth: Int
        let limits: CoalescingLimits
        /// The transfers that it has joined.
        var joined: Set<Int> = []
    }

    private struct Entry: Sendable {
        let number: Int
        let transfer: Transfer
        let limits: CoalescingLimits
        /// How many seats wait for it.
        var members = 0
        /// How many transfers had ended with it; nil while it is under way.
        var end: Int?
    }

    private var seats: [SeatID: Seat] = [:]
    /// The last transfer of each identity, as long as somebody may join it.
    private var entries: [WireIdentity: Entry] = [:]
    /// How many seats there are of each birth.
    private var births: [Int: Int] = [:]
    /// How many of them haven't joined any transfer.
    private var undecided = 0
    private var ends = 0
    private var lastNumber = 0
    /// The largest limits of all seats: those of new transfers.
    private(set) var limits = CoalescingLimits(head: 0, content: 0)

    /// Whether nobody has a seat, and nobody waits.
    var isEmpty: Bool { seats.isEmpty && entries.isEmpty }

    /// Takes a seat.
    mutating func take(_ seat: SeatID, _ limits: CoalescingLimits) {
        seats[seat] = Seat(birth: ends, limits: limits)
        births[ends, default: 0] += 1
        undecided += 1
        self.limits = self.limits.union(limits)
    }

    /// Returns the transfer that a seat may join, and counts the seat in; nil if there is none.
    mutating func join(_ identity: WireIdentity, _ seat: SeatID) -> Transfer? {
        guard let known = seats[seat], let entry = entries[identity], entry.end.map({ $0 > known.birth }) ?? true,
            entry.limits.include(known.limits), !known.joined.contains(entry.number)
        else { return nil }
        count(seat, in: identity)
        return entry.transfer
    }

    /// Returns the transfer that a seat may join, which is the new one if there is no other.
    ///
    /// - Parameters:
    ///   - identity: What goes on the wire.
    ///   - seat: Who wants it.
    ///   - new: A transfer that hasn't begun.
    ///   - limits: What the new one is bounded by.
    /// - Returns: The transfer, and the one that the new one takes the place of; nil without a seat.
    mutating func join(
        _ identity: WireIdentity,
        _ seat: SeatID,
        or new: Transfer,
        _ limits: CoalescingLimits
    ) -> (transfer: Transfer, replaced: Transfer?)? {
        guard seats[seat] != nil else { return nil }
        if let transfer = join(identity, seat) { return (transfer, nil) }
        let replaced = entries[identity]?.transfer
        lastNumber += 1
        entries[identity] = Entry(number: lastNumber, transfer: new, limits: limits)
        count(seat, in: identity)
        return (new, replaced)
    }

    private mutating func count(_ seat: SeatID, in identity: WireIdentity) {
        guard let number = entries[identity]?.number else { return }
        entries[identity]?.members += 1
        if seats[seat]?.joined.isEmpty == true { undecided -= 1 }
        seats[seat]?.joined.insert(number)
    }

    /// Records that a transfer has ended: a seat that is taken from now on doesn't join it.
    mutating func end(_ transfer: Transfer, _ identity: WireIdentity) {
        ends += 1
        if entries[identity]?.transfer === transfer { entries[identity]?.end = ends }
    }

    /// Records that a seat doesn't wait for a transfer any more, and returns what nobody can want now.
    mutating func leave(_ transfer: Transfer, _ identity: WireIdentity) -> [Transfer] {
        guard entries[identity]?.transfer === transfer else { return [] }
        entries[identity]?.members -= 1
        return sweep()
    }

    /// Gives a seat back, and returns what nobody can want now.
    mutating func leave(_ seat: SeatID) -> [Transfer] {
        guard let former = seats.removeValue(forKey: seat) else { return [] }
        if former.joined.isEmpty { undecided -= 1 }
        let others = (births[former.birth] ?? 1) - 1
        births[former.birth] = others == 0 ? nil : others
        return sweep()
    }

    /// Drops the transfers under way that nobody waits for or may come to wait for, and the answers that are too old for
    /// all seats.
    private mutating func sweep() -> [Transfer] {
        let dropped = entries.filter { _, entry in
            guard let end = entry.end else { return entry.members == 0 && undecided == 0 }
            return !births.keys.contains { $0 < end }
        }
        for identity in dropped.keys { entries[identity] = nil }
        return dropped.values.map(\.transfer)
    }
}

/// How many bytes of an answer are wanted at most.
struct CoalescingLimits: Sendable, Hashable {
    let head: Int
    let content: Int

    func include(_ other: CoalescingLimits) -> Bool {
        head >= other.head && content >= other.content
    }

    func union(_ other: CoalescingLimits) -> CoalescingLimits {
        CoalescingLimits(head: max(head, other.head), content: max(content, other.content))
    }
}
