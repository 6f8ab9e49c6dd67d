// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The place of one call among equal ones that may share transfers; taken when the request is added.
///
/// All groups of the process are under one lock, since an `OperationQueue` can't have one of its own. So taking a seat,
/// joining, leaving and ending are atomic, and no call joins a transfer that the last one has just left.
final class CoalescingSeat: Sendable {
    /// The common properties of equal requests when they are added.
    private struct Key: Sendable, Hashable {
        let queue: ObjectIdentifier
        let transport: ObjectIdentifier
        let identifier: String
        let revision: EnvironmentRevision?
    }

    private typealias Group = CoalescingGroup<CoalescedTransfer>

    private static let groups = Locked<[Key: Group]>([:])

    private let key: Key
    // Retained, so that no other object gets one of their addresses while the seat is taken.
    private let owners: [any AnyObject & Sendable]

    /// Takes a seat.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request.
    ///   - queue: The identity of the queue.
    ///   - transport: The transport of the request.
    ///   - revision: The revision of the client's environment; `nil` for a queue without a client.
    ///   - limits: The maximum sizes of the answer.
    init(
        of identifier: String,
        on queue: any AnyObject & Sendable,
        over transport: any HTTPTransport,
        revision: EnvironmentRevision?,
        _ limits: CoalescingLimits
    ) {
        key = Key(
            queue: ObjectIdentifier(queue),
            transport: ObjectIdentifier(transport),
            identifier: identifier,
            revision: revision
        )
        owners = [queue, transport]
        let (key, id) = (key, ObjectIdentifier(self))
        Self.groups.withLock { $0[key, default: Group()].take(id, limits) }
    }

    deinit {
        leave()
    }

    /// Joins a transfer: one of an equal call, or else a new one.
    ///
    /// - Parameters:
    ///   - identity: The identity of the request on the wire.
    ///   - make: Makes a transfer with the given limits; called outside of the lock.
    /// - Returns: The transfer, and whether it is new; `nil` if the seat has been given back.
    func join(
        _ identity: WireIdentity,
        _ make: (CoalescingLimits) -> CoalescedTransfer
    ) -> (transfer: CoalescedTransfer, isNew: Bool)? {
        let id = ObjectIdentifier(self)
        let (known, limits) = change { ($0.join(identity, id), $0.limits) }
        if let known { return (known, false) }
        let new = make(limits)
        let joined = change { $0.join(identity, id, or: new, limits) }
        cancel(joined?.dropped ?? [])
        return joined.map { ($0.transfer, $0.transfer === new) }
    }

    /// Restricts the call to transfers that begin from now on: its next attempt was prepared.
    func renew() {
        let id = ObjectIdentifier(self)
        change { $0.renew(id) }
    }

    /// Records that a transfer has ended.
    func end(_ transfer: CoalescedTransfer) {
        change { $0.end(transfer) }
    }

    /// Records that the call doesn't wait for a transfer any more.
    func leave(_ transfer: CoalescedTransfer) {
        let id = ObjectIdentifier(self)
        cancel(change { $0.leave(transfer, id) })
    }

    /// Gives the seat back; a transfer that no other call waits for is cancelled.
    func leave() {
        let id = ObjectIdentifier(self)
        cancel(change { $0.leave(id) })
    }

    private func cancel(_ dropped: [Group.Dropped]) {
        for unwanted in dropped { unwanted.transfer.cancel() }
    }

    private func change<Value: Sendable>(_ change: @Sendable (inout Group) -> Value) -> Value {
        Self.groups.withLock { groups in
            defer { if groups[key]?.isEmpty == true { groups[key] = nil } }
            return change(&groups[key, default: Group()])
        }
    }
}

/// Waits for the transfer of an equal request instead of sending its own.
///
/// The raw answer is shared. Each waiting call decides for itself which statuses it accepts, how it decodes the
/// content, and whether there is another attempt.
struct CoalescingLink: Interceptor {
    let seat: CoalescingSeat
    let attempt: CallAttempt

    func intercept(
        _ request: HTTPRequest,
        context: InterceptorContext,
        next: Next
    ) async throws -> HTTPResponse<ResponseContent> {
        guard let identity = WireIdentity(request, attempt.options, in: attempt.environment) else {
            return try await next(request)
        }
        let joined = seat.join(identity) { limits in
            CoalescedTransfer(request, through: next, for: attempt, limits) { [seat] in seat.end($0) }
        }
        guard let (transfer, isNew) = joined else { throw CancellationError() }
        transfer.add(attempt)
        defer {
            transfer.remove(attempt)
            seat.leave(transfer)
        }
        if !isNew, transfer.retry == attempt.policy {
            // Earlier attempts were made for this call as well, which only came too late to observe them.
            attempt.call.record { $0.spend(transfer.attempt) }
        }
        if let leader = transfer.monitored { attempt.call.feed?.report(.operationJoined(leader)) }
        let transmission = Transmission(request, cause: next.cause, heads: next.heads, for: attempt, over: transfer)
        var answer = try await transmission.answer()
        answer.isStoredElsewhere = !transfer.takeStoring()
        return answer
    }
}
