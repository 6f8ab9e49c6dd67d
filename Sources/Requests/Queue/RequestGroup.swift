// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A group of requests of one type, with one completion.
///
/// ```swift
/// let group = queue.addGroup([GetUser(id: 1), GetUser(id: 2)]) { results in … }
/// let users = try await group.values()
/// ```
///
/// The group is an operation: others can depend on it, and cancelling it cancels every member.
// Sendable: Operation demands that it be restated; what is added here is a constant.
open class RequestGroup<R: NetworkRequest>: OperationGroup, @unchecked Sendable {
    /// The members, in the order of their requests.
    public final let operations: [R.OperationType]

    init(
        _ operations: [R.OperationType],
        completionQueue: DispatchQueue,
        completion: (@Sendable ([Result<R.Success, R.Failure>]) -> Void)?
    ) {
        self.operations = operations
        let report = completion.map { completion in
            { @Sendable in completion(operations.map(\.resultInGroup)) }
        }
        super.init(of: operations, completionQueue: completionQueue, completion: report)
    }

    /// The results, in the order of the requests; nil as long as one is missing.
    ///
    /// They are there before the group is finished, and never change.
    ///
    /// - Complexity: O(n)
    public final var results: [Result<R.Success, R.Failure>]? {
        let results = operations.compactMap(\.result)
        return results.count == operations.count ? results : nil
    }

    /// Waits for the values, in the order of the requests.
    ///
    /// Cancelling the waiting task doesn't cancel the group.
    ///
    /// - Throws: The failure of the first request, in their order, that failed. The others go on: cancel the group if
    ///   nothing is to be had from them.
    public final func values() async throws(R.Failure) -> [R.Success] {
        var values: [R.Success] = []
        for operation in operations { values.append(try await operation.value()) }
        return values
    }
}

// MARK: - Grouping

extension RequestQueue {
    /// Runs requests of one type, with one completion for all.
    ///
    /// ```swift
    /// let group = queue.addGroup(ids.map(GetUser.init)) { results in
    ///     let users = results.compactMap { try? $0.get() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: What to run.
    ///   - session: What carries them; nil, the default, is the queue's transport.
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - dependencies: What has to be finished before any of them starts.
    ///   - priority: How soon they start, among those that could.
    ///   - coalescing: Whether they join transfers of equal requests, as with `addRequest`.
    ///   - completion: Takes the results, in the order of the requests. Called exactly once, always asynchronously,
    ///     also where some or all are cancelled. It is on its queue before any operation that depends on the group
    ///     starts, and behind the completions of the members.
    /// - Returns: The group: an operation that is finished when all of its members are.
    @discardableResult
    public func addGroup<R: NetworkRequest>(
        _ requests: [R],
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: (@Sendable ([Result<R.Success, R.Failure>]) -> Void)? = nil
    ) -> RequestGroup<R> {
        let operations = requests.map {
            addRequest($0, session: session, dependencies: dependencies, priority: priority, coalescing: coalescing)
        }
        let group = RequestGroup<R>(
            operations,
            completionQueue: completionQueue ?? underlyingQueue.asOptional ?? .global(qos: .utility),
            completion: completion
        )
        enqueue(group, dependencies: [], priority: priority)
        return group
    }

    /// Runs requests of several types, with one completion for all.
    ///
    /// ```swift
    /// queue.addRequests(GetUser(id: 1), GetSettings()) { user, settings in
    ///     show(try? user.get(), try? settings.get())
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: What to run.
    ///   - session: What carries them; nil, the default, is the queue's transport.
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - dependencies: What has to be finished before any of them starts.
    ///   - priority: How soon they start, among those that could.
    ///   - completion: Takes the results, one each. Called exactly once, as with `addGroup`.
    /// - Returns: An operation that is finished when all of them are, and whose `cancel` cancels all.
    @discardableResult
    public func addRequests<each R: NetworkRequest>(
        _ requests: repeat each R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        completion: @escaping @Sendable (repeat Result<(each R).Success, (each R).Failure>) -> Void
    ) -> OperationGroup {
        let operations =
            (repeat addRequest(each requests, session: session, dependencies: dependencies, priority: priority))
        var members: [any GroupMember] = []
        repeat members.append(each operations)
        let group = OperationGroup(
            of: members,
            completionQueue: completionQueue ?? underlyingQueue.asOptional ?? .global(qos: .utility),
            completion: { completion(repeat (each operations).resultInGroup) }
        )
        enqueue(group, dependencies: [], priority: priority)
        return group
    }
}

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
    override func didTell(_ settled: SettledOperation) {
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
