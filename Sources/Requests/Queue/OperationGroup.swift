// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that stands for several others: it ends when all of them have ended.
///
/// Queues make groups: ``RequestQueue/addGroup(_:session:completionQueue:dependencies:priority:coalescing:completion:)``
/// of requests of one type, and ``RequestQueue/addRequests(_:session:completionQueue:dependencies:priority:completion:)``
/// of requests of several.
///
/// It does no work and waits nowhere: it depends on its members, so the queue starts it when they are finished, and a
/// queue of width 1 runs it too. Its completion is enqueued as soon as the last member has its result, behind the
/// completions of all members.
///
/// A member may be cancelled alone: the group goes on, and has its failure among its results. A group of nothing
/// completes at once.
// Sendable: Operation demands that it be restated; what is added here is constants and one lock.
open class OperationGroup: AsynchronousOperation, @unchecked Sendable {
    private struct State {
        var unsettled: Int
        var isCancelled = false
        var completion: (@Sendable () -> Void)?
    }

    private let members: [any GroupMember]
    private let completionQueue: DispatchQueue
    private let state: Locked<State>

    /// Makes the group of operations, which may have begun; `completion` reads their results where it wants any.
    init(of members: [any GroupMember], completionQueue: DispatchQueue, completion: (@Sendable () -> Void)?) {
        self.members = members
        self.completionQueue = completionQueue
        state = Locked(State(unsettled: members.count, completion: completion))
        super.init()
        for member in members {
            addDependency(member)
            // Weakly: a member that never gets a result would otherwise keep itself alive, and owes its completions
            // when it goes.
            member.whenSettled { [weak self] in self?.memberSettled() }
        }
        if members.isEmpty { finish() }
    }

    // A group that no queue kept owes its completion, as every operation does.
    deinit {
        complete()
    }

    /// Whether the group was cancelled; members that were cancelled alone don't count.
    public final override var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels all members that have no result yet.
    ///
    /// The completion is enqueued at once, since all have their results then. The group is finished when its members
    /// are: not as soon as other cancelled operations, which no longer wait for what they depend on.
    public final override func cancel() {
        // Without `super`, which would settle the group before its members, and have the queue start it before they
        // are finished.
        guard !isFinished else { return }
        willChangeValue(forKey: Self.isCancelledKey)
        state.withLock { $0.isCancelled = true }
        didChangeValue(forKey: Self.isCancelledKey)
        for member in members { member.cancel() }
    }

    /// Nothing: what there is to do, the members have done.
    public final override func execute() {}

    override func refuseDependency() {
        for member in members { member.refuseDependency() }
    }

    // Normally nobody is left to be cancelled. A group that is finished from outside can't wait for its members.
    override func deliver() {
        for member in members where !member.isSettled { member.cancel() }
        complete()
    }

    private func memberSettled() {
        let unsettled = state.withLock { state in
            state.unsettled -= 1
            return state.unsettled
        }
        if unsettled == 0 { finish() }
    }

    private func complete() {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            return state.completion
        }
        if let completion { completionQueue.async(execute: completion) }
    }

    private static let isCancelledKey = "isCancelled"
}

/// An operation that can be in a group.
protocol GroupMember: AsynchronousOperation {
    /// Whether the result is there.
    var isSettled: Bool { get }
    /// Calls `body` once, when the completions of the result have been enqueued.
    func whenSettled(_ body: @escaping @Sendable () -> Void)
}

extension RequestOperation: GroupMember {
    final var isSettled: Bool { result != nil }

    final func whenSettled(_ body: @escaping @Sendable () -> Void) {
        observe { _ in body() }
    }

    /// The result, for a group that is over; of an operation that has none and that nobody will run, a cancellation.
    final var resultInGroup: Outcome {
        result ?? .failure(mapError(makeCancellation()))
    }
}
