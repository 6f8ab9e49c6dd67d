// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that contains other operations, and ends when all of them have ended. It may have a value.
///
/// ```swift
/// let crawl = queue.addOperationGroup { group in
///     let index = try await group.fetch(IndexRequest())
///     for page in index.pages { group.addRequest(PageRequest(page)) { … } }
///     return index.title
/// }
/// let title = try await crawl.value()
/// ```
///
/// A group is a queue: operations that are added to it become members. They run on the queue of the group, with its
/// limit, environment and transport. Members can be of any kind, including groups. Until the group has ended, any code
/// can add members, including other members. The group ends when its closure has returned and every member has its
/// result. An operation that is added later is cancelled.
///
/// While the group waits for its members, it doesn't occupy a slot of its queue. The group depends on its members, so
/// the queue starts it only when they are finished, even if the queue runs one operation at a time. The group's
/// completions are enqueued as soon as the last member has its result, after the completions of all members.
///
/// Cancelling the group cancels the members and the task of the closure. A member that is cancelled individually counts
/// as failed. How a failure affects the other members is chosen when the group is added.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds only constants and a lock.
open class OperationGroup<Success: Sendable>: RequestOperation<GroupRequest<Success>>, RequestQueue, AdmittingQueue,
    @unchecked Sendable
{
    /// Whether the first failure of a member cancels the other members, and becomes the failure of the group.
    public let failsFast: Bool

    private let contents: GroupContents
    /// The gate that delays the start of the group's operation until the group has ended.
    fileprivate let completionGate: OperationGate
    /// The value that the closure has returned; `nil` before that.
    private let value = Locked<Success?>(nil)

    /// Creates a group without members, which can't end before ``endBuilding()``.
    ///
    /// - Parameters:
    ///   - parent: The queue that runs the members.
    ///   - failsFast: Whether the first failure of a member ends the group.
    ///   - dependencies: The operations that must finish before the group begins.
    ///   - categories: The exclusive categories that the group holds from its beginning to its end.
    ///   - priority: The priority in the queues of the categories and in the operation queue; `nil` for the normal
    ///     priority.
    ///   - name: The name of the group's type, for display.
    init(
        on parent: some RequestQueue,
        _ failsFast: Bool = false,
        after dependencies: [Operation],
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ priority: Operation.QueuePriority?,
        name: String = "OperationGroup<\(Success.self)>"
    ) {
        self.failsFast = failsFast
        completionGate = OperationGate(after: dependencies)
        contents = GroupContents(on: parent)
        underlyingQueue = parent.underlyingQueue.asOptional
        super.init(
            source: .value(GroupRequest(typeName: name)),
            .withoutRequest,
            over: nil,
            scope: nil,
            GroupHandling<Success>.self
        )
        add(contents)
        EventEmitter.attach(to: self, parent.environment.monitors) { OperationEvent.Info(requestType: name) }
        addDependency(completionGate)
        if let priority { queuePriority = priority }
        enqueue(in: categories, after: dependencies + contents.gates, untilEnd: true)
        contents.set(observer(ExclusivityTicket.self))
    }

    fileprivate var state: Locked<GroupState> { contents.state }
    private var parentQueue: (any RequestQueue)? { contents.parentQueue }

    // MARK: A queue

    /// The unfinished members, in the order in which they were added.
    public final var operations: [Operation] { contents.operations }
    /// The underlying queue of the queue that runs the members.
    public final let underlyingQueue: DispatchQueue?
    /// The transport of the queue that runs the members.
    public final var transport: any HTTPTransport { parentQueue?.requestTransport ?? DefaultTransport.shared }
    /// The environment of the queue that runs the members.
    public final var environment: RequestEnvironment { parentQueue?.environment ?? RequestEnvironment() }

    /// Adds an operation as a member, and to the queue of the group.
    ///
    /// An operation can't become a member if it waits for the group, or for an exclusive category that the group holds.
    /// It then fails with the code `dependencyCycle`, and so does a group that would contain itself. An operation that
    /// is added after the group has ended is cancelled, and a finished operation is ignored. The group gradually
    /// releases finished members, except plain operations, which it keeps until it has ended.
    ///
    /// - Complexity: O(1) as long as nothing depends on the group; otherwise O(n) in the operation's dependencies that
    ///   aren't members. Once most members are finished, releasing them takes O(n) for each of them.
    public final func addOperation(_ operation: Operation) {
        if isNew(operation) { admit(operation) }
    }

    /// Returns whether an operation is unfinished and has never been a member.
    private func isNew(_ operation: Operation) -> Bool {
        !operation.isFinished && !contents.memberIDs.contains(ObjectIdentifier(operation))
    }

    final func accept(_ operation: Operation) {
        guard isNew(operation) else { return }
        // A group that contains this group is already on its queue.
        guard !isWithin(operation) else { return operation.failOrCancel(with: cycle(of: operation)) }
        guard let parentQueue = state.withLock({ $0.admit(operation) }) else { return rejectLate(operation) }
        let (members, gates) = (contents.memberIDs, contents.gates)
        // Add the dependencies on the gates first, because while nothing depends on the operation, they need no cycle
        // check.
        for gate in gates { operation.addDependency(gate) }
        // Existing members and gates can't depend on this group, so the cycle check skips them.
        let isVerified = { candidate in
            candidate !== operation
                && (members.contains(ObjectIdentifier(candidate)) || gates.contains { $0 === candidate })
        }
        if let error = cycle(through: operation, skipping: isVerified) {
            operation.failOrCancel(with: error)
        } else if needsHeldCategory(operation) {
            operation.failOrCancel(with: cycle(of: operation))
        } else {
            addVerifiedDependency(operation)
        }
        (operation as? AsynchronousOperation)?.add(GroupMembership(of: operation, in: self))
        observeMember(operation)
        for progressObserver in contents.progressObservers { progressObserver.add(operation) }
        parentQueue.forward(operation)
        for member in state.withLock({ $0.releaseFinished() }) { removeDependency(member) }
        if state.withLock({ $0.endAdmission() }) { completionGate.open() }
    }

    /// Returns whether an operation is this group or one of its enclosing groups.
    private func isWithin(_ operation: Operation) -> Bool {
        var next: AnyRequestOperation? = self
        while let group = next, group !== operation { next = group.observer(GroupMembership.self)?.group }
        return next != nil
    }

    /// Returns whether an operation needs an exclusive category that this group, or one of its enclosing groups, holds
    /// or is queued for.
    private func needsHeldCategory(_ operation: Operation) -> Bool {
        let tickets = contents.tickets
        guard !tickets.isEmpty, let operation = operation as? AsynchronousOperation,
            let ticket = operation.observer(ExclusivityTicket.self)
        else { return false }
        return tickets.contains(where: ticket.overlaps)
    }

    private func cycle(of member: Operation) -> RequestError { .dependencyCycle(of: member, through: [self]) }

    private func observeMember(_ operation: Operation) {
        let id = ObjectIdentifier(operation)
        // The closure refers to the group weakly. Otherwise, a member that never runs would keep itself alive through
        // the group, and never call its completions, because it does so only when it is deallocated.
        if let member = operation as? AnyRequestOperation {
            let type = type(of: member)
            member.addResultHandler(.call { [weak self] in self?.memberCompleted(id, type.failure(in: $0)) })
        } else {
            let end = BlockOperation { [weak self] in
                self?.memberCompleted(id, nil)
                operation.removeDependencies()
            }
            end.addDependency(operation)
            end.runOnSeparateQueue()
        }
    }

    private func rejectLate(_ operation: Operation) {
        operation.failOrCancel(
            with: RequestError(.cancelled, phase: .waiting, reason: "its group has already finished")
        )
        operation.runOnSeparateQueue()
    }

    // MARK: Progress

    /// The combined progress of the members that are requests, counted from the first call.
    public final var memberProgress: QueueProgress {
        contents.progressObservers[0].progress { contents.nestedOperations }
    }

    /// Returns the combined progress of the members as a sequence, which begins with the current value and ends with
    /// the group.
    public final func memberProgressUpdates() -> AsyncStream<QueueProgress> {
        contents.progressObservers[0].updates { contents.nestedOperations }
    }

    // MARK: The beginning

    /// Runs a closure as the group's task when the dependencies are finished; the closure's value becomes the group's
    /// value.
    final func run<each Input: RequestDependency>(
        _ body: @escaping @Sendable (any RequestQueue, repeat (each Input).Value) async throws -> Success,
        after operations: repeat each Input
    ) {
        // Create the task here, so that it inherits the task-local values of the caller.
        let task = RunExecutor.task { [operations = (repeat each operations)] in
            do {
                try await Suspension.wait { resume in
                    self.begin(after: self.awaitedOperations(repeat each operations), resume)
                    return {}
                }
                self.endBuilding(with: try await body(self, repeat (each operations).valueOfDependency()))
            } catch {
                // The task of a cancelled group may end before the group has a result, so report the cancellation here.
                self.finish(throwing: self.isCancelled ? self.makeCancellation() : error)
            }
        }
        store(task)
    }

    /// Calls `work` when the group begins, that is, when its dependencies are finished.
    final func begin(after dependencies: [Operation], _ work: (@Sendable () -> Void)? = nil) {
        guard work != nil || observer(EventEmitter.self) != nil else { return }
        let beginning = BlockOperation { [weak self] in
            self?.report(.operationStarted)
            work?()
        }
        for dependency in dependencies { beginning.addDependency(dependency) }
        for gate in contents.gates { beginning.addDependency(gate) }
        beginning.runOnSeparateQueue()
    }

    /// Records that the group's initial members have been added.
    final func endBuilding() {
        if state.withLock({ $0.endBuilding() }) { conclude() }
    }

    /// Records that the group's initial members have been added, and stores the value of the group.
    final func endBuilding(with value: Success?) {
        self.value.withLock { $0 = value }
        endBuilding()
    }

    /// Stores the task of the group; if the group has already ended, cancels the task.
    final func store(_ task: Task<Void, Never>) {
        if !state.withLock({ $0.store(task) }) { task.cancel() }
    }

    // MARK: The end

    /// Returns the value of the group, once all members have their results.
    ///
    /// - Throws: The failure of the group.
    func makeValue() throws -> Success {
        guard let value = value.withLock({ $0 }) else { throw makeCancellation() }
        return value
    }

    private func memberCompleted(_ id: ObjectIdentifier, _ failure: (any Error)?) {
        let isLast = state.withLock { $0.memberCompleted(id) }
        if failsFast, let failure { finish(throwing: failure) }
        if isLast { conclude() }
    }

    private func conclude() {
        // The group may already be cancelled here, because cancelling it can complete its last member.
        finish(
            with: Result {
                guard !isCancelled else { throw makeCancellation() }
                return try makeValue()
            }
        )
    }

    /// Whether the group was cancelled; members that were cancelled individually don't count.
    public final override var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the group and all members that have no result yet.
    ///
    /// The completions are enqueued immediately, but the group finishes only when its members have finished. Other
    /// operations finish earlier after a cancellation, because they no longer wait for their dependencies.
    public final override func cancel() {
        // `super` isn't called because it would make the queue start the group before its members are finished.
        guard result == nil, !isFinished else { return }
        willChangeValue(forKey: Self.isCancelledKey)
        let pending = state.withLock { $0.cancel() }
        didChangeValue(forKey: Self.isCancelledKey)
        pending.cancel()
        finish(throwing: makeCancellation())
    }

    /// Does nothing, because the members have done the work.
    public final override func execute() {}

    override func refuse(_ error: RequestError) {
        // End the group before its members are refused, because a member may itself be a group that would contain this
        // group.
        let pending = state.withLock { $0.end() }
        pending.task?.cancel()
        for member in pending.members { member.failOrCancel(with: error) }
        finish(throwing: error)
        // The group finishes after its members, as always, but no longer waits for anything else.
        let end = BlockOperation { [weak self] in self?.ignoreDependencies() }
        for member in operations { end.addDependency(member) }
        end.runOnSeparateQueue()
    }

    override var displayType: String { request?.typeName ?? super.displayType }
    override var displayRequest: String { displayType }
    override var hasMembers: Bool { true }

    private static var isCancelledKey: String { "isCancelled" }
}

/// The response handling of a group, which cancels the remaining members when the group has its result.
private struct GroupHandling<Success: Sendable>: LocalHandling {
    let operation: OperationGroup<Success>

    // Usually no member is left. Any remaining member gets its result before the group reports its own.
    func willDeliver(_ result: OperationCore.AnyResult?) {
        operation.state.withLock { $0.end() }.cancel()
    }

    func didDeliver() {
        if operation.state.withLock({ $0.isComplete }) { operation.completionGate.open() }
    }
}
