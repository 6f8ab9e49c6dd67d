// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A group of requests of one type, whose value is the array of their values.
///
/// ```swift
/// let users = queue.addGroup([GetUser(id: 1), GetUser(id: 2)]) { results in … }
/// let issues = queue.addGroup(after: repos) { $0.map(IssuesRequest.init) }
/// let all = try await issues.value()
/// ```
///
/// The ``RequestOperation/result`` contains the values in the order of the requests, or the failure of the first failed
/// request in that order. If the group fails fast, the result is the failure that happened first. The individual
/// results are in ``results``. Other operations that are added to the group delay its end, but don't contribute to its
/// value.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds only a lock.
open class RequestGroup<R: NetworkRequest>: OperationGroup<[R.Success]>, @unchecked Sendable {
    /// The results of the requests, in the same order.
    public typealias Results = [Result<R.Success, R.Failure>]

    private let memberOperations = Locked<[R.OperationType]?>(nil)

    /// The operations of the requests, in the same order; empty until the requests have been created.
    public final var members: [R.OperationType] { memberOperations.withLock { $0 } ?? [] }

    /// The results of the requests, in the same order; `nil` until every request has a result.
    ///
    /// The results are stored before the group is finished, and never change.
    ///
    /// - Complexity: O(n)
    public final var results: Results? {
        guard let operations = memberOperations.withLock({ $0 }) else { return nil }
        let results = operations.compactMap(\.result)
        return results.count == operations.count ? results : nil
    }

    /// The results of all requests as a dependency, even if some of them failed.
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
        after dependencies: [Operation],
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ priority: Operation.QueuePriority?
    ) {
        let name = "RequestGroup<\(R.shownTypeName)>"
        self.init(on: parent, failsFast, after: dependencies, categories, priority, name: name)
    }

    /// Adds the requests of the group as members.
    final func fill(
        with requests: [R],
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool,
        after dependencies: [Operation] = []
    ) {
        let operations = requests.map { add($0, session, priority, coalescing, after: dependencies) }
        memberOperations.withLock { $0 = operations }
    }

    /// Creates the requests from the results of other operations when the group begins, and adds them as members.
    final func begin<each Input: RequestDependency>(
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool,
        _ make: @escaping @Sendable (repeat (each Input).Value) throws -> [R],
        after operations: repeat each Input
    ) {
        let work = NestingContext.bindCurrent { [weak self, operations = (repeat each operations)] (_: Void) in
            guard let self, result == nil else { return }
            do {
                fill(with: try make(repeat (each operations).valueOfDependency()), session, priority, coalescing)
                endBuilding()
            } catch {
                finish(throwing: error)
            }
        }
        begin(after: awaitedOperations(repeat each operations)) { work(()) }
    }

    /// Adds a closure that is called once with the results of the members; call this method after adding all members.
    final func addResultsCompletion(on queue: DispatchQueue, _ body: @escaping @Sendable (Results) -> Void) {
        addCompletion(on: queue) { [members] _ in body(members.map(\.resultOrCancellation)) }
    }
}

extension RequestOperation {
    /// The result; a cancellation if the operation has none, and will never run because its group has ended.
    final var resultOrCancellation: Outcome {
        result ?? .failure(mapError(makeCancellation()))
    }
}

// MARK: - Grouping

