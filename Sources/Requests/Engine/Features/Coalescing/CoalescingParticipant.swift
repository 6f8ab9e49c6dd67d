// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Lets one operation share the transfers of equal operations, by registering it, joining transfers, and leaving them.
///
/// One lock protects the groups of all queues, because an `OperationQueue` can't store its own groups. Registering,
/// joining and leaving are therefore atomic, and no operation joins a transfer that its last participant has just left.
final class CoalescingParticipant: OperationObserver {
    /// The properties that equal requests have in common when they are added.
    private struct Key: Sendable, Hashable {
        let queue: ObjectIdentifier
        let transport: ObjectIdentifier
        let identifier: String
        let revision: UUID?
    }

    private struct Registration: Sendable {
        let key: Key
        // The queue and the transport, which the key identifies by their addresses. They are retained so that no other
        // object gets these addresses during the registration.
        var retainedObjects: [any AnyObject & Sendable]
    }

    private typealias Group = CoalescingGroup<SharedTransfer>

    private static let groups = Locked<[Key: Group]>([:])

    private let queue: QueueIdentity
    private let isForced: Bool
    private let registration = Locked<Registration?>(nil)

    /// Creates a participant that registers with ``register(for:)``, or when its operation starts.
    ///
    /// - Parameters:
    ///   - queue: The identity of the queue.
    ///   - isForced: Whether the operation shares transfers even if its request doesn't opt in.
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
        // Leave before the completions are called, because nothing may be sent after that.
        if case .operationEnded = event { leave() }
    }

    /// Whether the participant is registered.
    var isRegistered: Bool { registration.withLock { $0 != nil } }

    /// Registers the participant, unless it is already registered or its operation can't share transfers.
    ///
    /// A nested request never shares transfers. Outside of a client, neither does a request with interceptors, cookies
    /// or a cache, because their owner is unknown.
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
        // Store the registration first. Code that ends the operation from now on then finds the registration, and
        // leaves the group before it returns.
        registration.withLock { $0 = Registration(key: key, retainedObjects: [queue.queue, transport]) }
        Self.groups.withLock { $0[key, default: Group()].register(id, configuration.limits) }
        // A result that arrived in the meantime found no registered participant, so leave here.
        if operation.core.withLock({ $0.result != nil }) { leave() }
    }

    /// Joins the transfer of an equal operation, or a new transfer.
    ///
    /// - Parameters:
    ///   - fingerprint: The fingerprint of the request.
    ///   - makeTransfer: Creates a transfer with the given limits; called outside of the lock.
    /// - Returns: The transfer, and whether it is new; `nil` if the participant has left its group.
    func join(
        _ fingerprint: RequestFingerprint,
        _ makeTransfer: (ResponseLimits) -> SharedTransfer
    ) -> (transfer: SharedTransfer, isNew: Bool)? {
        let id = ObjectIdentifier(self)
        guard let (existing, limits) = change({ ($0.join(fingerprint, id), $0.limits) }) else { return nil }
        if let existing { return (existing, false) }
        let new = makeTransfer(limits)
        guard let joined = change({ $0.join(fingerprint, id, or: new, limits) }) ?? nil else { return nil }
        cancel(joined.unneeded)
        return (joined.transfer, joined.transfer === new)
    }

    /// Restricts the operation to transfers that begin after this call, because its next attempt has just been
    /// prepared.
    func excludeExistingTransfers() {
        let id = ObjectIdentifier(self)
        change { $0.excludeExistingTransfers(id) }
    }

    /// Records that a transfer has ended.
    func didEnd(_ transfer: SharedTransfer) {
        change { $0.didEnd(transfer) }
    }

    /// Records that the operation no longer waits for a transfer.
    func leave(_ transfer: SharedTransfer) {
        let id = ObjectIdentifier(self)
        cancel(change { $0.leave(transfer, id) } ?? [])
    }

    /// Removes the participant from its group, and cancels transfers that no other operation waits for.
    private func leave() {
        let id = ObjectIdentifier(self)
        let unneeded = change { $0.leave(id) } ?? []
        // Release the objects outside of the lock.
        let retainedObjects = registration.withLock { registration in
            defer { registration?.retainedObjects = [] }
            return registration?.retainedObjects
        }
        withExtendedLifetime(retainedObjects) { cancel(unneeded) }
    }

    private func cancel(_ unneeded: [Group.UnneededTransfer]) {
        for item in unneeded { item.transfer.cancel() }
    }

    /// Changes the group of the participant; returns `nil` if the participant isn't registered.
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
    ///   - queue: The identity of the queue, which separates its requests from all others.
    ///   - atStart: Whether the operation registers only when it starts, so that it doesn't share a response from
    ///     before its dependencies finished.
    ///   - isForced: Whether the operation shares transfers even if the request doesn't opt in.
    final func share(on queue: QueueIdentity, atStart: Bool, isForced: Bool = true) {
        let participant = CoalescingParticipant(on: queue, isForced: isForced)
        add(participant)
        if !atStart { participant.register(for: self) }
    }
}

/// The identity that separates the requests of one queue from all others.
struct QueueIdentity: Sendable {
    let queue: any AnyObject & Sendable
    /// Whether the queue belongs to a client, all of whose environments have revisions.
    let isClient: Bool
}

extension RequestOptions {
    private enum Coalesce: RequestOption {
        static let unset = false
        static let isPartOfFingerprint = false
    }

    /// Whether the request joins the unfinished transfer of an equal request; false by default.
    ///
    /// Requests that change their task with ``configureTask`` are equal only if one is a copy of the other.
    /// `addRequest` explains which requests are equal, and when a request joins a transfer.
    public var coalesce: Bool {
        get { self[Coalesce.self] }
        set { self[Coalesce.self] = newValue }
    }
}
