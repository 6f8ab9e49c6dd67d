// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// How an operation leaves its work to another, and gets it back if that can't do it.
extension NetworkOperation {
    /// Joins the unfinished transfer of an equal request, now: the operation takes what comes of it, even if that comes
    /// before its own turn.
    func joinSharedTransfer(of queue: Coalescer.Queue) {
        guard let request, keepsContentInMemory, call.scope == nil else { return }
        let shared = sharedTransfer(for: request, of: queue)
        changeRole { $0.part = .follower(shared) }
    }

    /// Joins the unfinished transfer of an equal request when the operation starts, since only then is it known what it
    /// may take: the request may not be made yet, and what came before a dependency was finished is too old.
    func joinSharedTransferAtStart(of queue: Coalescer.Queue, isAsked: Bool) {
        changeRole { $0.part = .joining(queue, isAsked: isAsked) }
    }

    private func sharedTransfer(for request: R, of queue: Coalescer.Queue) -> SharedTransfer<R> {
        let key = Coalescer.Key(queue: queue, operation: self, request: request)
        // All but the first find one: what it takes to make one isn't made for them.
        if let shared: SharedTransfer<R> = Coalescer.shared.join(key) { return shared }
        var configuration = OperationConfiguration(
            source: .value(request),
            transport: transport,
            environment: environment
        )
        configuration.refreshing = call.refreshing
        return Coalescer.shared.join(key, or: SharedTransfer(key: key, queue: queue, configuration: configuration))
    }

    /// Returns the transfer to join, if there is one, which is left with the result or when the operations part.
    func takeSharedTransfer(for request: R) -> SharedTransfer<R>? {
        let part = changeRole { role in
            if case .joining = role.part {
                defer { role.part = .alone }
                return role.part
            }
            return role.part
        }
        switch part {
        case .follower(let shared):
            return shared as? SharedTransfer<R>
        case .joining(let queue, let isAsked):
            guard keepsContentInMemory, call.scope == nil, isAsked || plan?.options.coalesce == true else { return nil }
            let shared = sharedTransfer(for: request, of: queue)
            changeRole { $0.part = .follower(shared) }
            return shared
        case .alone, .leader:
            return nil
        }
    }

    /// Leaves a transfer that was joined, or, as its leader, releases it.
    func leaveSharedTransfer() {
        let (part, joined) = changeRole { role in
            defer { (role.part, role.joined) = (.alone, nil) }
            return (role.part, role.joined)
        }
        if case .follower(let shared as SharedTransfer<R>) = part { shared.leave(self) }
        joined?.resume(returning: true)
    }

    /// Waits for what another operation does for this one, and returns whether there is a result.
    func join(_ shared: SharedTransfer<R>) async -> Bool {
        await withUnsafeContinuation { continuation in
            changeRole { $0.joined = continuation }
            // A result that came before is seen by nobody else.
            guard result == nil else { return leaveSharedTransfer() }
            shared.attach(self)
            if result != nil { leaveSharedTransfer() }
        }
    }

    /// Does its own work, since the operation that it has joined can't do it.
    func part() {
        changeRole { role in
            defer { (role.part, role.joined) = (.alone, nil) }
            return role.joined
        }?.resume(returning: false)
    }

    /// Reports to monitors whose work the operation waits for.
    func reportJoining(_ leader: NetworkOperation<R>) {
        guard let feed = call.feed, let leader = leader.call.feed?.operation else { return }
        feed.report(.operationJoined(leader))
    }

    /// Takes over the result of the operation that did the work, unless there is one already.
    func adopt(_ outcome: Outcome, of leader: NetworkOperation<R>) {
        let record = leader.call.record
        finish(with: outcome) { self.call.record { $0 = record } }
    }
}

extension NetworkOperation {
    final func allowsSending(_ request: HTTPRequest) -> Bool {
        guard !request.method.isSafe, case .leader(let shared) = changeRole({ $0.part }) else { return true }
        shared.refuse()
        cancel()
        return false
    }

    final var urgency: Int {
        guard case .leader(let shared) = changeRole({ $0.part }) else { return queuePriority.rawValue }
        return shared.priority?.rawValue ?? queuePriority.rawValue
    }
}

/// A ``SharedTransfer``, of whatever request.
protocol SharedWork: AnyObject, Sendable {
    /// The highest priority of the operations that wait; nil if none does.
    var priority: Operation.QueuePriority? { get }

    /// Detaches all followers; each sends its own request.
    func refuse()
}