extension RequestQueue {
    /// Runs requests of one type, with one completion for all of them.
    ///
    /// ```swift
    /// let group = queue.addGroup(ids.map(GetUser.init)) { results in
    ///     let users = results.compactMap { try? $0.get() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before any of the requests starts.
    ///   - priority: The priority of the requests in the queue.
    ///   - coalescing: Whether the requests share transfers of equal requests, as with `addRequest`.
    ///   - failingFast: Whether the first failure cancels the other requests; `false` by default.
    ///   - categories: The categories in which no other operation may run at the same time; see
    ///     ``RequestOptions/ExclusiveCategory``.
    ///   - completion: Receives the results, in the order of the requests. Called exactly once and always
    ///     asynchronously, even if some or all requests are cancelled. The completion is enqueued before any operation
    ///     that depends on the group starts. Unless the group fails fast, it is enqueued after the completions of the
    ///     members.
    /// - Returns: The group, which is an operation that finishes when all of its members have finished.
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
        let group = RequestGroup<R>(on: self, failingFast, after: dependencies, categories, priority)
        group.fill(with: requests, session, priority, coalescing, after: dependencies)
        if let completion { group.addResultsCompletion(on: queue(for: completionQueue), completion) }
        admit(group, after: dependencies)
        return group
    }

    /// Runs any number of requests that are created from the results of other operations.
    ///
    /// ```swift
    /// let user = queue.addRequest(UserRequest(name: "ada"))
    /// let repos = queue.addRequest(after: user) { ReposRequest(of: $0) }
    /// let issues = queue.addGroup(after: repos) { $0.map(IssuesRequest.init) }
    /// let summary = queue.addRequest(after: issues) { SummaryRequest($0) } completion: { … }
    /// ```
    ///
    /// If one of the operations failed or was cancelled, `make` isn't called, nothing is sent, and the group fails with
    /// the code `dependencyFailed`.
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed; at least one, on this queue or any other.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the requests in the queue.
    ///   - coalescing: Whether the requests share transfers of equal requests, as with `addRequest`.
    ///   - failingFast: Whether the first failure cancels the other requests; `false` by default.
    ///   - categories: The categories in which no other operation may run at the same time; see
    ///     ``RequestOptions/ExclusiveCategory``.
    ///   - make: Creates the requests from the values. An error that it throws is the failure of the group.
    ///   - completion: Receives the values in the order of the requests, or the failure of the group.
    /// - Returns: The group, which is an operation that finishes when all of its members have finished.
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
        let dependencies = awaitedOperations(repeat each operations)
        let group = RequestGroup<R>(on: self, failingFast, after: dependencies, categories, priority)
        if let completion { group.addCompletion(on: queue(for: completionQueue), completion) }
        group.begin(session, priority, coalescing, make, after: repeat each operations)
        admit(group)
        return group
    }

    /// Runs requests of several types, with one completion for all of them.
    ///
    /// ```swift
    /// queue.addRequests(GetUser(id: 1), GetSettings()) { user, settings in
    ///     show(try? user.get(), try? settings.get())
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - requests: The requests to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before any of the requests starts.
    ///   - priority: The priority of the requests in the queue.
    ///   - completion: Receives the results as separate arguments. Called exactly once, as with `addGroup`.
    /// - Returns: An operation that finishes when all of the requests have finished, and whose `cancel` cancels all of
    ///   them.
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
        let group = OperationGroup<Void>(on: self, after: dependencies, [], priority, name: "OperationGroup")
        let members = (repeat group.add(each requests, session, priority, after: dependencies))
        group.addCompletion(on: queue(for: completionQueue)) { _ in
            completion(repeat (each members).resultOrCancellation)
        }
        admit(group, after: dependencies, value: ())
        return group
    }

    /// Runs a group of operations of any kind, with a closure that adds them, waits for them and returns the group's
    /// value.
    ///
    /// ```swift
    /// let sync = queue.addOperationGroup(after: login) { group, token in
    ///     let changes = try await group.fetch(ChangesRequest(token: token))
    ///     for change in changes { group.addRequest(ApplyRequest(change, token: token)) }
    ///     return changes.count
    /// }
    /// ```
    ///
    /// The closure runs as a task when the given operations are finished, and doesn't occupy a slot of the queue. The
    /// group ends when the closure has returned and all members have their results. If the closure throws, the group
    /// ends with that error, and the members are cancelled. Cancelling the group cancels the task. A closure that waits
    /// for its own group never returns.
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed, on this queue or any other, if there are any. If one of
    ///     them failed, the closure isn't called, and the group fails with the code `dependencyFailed`.
    ///   - failingFast: Whether the first failure of a member ends the group and becomes its failure. `false`, the
    ///     default, leaves the decision to the closure.
    ///   - categories: The categories in which no other operation may run at the same time; see
    ///     ``RequestOptions/ExclusiveCategory``.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the group in the queue.
    ///   - body: Adds members to the group, which it receives as a queue, and returns the group's value.
    ///   - completion: Receives the value, or the failure of the group.
    /// - Returns: The group, on which other operations can depend.
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
        let dependencies = awaitedOperations(repeat each operations)
        let group = OperationGroup<Success>(on: self, failingFast, after: dependencies, categories, priority)
        if let completion { group.addCompletion(on: queue(for: completionQueue), completion) }
        group.run(body, after: repeat each operations)
        admit(group)
        return group
    }
}

extension RequestQueue {
    /// Adds a member with the settings of its group.
    func add<R: NetworkRequest>(
        _ request: R,
        _ session: (any HTTPTransport)?,
        _ priority: Operation.QueuePriority?,
        _ coalescing: Bool = false,
        after dependencies: [Operation]
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        return enqueue(operation, after: dependencies, priority)
    }

    /// Adds a group whose members have already been added to it.
    func admit<Success>(_ group: OperationGroup<Success>, after dependencies: [Operation], value: Success? = nil) {
        group.begin(after: dependencies)
        group.endBuilding(with: value)
        admit(group)
    }

    /// Returns the operation that each of the given dependencies waits for.
    func awaitedOperations<each Input: RequestDependency>(_ operations: repeat each Input) -> [Operation] {
        var awaitedOperations: [Operation] = []
        repeat awaitedOperations.append((each operations).awaitedOperation)
        return awaitedOperations
    }
}

// MARK: - Producing

extension AsynchronousOperation {
    /// Adds an operation to the group of this operation or, without a group, to the queue that runs it.
    ///
    /// ```swift
    /// override func execute() {
    ///     for page in pages { produce(PageOperation(page)) }
    ///     finish()
    /// }
    /// ```
    ///
    /// Call this method from ``execute()``, before ``finish()``, while the group can't end yet. Operations that depend
    /// on this operation don't wait for the operations that it produces, but operations that depend on the group do.
    /// Outside a group, the new operation runs on the same queue only if you call this method on the thread that called
    /// `execute`. If you call it on the main thread, the operation runs on the main queue; on any other thread, on an
    /// unlimited queue.
    public final func produce(_ operation: Operation) {
        let group = observer(GroupMembership.self)?.group
        if let group = group as? any RequestQueue { return group.admit(operation) }
        (OperationQueue.current ?? .unlimited).admit(operation)
    }
}
