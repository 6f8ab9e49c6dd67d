// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A group of requests of one type, whose value consists of all their values.
///
/// ```swift
/// let users = queue.addGroup([GetUser(id: 1), GetUser(id: 2)]) { results in … }
/// let issues = queue.addGroup(after: repos) { $0.map(IssuesRequest.init) }
/// let all = try await issues.value()
/// ```
///
/// Its ``RequestOperation/result`` has the values in the order of the requests, or a failure: that of the first failed
/// request in their order, or, if the group fails fast, in time. The individual results are in ``results``. Other
/// operations that are added to the group delay its end, and don't contribute to its value.
// Sendable: Operation requires restating it; the only addition here is one lock.
open class RequestGroup<R: NetworkRequest>: OperationGroup<[R.Success]>, @unchecked Sendable {
    /// The result of each request, in their order.
    public typealias Results = [Result<R.Success, R.Failure>]

    private let made = Locked<[R.OperationType]?>(nil)

    /// The operations of the requests, in their order; empty until the requests are made.
    public final var members: [R.OperationType] { made.withLock { $0 } ?? [] }

    /// The result of each request, in their order; `nil` until all have one.
    ///
    /// They are stored before the group is finished, and never change.
    ///
    /// - Complexity: O(n)
    public final var results: Results? {
        guard let operations = made.withLock({ $0 }) else { return nil }
        let results = operations.compactMap(\.result)
        return results.count == operations.count ? results : nil
    }

    /// The result of each request, whether or not some have failed, for a request that is made from it.
    ///
    /// ```swift
    /// queue.addRequest(after: issues.outcomes) { results in ReportRequest(results.compactMap { try? $0.get() }) }
    /// ```
    public final var outcomes: some RequestDependency<Results> {
        ResultDependency(self) { group throws -> Results in
            guard let results = group.results else { return try group.valueOfDependency().map { .success($0) } }
            return results
        }
    }

    override func makeValue() throws -> [R.Success] {
        try members.map { try $0.resultOrCancellation.get() }
    }

    convenience init(
        on parent: some RequestQueue,
        _ failsFast: Bool,
        behind causes: [Operation],
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ priority: Operation.QueuePriority?
    ) {
        let name = "RequestGroup<\(R.shownTypeName)>"
        self.init(on: parent, failsFast, behind: causes, categories, priority, name: name)
    }

    /// Adds the requests of the group.
    final func fill(
        with requests: [R],
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool,
        behind dependencies: [Operation] = []
    ) {
        let operations = requests.map { add($0, session, priority, coalescing, behind: dependencies) }
        made.withLock { $0 = operations }
    }

    /// Adds the requests of the group, which are made from the results of other operations, when it begins.
    final func begin<each Input: RequestDependency>(
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool,
        _ make: @escaping @Sendable (repeat (each Input).Value) throws -> [R],
        after operations: repeat each Input
    ) {
        let work = NestingContext.carried { [weak self, operations = (repeat each operations)] (_: Void) in
            guard let self, result == nil else { return }
            do {
                fill(with: try make(repeat (each operations).valueOfDependency()), session, priority, coalescing)
                endBuilding()
            } catch {
                finish(throwing: error)
            }
        }
        begin(after: awaited(repeat each operations)) { work(()) }
    }

    /// Adds a closure that is called once with the results of the members, which have been added.
    final func addResultsCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Results) -> Void) {
        addCompletion(on: queue) { [members] _ in body(members.map(\.resultOrCancellation)) }
    }
}

