// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The participants of equal requests, and the transfers that were made for them.
///
/// A request takes a participant when it is added. The transfer that it may join is decided when it is about to be sent: one
/// of the same ``RequestFingerprint`` that is running, or that has ended since the participant was taken. A participant joins a
/// transfer once: its next attempt needs another response, from a transfer that another participant's next attempt has begun,
/// or from a new one.
///
/// The machine has no effects: its owner cancels the unneeded transfers after unlocking.
struct CoalescingGroup<Transfer: AnyObject & Sendable>: Sendable {
    /// The maximum number of answers kept for participants that haven't started: requests of one identifier may differ on the
    /// wire, and each answer has its content.
    static var maximumEndedTransfers: Int { 16 }

    /// The fingerprint of a participant.
    typealias ParticipantID = ObjectIdentifier

    /// A transfer that no participant can need any more, with the references to release.
    struct UnneededTransfer: Sendable {
        let transfer: Transfer
        fileprivate let fingerprint: RequestFingerprint
    }

    private struct Participant: Sendable {
        /// The number of transfers that had ended when the participant was taken.
        let endedTransfersAtRegistration: Int
        let limits: ResponseLimits
        /// The last transfer that is too old for it, whether it has ended or not.
        var lastExcluded = 0
        /// The transfers that it has joined.
        var joined: Set<Int> = []
    }

    private struct Entry: Sendable {
        let fingerprint: RequestFingerprint
        let transfer: Transfer
        let limits: ResponseLimits
        /// The participants that wait for it.
        var waiting: Set<ParticipantID> = []
        /// The number of ended transfers, including this one; `nil` while it is running.
        var end: Int?
    }

    private var participants: [ParticipantID: Participant] = [:]
    /// The transfers by their numbers, while a participant waits or may join.
    private var entries: [Int: Entry] = [:]
    /// The number of the last transfer of each fingerprint; only that one may be joined.
    private var latest: [RequestFingerprint: Int] = [:]
    /// The number of participants of each endedTransfersAtRegistration.
    private var participantsByRegistration: [Int: Int] = [:]
    /// The number of participants that haven't joined any transfer.
    private var unjoinedCount = 0
    private var endedCount = 0
    private var lastNumber = 0
    /// The largest limits of all participants: those of new transfers.
    private(set) var limits = ResponseLimits(head: 0, content: 0)

    /// Whether there are no participants and no transfers.
    var isEmpty: Bool { participants.isEmpty && entries.isEmpty }

    /// Takes a participant.
    mutating func register(_ participant: ParticipantID, _ limits: ResponseLimits) {
        participants[participant] = Participant(endedTransfersAtRegistration: endedCount, limits: limits)
        participantsByRegistration[endedCount, default: 0] += 1
        unjoinedCount += 1
        self.limits = self.limits.union(limits)
    }

    /// Restricts a participant to transfers that begin from now on.
    mutating func excludeExistingTransfers(_ participant: ParticipantID) {
        participants[participant]?.lastExcluded = lastNumber
    }

    /// Returns the transfer that a participant may join, and adds the participant; `nil` if it needs a new one.
    mutating func join(_ fingerprint: RequestFingerprint, _ participant: ParticipantID) -> Transfer? {
        guard let registered = participants[participant], let number = latest[fingerprint], let entry = entries[number],
            entry.end.map({ $0 > registered.endedTransfersAtRegistration }) ?? true, number > registered.lastExcluded, entry.limits.covers(registered.limits),
            !registered.joined.contains(number)
        else { return nil }
        count(participant, in: number)
        return entry.transfer
    }

    /// Returns the transfer that a participant may join, which is the new one if there is no other.
    ///
    /// `nil` without a participant.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the request on the wire.
    ///   - participant: The participant.
    ///   - new: A transfer that hasn't begun.
    ///   - limits: The limits of the new one.
    /// - Returns: The transfer, and those that it makes superfluous.
    mutating func join(
        _ fingerprint: RequestFingerprint,
        _ participant: ParticipantID,
        or new: Transfer,
        _ limits: ResponseLimits
    ) -> (transfer: Transfer, unneeded: [UnneededTransfer])? {
        guard participants[participant] != nil else { return nil }
        if let transfer = join(fingerprint, participant) { return (transfer, []) }
        lastNumber += 1
        entries[lastNumber] = Entry(fingerprint: fingerprint, transfer: new, limits: limits)
        latest[fingerprint] = lastNumber
        count(participant, in: lastNumber)
        return (new, sweep())
    }

    private mutating func count(_ participant: ParticipantID, in number: Int) {
        entries[number]?.waiting.insert(participant)
        if participants[participant]?.joined.isEmpty == true { unjoinedCount -= 1 }
        participants[participant]?.joined.insert(number)
    }

    private func number(of transfer: Transfer) -> Int? {
        entries.first { $0.value.transfer === transfer }?.key
    }

    /// Records that a transfer has ended: a participant that is taken later doesn't join it.
    mutating func didEnd(_ transfer: Transfer) {
        endedCount += 1
        if let number = number(of: transfer) { entries[number]?.end = endedCount }
    }

    /// Records that a participant doesn't wait for a transfer any more, and returns transfers that no participant can need now.
    mutating func leave(_ transfer: Transfer, _ participant: ParticipantID) -> [UnneededTransfer] {
        guard let number = number(of: transfer) else { return [] }
        entries[number]?.waiting.remove(participant)
        return sweep()
    }

    /// Gives a participant back, and returns transfers that no participant can need now.
    mutating func leave(_ participant: ParticipantID) -> [UnneededTransfer] {
        guard let removed = participants.removeValue(forKey: participant) else { return [] }
        if removed.joined.isEmpty { unjoinedCount -= 1 }
        // A call that has its result waits for nothing, also if its task has yet to notice.
        for number in removed.joined { entries[number]?.waiting.remove(participant) }
        let others = (participantsByRegistration[removed.endedTransfersAtRegistration] ?? 1) - 1
        participantsByRegistration[removed.endedTransfersAtRegistration] = others == 0 ? nil : others
        return sweep()
    }

    /// Drops the transfers that no participant waits for or may still join.
    private mutating func sweep() -> [UnneededTransfer] {
        let ended = entries.filter { $0.value.end != nil }.keys.sorted()
        let lastExcluded = ended.count > Self.maximumEndedTransfers ? ended[ended.count - Self.maximumEndedTransfers] : 0
        let unneeded = entries.filter { number, entry in
            guard entry.waiting.isEmpty else { return false }
            if entry.end != nil, number < lastExcluded { return true }
            guard latest[entry.fingerprint] == number else { return true }
            guard let end = entry.end else { return unjoinedCount == 0 }
            return !participantsByRegistration.keys.contains { $0 < end }
        }
        for (number, entry) in unneeded {
            entries[number] = nil
            if latest[entry.fingerprint] == number { latest[entry.fingerprint] = nil }
        }
        return unneeded.values.map { UnneededTransfer(transfer: $0.transfer, fingerprint: $0.fingerprint) }
    }
}
