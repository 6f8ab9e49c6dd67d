// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Decides which transfer each participant joins, for operations whose requests are equal when they are added.
///
/// Each operation registers one participant, when it is added or when it starts. Just before its request is sent, the
/// participant joins the latest transfer with the same ``RequestFingerprint``, provided that this transfer is running,
/// or ended after the participant registered. Otherwise, it starts a new transfer.
///
/// A participant joins each transfer only once, because its next attempt needs a new response. The next attempt
/// therefore joins a transfer that another participant's next attempt has begun, or starts a new transfer.
///
/// This state machine has no side effects: its owner cancels the unneeded transfers after unlocking.
struct CoalescingGroup<Transfer: AnyObject & Sendable>: Sendable {
    /// The maximum number of ended transfers that are kept for participants that may still join.
    ///
    /// Requests with the same identifier may still differ when they are sent, so a group may have many transfers, and
    /// each kept response holds its content.
    static var maximumEndedTransfers: Int { 16 }

    /// The identity of a participant.
    typealias ParticipantID = ObjectIdentifier

    /// A transfer that no participant can need any longer.
    struct UnneededTransfer: Sendable {
        let transfer: Transfer
        fileprivate let fingerprint: RequestFingerprint
    }

    private struct Participant: Sendable {
        /// The number of transfers that had ended when the participant registered.
        let endedTransfersAtRegistration: Int
        let limits: ResponseLimits
        /// The ID of the latest transfer that the participant must not join; it must not join earlier transfers either.
        var lastExcludedID = 0
        /// The IDs of the transfers that the participant has joined.
        var joinedTransfers: Set<Int> = []
    }

    private struct Entry: Sendable {
        let fingerprint: RequestFingerprint
        let transfer: Transfer
        let limits: ResponseLimits
        /// The participants that wait for the transfer.
        var waiting: Set<ParticipantID> = []
        /// The number of ended transfers, including this one, when this transfer ended; `nil` while it is running.
        var endNumber: Int?
    }

    private var participants: [ParticipantID: Participant] = [:]
    /// The transfers that a participant waits for or may join, by ID; later transfers have greater IDs.
    private var entries: [Int: Entry] = [:]
    /// The ID of the latest transfer with each fingerprint; participants may join only this transfer.
    private var latestIDs: [RequestFingerprint: Int] = [:]
    /// The number of participants for each value of `endedTransfersAtRegistration`.
    private var participantsByRegistration: [Int: Int] = [:]
    /// The number of participants that haven't joined any transfer.
    private var unjoinedCount = 0
    private var endedTransferCount = 0
    private var lastID = 0
    /// The limits of new transfers: the maximum of the limits of all participants so far.
    private(set) var limits = ResponseLimits(head: 0, content: 0)

    /// Whether there are no participants and no transfers.
    var isEmpty: Bool { participants.isEmpty && entries.isEmpty }

    /// Registers a participant.
    mutating func register(_ participant: ParticipantID, _ limits: ResponseLimits) {
        participants[participant] = Participant(endedTransfersAtRegistration: endedTransferCount, limits: limits)
        participantsByRegistration[endedTransferCount, default: 0] += 1
        unjoinedCount += 1
        self.limits = self.limits.union(limits)
    }

    /// Restricts a participant to transfers that begin after this call.
    mutating func excludeExistingTransfers(_ participant: ParticipantID) {
        participants[participant]?.lastExcludedID = lastID
    }

    /// Adds the participant to the latest transfer with the given fingerprint, and returns that transfer.
    ///
    /// Returns `nil` if the participant needs a new transfer.
    mutating func join(_ fingerprint: RequestFingerprint, _ participant: ParticipantID) -> Transfer? {
        guard let registered = participants[participant], let id = latestIDs[fingerprint],
            let entry = entries[id],
            entry.endNumber.map({ $0 > registered.endedTransfersAtRegistration }) ?? true,
            id > registered.lastExcludedID, entry.limits.covers(registered.limits),
            !registered.joinedTransfers.contains(id)
        else { return nil }
        add(participant, in: id)
        return entry.transfer
    }

