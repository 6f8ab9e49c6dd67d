// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The registration of one operation among equal ones that share transfers: a feature of the operation.
///
/// All groups of the process are under one lock, since an `OperationQueue` can't have one of its own. So taking a participant,
/// joining, leaving and ending are atomic, and no operation joins a transfer that the last one has just left.
final class CoalescingParticipant: OperationObserver {
    /// The common properties of equal requests when they are added.
    private struct Key: Sendable, Hashable {
        let queue: ObjectIdentifier
        let transport: ObjectIdentifier
        let identifier: String
        let revision: UUID?
    }

    private struct Registration: Sendable {
        let key: Key
        // Retained, so that no other object gets one of their addresses while the participant is taken.
        var retainedObjects: [any AnyObject & Sendable]
    }

    private typealias Group = CoalescingGroup<SharedTransfer>

    private static let groups = Locked<[Key: Group]>([:])

    private let queue: QueueIdentity
    private let isForced: Bool
    private let registration = Locked<Registration?>(nil)

    /// Makes a participant, which is taken with ``register(for:)``, or when the operation starts.
    ///
    /// - Parameters:
    ///   - queue: The fingerprint of the queue.
    ///   - isForced: Whether the operation shares also if its request doesn't ask for it.
    init(on queue: QueueIdentity, isForced: Bool) {
        self.queue = queue
        self.isForced = isForced
    }

    deinit {
        leave()
    }

    func observe(_ step: OperationStep) {
        switch step {
        case .runBegan(let operation): register(for: operation)
        case .prepared: excludeExistingTransfers()
        default: break
        }
    }

    func observe(_ event: OperationEvent) {
        // Before the completions: when one is called, nothing is sent any more.
        if case .operationEnded = event { leave() }
    }

    /// Whether the participant was taken.
    var isRegistered: Bool { registration.withLock { $0 != nil } }

    /// Takes the participant, unless it is taken or the operation can't share.
    ///
    /// A request on behalf of another shares nothing, nor does one with interceptors, cookies or caches of an unknown
    /// owner.
    func register(for operation: AnyRequestOperation) {
        let configuration = operation.configuration
        let environment = configuration.environment
        guard !isRegistered, isForced || configuration.options.coalesce, operation.kind.content == .inMemory,
            operation.scope == nil, let transport = operation.ownTransport,
            queue.isClient
                || configuration.interceptors.isEmpty && environment.cookies == nil && environment.cache == nil,
            let identifier = operation.identifier
        else { return }
        let key = Key(
            queue: ObjectIdentifier(queue.queue),
            transport: ObjectIdentifier(transport),
            identifier: identifier,
            revision: queue.isClient ? environment.revision : nil
        )
        let id = ObjectIdentifier(self)
        // In this order: whoever ends the operation from now on gives the participant back before that end returns.
        registration.withLock { $0 = Registration(key: key, retainedObjects: [queue.queue, transport]) }
        Self.groups.withLock { $0[key, default: Group()].register(id, configuration.limits) }
        // If a result came in between, it has found no participant to leave.
        if operation.core.withLock({ $0.result != nil }) { leave() }
    }

    /// Joins a transfer: one of an equal operation, or else a new one.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the request.
    ///   - make: Makes a transfer with the given limits; called outside of the lock.
    /// - Returns: The transfer, and whether it is new; `nil` if the participant has been given back.
    func join(
        _ fingerprint: RequestFingerprint,
        _ make: (ResponseLimits) -> SharedTransfer
    ) -> (transfer: SharedTransfer, isNew: Bool)? {
        let id = ObjectIdentifier(self)
        guard let (known, limits) = change({ ($0.join(fingerprint, id), $0.limits) }) else { return nil }
        if let known { return (known, false) }
        let new = make(limits)
        guard let joined = change({ $0.join(fingerprint, id, or: new, limits) }) ?? nil else { return nil }
        cancel(joined.unneeded)
        return (joined.transfer, joined.transfer === new)
    }

    /// Restricts the operation to transfers that begin from now on: its next attempt was prepared.
    func excludeExistingTransfers() {
        let id = ObjectIdentifier(self)
        change { $0.excludeExistingTransfers(id) }
    }

    /// Records that a transfer has ended.
    func didEnd(_ transfer: SharedTransfer) {
        change { $0.didEnd(transfer) }
    }

    /// Records that the operation doesn't wait for a transfer any more.
    func leave(_ transfer: SharedTransfer) {
        let id = ObjectIdentifier(self)
        cancel(change { $0.leave(transfer, id) } ?? [])
    }

    /// Gives the participant back; a transfer that no other operation waits for is cancelled.
    private func leave() {
        let id = ObjectIdentifier(self)
        let unneeded = change { $0.leave(id) } ?? []
        // They may be released now, but not under a lock.
        let retainedObjects = registration.withLock { registration in
            defer { registration?.retainedObjects = [] }
            return registration?.retainedObjects
        }
        withExtendedLifetime(retainedObjects) { cancel(unneeded) }
    }

    private func cancel(_ unneeded: [Group.UnneededTransfer]) {
        for unneeded in unneeded { unneeded.transfer.cancel() }
    }

    /// Changes the group of the participant; `nil` if no participant is taken.
    @discardableResult
    private func change<Value: Sendable>(_ change: @Sendable (inout Group) -> Value) -> Value? {
        guard let key = registration.withLock({ $0?.key }) else { return nil }
        return Self.groups.withLock { groups in
            defer { if groups[key]?.isEmpty == true { groups[key] = nil } }
            return change(&groups[key, default: Group()])
        }
    }
}

extension AnyRequestOperation {
    /// Lets the operation share the transfers of equal requests that were added to a queue.
    ///
    /// - Parameters:
    ///   - queue: The fingerprint of the queue, which separates its requests from all others.
    ///   - atStart: Whether it shares only transfers that haven't ended when it starts: a response from before its
    ///     dependencies finished is too old.
    ///   - isForced: Whether it shares also if the request doesn't ask for it.
    final func share(on queue: QueueIdentity, atStart: Bool, isForced: Bool = true) {
        let participant = CoalescingParticipant(on: queue, isForced: isForced)
        add(participant)
        if !atStart { participant.register(for: self) }
    }
}

/// The fingerprint that separates the requests of one queue from all others.
struct QueueIdentity: Sendable {
    let queue: any AnyObject & Sendable
    /// Whether it is that of a client, all of whose environments are known.
    let isClient: Bool
}

extension RequestOptions {
    private enum Coalesce: RequestOption {
        static let unset = false
        static let isPartOfFingerprint = false
    }

    /// Whether the request joins the unfinished transfer of an equal one; false by default.
    ///
    /// Requests that change their task with ``configureTask`` are equal only if one is a copy of the other.
    /// `addRequest` explains which requests are equal, and when one joins.
    public var coalesce: Bool {
        get { self[Coalesce.self] }
        set { self[Coalesce.self] = newValue }
    }
}
