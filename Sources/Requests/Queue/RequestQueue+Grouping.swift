// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
        priority: Operation.QueuePriority = .normal,
        coalescing: Bool = false,
        completion: (@Sendable ([Result<R.Success, R.Failure>]) -> Void)? = nil
    ) -> RequestGroup<R> {
        let operations = requests.map {
            addRequest($0, session: session, dependencies: dependencies, priority: priority, coalescing: coalescing)
        }
        let group = RequestGroup<R>(
            operations,
            completionQueue: completionQueue ?? underlyingQueue ?? .global(qos: .utility),
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
        priority: Operation.QueuePriority = .normal,
        completion: @escaping @Sendable (repeat Result<(each R).Success, (each R).Failure>) -> Void
    ) -> OperationGroup {
        let operations =
            (repeat addRequest(each requests, session: session, dependencies: dependencies, priority: priority))
        var members: [any GroupMember] = []
        repeat members.append(each operations)
        let group = OperationGroup(
            of: members,
            completionQueue: completionQueue ?? underlyingQueue ?? .global(qos: .utility),
            completion: { completion(repeat (each operations).resultInGroup) }
        )
        enqueue(group, dependencies: [], priority: priority)
        return group
    }
}