    /// Adds the participant to the latest transfer with the given fingerprint if allowed, and otherwise to a new
    /// transfer.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the request to be sent.
    ///   - participant: The participant.
    ///   - new: A transfer that hasn't begun.
    ///   - limits: The limits of the new transfer.
    /// - Returns: The joined transfer, and the transfers that nobody needs any longer; `nil` if the participant isn't
    ///   registered.
    mutating func join(
        _ fingerprint: RequestFingerprint,
        _ participant: ParticipantID,
        or new: Transfer,
        _ limits: ResponseLimits
    ) -> (transfer: Transfer, unneeded: [UnneededTransfer])? {
        guard participants[participant] != nil else { return nil }
        if let transfer = join(fingerprint, participant) { return (transfer, []) }
        lastID += 1
        entries[lastID] = Entry(fingerprint: fingerprint, transfer: new, limits: limits)
        latestIDs[fingerprint] = lastID
        add(participant, in: lastID)
        return (new, removeUnneeded())
    }

    private mutating func add(_ participant: ParticipantID, in id: Int) {
        entries[id]?.waiting.insert(participant)
        if participants[participant]?.joinedTransfers.isEmpty == true { unjoinedCount -= 1 }
        participants[participant]?.joinedTransfers.insert(id)
    }

    private func id(of transfer: Transfer) -> Int? {
        entries.first { $0.value.transfer === transfer }?.key
    }

    /// Records that a transfer has ended, so that participants registered later don't join it.
    mutating func didEnd(_ transfer: Transfer) {
        endedTransferCount += 1
        if let id = id(of: transfer) { entries[id]?.endNumber = endedTransferCount }
    }

    /// Records that a participant no longer waits for a transfer, and returns the transfers that nobody needs any
    /// longer.
    mutating func leave(_ transfer: Transfer, _ participant: ParticipantID) -> [UnneededTransfer] {
        guard let id = id(of: transfer) else { return [] }
        entries[id]?.waiting.remove(participant)
        return removeUnneeded()
    }

    /// Removes a participant, and returns the transfers that nobody needs any longer.
    mutating func leave(_ participant: ParticipantID) -> [UnneededTransfer] {
        guard let removed = participants.removeValue(forKey: participant) else { return [] }
        if removed.joinedTransfers.isEmpty { unjoinedCount -= 1 }
        // An operation that has its result waits for no transfer, even if its task hasn't noticed the result yet.
        for id in removed.joinedTransfers { entries[id]?.waiting.remove(participant) }
        let others = (participantsByRegistration[removed.endedTransfersAtRegistration] ?? 1) - 1
        participantsByRegistration[removed.endedTransfersAtRegistration] = others == 0 ? nil : others
        return removeUnneeded()
    }

    /// Removes and returns the transfers that no participant waits for or may still join.
    private mutating func removeUnneeded() -> [UnneededTransfer] {
        let ended = entries.filter { $0.value.endNumber != nil }.keys.sorted()
        let oldestKept = ended.count > Self.maximumEndedTransfers ? ended[ended.count - Self.maximumEndedTransfers] : 0
        let unneeded = entries.filter { id, entry in
            guard entry.waiting.isEmpty else { return false }
            if entry.endNumber != nil, id < oldestKept { return true }
            guard latestIDs[entry.fingerprint] == id else { return true }
            guard let end = entry.endNumber else { return unjoinedCount == 0 }
            return !participantsByRegistration.keys.contains { $0 < end }
        }
        for (id, entry) in unneeded {
            entries[id] = nil
            if latestIDs[entry.fingerprint] == id { latestIDs[entry.fingerprint] = nil }
        }
        return unneeded.values.map { UnneededTransfer(transfer: $0.transfer, fingerprint: $0.fingerprint) }
    }
}
