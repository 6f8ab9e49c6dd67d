// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that contains several others: it ends when all of them have ended, and may have a value.
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
/// A group is a queue: operations that are added to it become members, and run on the queue of the group, with its
/// limit, environment and transport. Members can be of any kind, groups included, and can be added from anywhere, also
/// by other members, until the group is over. It is over when its closure has returned and every member has its result.
/// An operation that is added later is cancelled.
///
/// It takes no place in its queue while it waits: it depends on its members, so the queue starts it when they are
/// finished, even a queue of width 1. Its completions are enqueued as soon as the last member has its result, behind
/// those of all members.
///
/// Cancelling the group cancels the members and the task of the closure. A member may be cancelled alone, and then
/// counts as failed. The effect of a failure on the others is chosen when the group is added.
// Sendable: Operation requires restating it; the only additions here are constants and one lock.
open class OperationGroup<Success: Sendable>: RequestOperation<GroupRequest<Success>>, RequestQueue, AdmittingQueue,
    @unchecked Sendable
{
    /// Whether the first failure of a member cancels the others, and becomes the failure of the group.
    public let failsFast: Bool

    /// The members.
    private let contents: GroupContents
    /// Keeps the group from starting until it is over.
    fileprivate let gate: OperationGate
    /// The value that the closure has returned.
    private let value = Locked<Success?>(nil)

    /// Makes a group without members, which isn't over until ``endBuilding()``.
    ///
    /// - Parameters:
    ///   - parent: The queue that runs the members.
    ///   - failsFast: Whether the first failure ends it.
    ///   - causes: The operations that must finish before it begins.
    ///   - categories: The categories in which it must be the only one, from its beginning to its end.
    ///   - priority: Its priority in a line and in the queue; `nil` is the usual one.
    ///   - name: The name of its type, for display.
    init(
        on parent: some RequestQueue,
        _ failsFast: Bool = false,
        behind causes: [Operation],
        _ categories: Set<RequestOptions.ExclusiveCategory>,
        _ priority: Operation.QueuePriority?,
        name: String = "OperationGroup<\(Success.self)>"
    ) {
        self.failsFast = failsFast
        gate = OperationGate(after: causes)
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
        addDependency(gate)
        if let priority { queuePriority = priority }
        enqueue(in: categories, after: causes + contents.gates, untilEnd: true)
        contents.set(observer(ExclusivityTicket.self))
    }

    fileprivate var state: Locked<GroupState> { contents.state }
    private var parent: (any RequestQueue)? { contents.parent }

    // MARK: A queue

    /// The members that aren't finished, in the order in which they were added.
    public final var operations: [Operation] { contents.operations }
    /// The underlying queue of the group's queue.
    public final let underlyingQueue: DispatchQueue?
    /// The transport of the group's queue.
    public final var transport: any HTTPTransport { parent?.requestTransport ?? DefaultTransport.shared }
    /// The environment of the group's queue.
    public final var environment: RequestEnvironment { parent?.environment ?? RequestEnvironment() }

    /// Adds an operation as a member, and to the queue of the group.
    ///
    /// An operation that waits for the group, or for a category that the group holds, can't be its member: it is
    /// refused with an error of code `dependencyCycle`. So is a group that would contain itself. An operation that is
    /// added when the group is over is cancelled, and one that is finished is ignored. The group releases its members
    /// by and by when they are finished, except plain operations, which it keeps to its end.
    ///
    /// - Complexity: O(1) as long as nothing depends on the group, else O(n) in the operation's dependencies that
    ///   aren't members. Releasing finished members, once they are the most, takes O(n) for each of them.
    public final func addOperation(_ operation: Operation) {
        if isNew(operation) { admit(operation) }
    }

    /// Whether an operation isn't finished, and never was a member.
    private func isNew(_ operation: Operation) -> Bool {
        !operation.isFinished && !contents.ids.contains(ObjectIdentifier(operation))
    }

    final func accept(_ operation: Operation) {
        guard isNew(operation) else { return }
        // A group that contains this one is on its queue already.
        guard !isWithin(operation) else { return operation.failOrCancel(with: cycle(of: operation)) }
        guard let parent = state.withLock({ $0.admit(operation) }) else { return refuseLate(operation) }
        let (members, gates) = (contents.ids, contents.gates)
        // First, while nothing depends on the operation: then there is nothing to walk.
        for gate in gates { operation.addDependency(gate) }
        // Neither behind a member that was there before nor behind a gate can be an operation that waits for the group.
        let isVerified = { known in
            known !== operation && (members.contains(ObjectIdentifier(known)) || gates.contains { $0 === known })
        }
        if let error = cycle(through: operation, skipping: isVerified) {
            operation.failOrCancel(with: error)
        } else if needsHeldCategory(operation) {
            operation.failOrCancel(with: cycle(of: operation))
        } else {
            addVerifiedDependency(operation)
        }
        (operation as? AsynchronousOperation)?.add(GroupMembership(of: operation, in: self))
        follow(operation)
        for progressObserver in contents.progressObservers { progressObserver.add(operation) }
        parent.pass(operation)
        for member in state.withLock({ $0.releaseFinished() }) { removeDependency(member) }
        if state.withLock({ $0.endAdmission() }) { gate.open() }
    }

    /// Whether an operation is this group, or a group that contains it.
    private func isWithin(_ operation: Operation) -> Bool {
        var next: AnyRequestOperation? = self
        while let group = next, group !== operation { next = group.observer(GroupMembership.self)?.group }
        return next != nil
    }

    /// Whether an operation would wait for a category that this group, or one that contains it, has or waits for.
    private func needsHeldCategory(_ operation: Operation) -> Bool {
        let tickets = contents.tickets
        guard !tickets.isEmpty, let operation = operation as? AsynchronousOperation,
            let ticket = operation.observer(ExclusivityTicket.self)
        else { return false }
        return tickets.contains(where: ticket.overlaps)
    }

    private func cycle(of member: Operation) -> RequestError { .dependencyCycle(of: member, through: [self]) }

    private func follow(_ operation: Operation) {
        let id = ObjectIdentifier(operation)
        // Weakly: otherwise a member that never gets a result would keep itself alive, and its completions are called
        // when it is deallocated.
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

    private func refuseLate(_ operation: Operation) {
        operation.failOrCancel(with: RequestError(.cancelled, phase: .waiting, reason: "its group is over"))
        operation.runOnSeparateQueue()
    }

    // MARK: Progress

    /// The common progress of the members that are requests, counted from the first call on.
    public final var memberProgress: QueueProgress {
        contents.progressObservers[0].progress { contents.nestedOperations }
    }

    /// The common progress of the members, as a sequence, which begins with the present value and ends with the group.
    public final func memberProgressUpdates() -> AsyncStream<QueueProgress> {
        contents.progressObservers[0].updates { contents.nestedOperations }
    }

    // MARK: The beginning

    /// Runs a closure as the task of the group, when its dependencies are finished; its value is that of the group.
    final func run<each Input: RequestDependency>(
        _ body: @escaping @Sendable (any RequestQueue, repeat (each Input).Value) async throws -> Success,
        after operations: repeat each Input
    ) {
        // Made here, for the task-locals of the caller.
        let task = RunExecutor.task { [operations = (repeat each operations)] in
            do {
                try await Suspension.wait { resume in
                    self.begin(after: self.awaited(repeat each operations), resume)
                    return {}
                }
                self.endBuilding(with: try await body(self, repeat (each operations).valueOfDependency()))
            } catch {
                // A cancelled task may end before the group has its own result.
                self.finish(throwing: self.isCancelled ? self.makeCancellation() : error)
            }
        }
        keep(task)
    }

    /// Does `work` when the group begins, which is when its dependencies are finished.
    final func begin(after causes: [Operation], _ work: (@Sendable () -> Void)? = nil) {
        guard work != nil || observer(EventEmitter.self) != nil else { return }
        let approach = BlockOperation { [weak self] in
            self?.report(.operationStarted)
            work?()
        }
        for cause in causes { approach.addDependency(cause) }
        for gate in contents.gates { approach.addDependency(gate) }
        approach.runOnSeparateQueue()
    }

    /// Records that the group's own members have been added.
    final func endBuilding() {
        if state.withLock({ $0.endBuilding() }) { conclude() }
    }

    /// Records that the group's own members have been added, and its value.
    final func endBuilding(with value: Success?) {
        self.value.withLock { $0 = value }
        endBuilding()
    }

    /// Stores the task of the group; a group that is over cancels it.
    final func keep(_ task: Task<Void, Never>) {
        if !state.withLock({ $0.keep(task) }) { task.cancel() }
    }

    // MARK: The end

    /// The value of the group, when all members have their results.
    ///
    /// - Throws: The failure of the group.
    func makeValue() throws -> Success {
        guard let value = value.withLock({ $0 }) else { throw makeCancellation() }
        return value
    }

    private func memberCompleted(_ id: ObjectIdentifier, _ failure: (any Error)?) {
        let isLast = state.withLock { $0.complete(id) }
        if failsFast, let failure { finish(throwing: failure) }
        if isLast { conclude() }
    }

    private func conclude() {
        // The last member may have been cancelled with the group, and completes within its `cancel`.
        finish(
            with: Result {
                guard !isCancelled else { throw makeCancellation() }
                return try makeValue()
            }
        )
    }

    /// Whether the group was cancelled; members that were cancelled alone don't count.
    public final override var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels all members that have no result yet, and the group.
    ///
    /// The completions are enqueued at once. The group is finished when its members are; other cancelled operations,
    /// which no longer wait for their dependencies, finish earlier.
    public final override func cancel() {
        // Without `super`, which would make the queue start the group before its members are finished.
        guard result == nil, !isFinished else { return }
        willChangeValue(forKey: Self.isCancelledKey)
        let rest = state.withLock { $0.cancel() }
        didChangeValue(forKey: Self.isCancelledKey)
        rest.cancel()
        finish(throwing: makeCancellation())
    }

    /// Does nothing: the members have done the work.
    public final override func execute() {}

    override func refuse(_ error: RequestError) {
        // It is over before its members are refused, which may be groups that were to contain it.
        let rest = state.withLock { $0.end() }
        rest.task?.cancel()
        for member in rest.members { member.failOrCancel(with: error) }
        finish(throwing: error)
        // As always, it finishes behind its members; but it waits for nothing else any more.
        let end = BlockOperation { [weak self] in self?.ignoreDependencies() }
        for member in operations { end.addDependency(member) }
        end.runOnSeparateQueue()
    }

    override var displayType: String { request?.typeName ?? super.displayType }
    override var displayRequest: String { displayType }
    override var hasMembers: Bool { true }

    private static var isCancelledKey: String { "isCancelled" }
}

/// Ends the members of a group with it.
private struct GroupHandling<Success: Sendable>: LocalHandling {
    let operation: OperationGroup<Success>

    // Normally nothing is left to cancel. Otherwise those members have their results before the group reports its own.
    func willDeliver(_ result: OperationCore.AnyResult?) {
        operation.state.withLock { $0.end() }.cancel()
    }

    func didDeliver() {
        if operation.state.withLock({ $0.isComplete }) { operation.gate.open() }
    }
}