extension RequestOperation {
    /// The result, for a group that is over; a cancellation, if an operation has no result and will never run.
    final var resultOrCancellation: Outcome {
        result ?? .failure(mapError(makeCancellation()))
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
    ///   - requests: The requests to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before any of the requests starts.
    ///   - priority: The priority of the requests in the queue.
    ///   - coalescing: Whether they join transfers of equal requests, as with `addRequest`.
    ///   - failingFast: Whether the first failure cancels the others; false, the default, lets them continue.
    ///   - categories: The categories in which the group must be the only one that runs; see ``RequestOptions/ExclusiveCategory``.
    ///   - completion: Receives the results, in the order of the requests. Called exactly once, always asynchronously,
    ///     also if some or all are cancelled. It is enqueued before any operation that depends on the group starts,
    ///     and, unless the group fails fast, behind the completions of the members.
    /// - Returns: The group: an operation that is finished when all of its members are.
    @discardableResult
    @_disfavoredOverload
    public func addGroup<R: NetworkRequest>(
        _ requests: [R],
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        completion: (@Sendable (RequestGroup<R>.Results) -> Void)? = nil
    ) -> RequestGroup<R> {
        let group = RequestGroup<R>(on: self, failingFast, behind: dependencies, categories, priority)
        group.fill(with: requests, session, priority, coalescing, behind: dependencies)
        if let completion { group.addResultsCompletion(on: queue(for: completionQueue), completion) }
        admit(group, after: dependencies)
        return group
    }

    /// Runs requests that are made from the results of other operations, in any number.
    ///
    /// ```swift
    /// let user = queue.addRequest(UserRequest(name: "ada"))
    /// let repos = queue.addRequest(after: user) { ReposRequest(of: $0) }
    /// let issues = queue.addGroup(after: repos) { $0.map(IssuesRequest.init) }
    /// let summary = queue.addRequest(after: issues) { SummaryRequest($0) } completion: { … }
    /// ```
    ///
    /// If one of the operations failed or was cancelled, no request is made, nothing is sent, and the group fails with
    /// an error of code `dependencyFailed`.
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed; one or several, on this queue or any other.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the requests in the queue.
    ///   - coalescing: Whether they join transfers of equal requests, as with `addRequest`.
    ///   - failingFast: Whether the first failure cancels the others; false, the default, lets them continue.
    ///   - categories: The categories in which the group must be the only one that runs; see ``RequestOptions/ExclusiveCategory``.
    ///   - make: Makes the requests from the values. An error that it throws is the failure of the group.
    ///   - completion: Receives the values in the order of the requests, or the failure of the group.
    /// - Returns: The group: an operation that is finished when all of its members are.
    @discardableResult
    @_disfavoredOverload
    public func addGroup<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> [R],
        completion: (@Sendable (Result<[R.Success], any Error>) -> Void)? = nil
    ) -> RequestGroup<R> {
        let causes = awaited(repeat each operations)
        let group = RequestGroup<R>(on: self, failingFast, behind: causes, categories, priority)
        if let completion { group.addCompletion(on: queue(for: completionQueue), completion) }
        group.begin(session, priority, coalescing, make, after: repeat each operations)
        admit(group)
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
    ///   - requests: The requests to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before any of the requests starts.
    ///   - priority: The priority of the requests in the queue.
    ///   - completion: Receives the results, one each. Called exactly once, as with `addGroup`.
    /// - Returns: An operation that is finished when all of them are, and whose `cancel` cancels all.
    @discardableResult
    @_disfavoredOverload
    public func addRequests<each R: NetworkRequest>(
        _ requests: repeat each R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        completion: @escaping @Sendable (repeat Result<(each R).Success, (each R).Failure>) -> Void
    ) -> OperationGroup<Void> {
        let group = OperationGroup<Void>(on: self, behind: dependencies, [], priority, name: "OperationGroup")
        let members = (repeat group.add(each requests, session, priority, behind: dependencies))
        group.addCompletion(on: queue(for: completionQueue)) { _ in completion(repeat (each members).resultOrCancellation) }
        admit(group, after: dependencies, value: ())
        return group
    }

    /// Runs a group of operations of any kind; a closure adds them, waits for them and makes a value of them.
    ///
    /// ```swift
    /// let sync = queue.addOperationGroup(after: login) { group, token in
    ///     let changes = try await group.fetch(ChangesRequest(token: token))
    ///     for change in changes { group.addRequest(ApplyRequest(change, token: token)) }
    ///     return changes.count
    /// }
    /// ```
    ///
    /// The closure runs as a task when the given operations are finished, and takes no place in the queue. The group is
    /// over when the closure has returned and all members have their results. An error that it throws ends the group,
    /// and cancels the members. Cancelling the group cancels the task. A closure that waits for its own group never
    /// ends.
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed, on this queue or any other; none or several. If one
    ///     failed, the closure isn't called, and the group fails with an error of code `dependencyFailed`.
    ///   - failingFast: Whether the first failure of a member ends the group, and is its own; false, the default,
    ///     leaves that to the closure.
    ///   - categories: The categories in which the group must be the only one that runs; see ``RequestOptions/ExclusiveCategory``.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the group in the queue.
    ///   - body: Adds members to the group, which it gets as a queue, and makes its value.
    ///   - completion: Receives the value, or the failure of the group.
    /// - Returns: The group, on which others can depend.
    @discardableResult
    @_disfavoredOverload
    public func addOperationGroup<each Input: RequestDependency, Success: Sendable>(
        after operations: repeat each Input,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        body: @escaping @Sendable (any RequestQueue, repeat (each Input).Value) async throws -> Success,
        completion: (@Sendable (Result<Success, any Error>) -> Void)? = nil
    ) -> OperationGroup<Success> {
        let causes = awaited(repeat each operations)
        let group = OperationGroup<Success>(on: self, failingFast, behind: causes, categories, priority)
        if let completion { group.addCompletion(on: queue(for: completionQueue), completion) }
        group.run(body, after: repeat each operations)
        admit(group)
        return group
    }
}

extension RequestQueue {
    /// Adds a member, with the settings of its group.
    func add<R: NetworkRequest>(
        _ request: R,
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool = false,
        behind dependencies: [Operation]
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        return enqueue(operation, behind: dependencies, priority)
    }

    /// Adds a group that has its members.
    func admit<Success>(_ group: OperationGroup<Success>, after dependencies: [Operation], value: Success? = nil) {
        group.begin(after: dependencies)
        group.endBuilding(with: value)
        admit(group)
    }

    /// The operations that others are made from.
    func awaited<each Input: RequestDependency>(_ operations: repeat each Input) -> [Operation] {
        var awaited: [Operation] = []
        repeat awaited.append((each operations).awaitedOperation)
        return awaited
    }
}

// MARK: - Producing

extension AsynchronousOperation {
    /// Adds an operation to the group of this one, or else to the queue that runs it.
    ///
    /// ```swift
    /// override func execute() {
    ///     for page in pages { produce(PageOperation(page)) }
    ///     finish()
    /// }
    /// ```
    ///
    /// Call it from ``execute()``, before ``finish()``: then the group isn't over. Dependents of this operation don't
    /// wait for the operations that it produces, but dependents of the group do. Outside a group, and on other threads
    /// than the one that called `execute`, the operation runs on a queue without a limit; on the main thread, on the
    /// main queue.
    public final func produce(_ operation: Operation) {
        let group = observer(GroupMembership.self)?.group
        if let group = group as? any RequestQueue { return group.admit(operation) }
        (OperationQueue.current ?? .unlimited).admit(operation)
    }
}
