// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transfer that several operations share, sent by a separate operation that continues the run of the first
/// operation.
///
/// Each waiting operation has its own ``Transfer``, which uses this object as its transport. No matter when the
/// operation joins, its transfer receives all events from the beginning, and processes them independently. The shared
/// operation is paused while all waiting transfers are paused, and has the highest priority of the waiting operations.
final class SharedTransfer: HTTPTransport {
    /// A transfer that waits for the events.
    private struct Member: Sendable {
        let receive: @Sendable (TransferEvent) -> Void
        /// The number of events that the member has received.
        var deliveredEventCount = 0
        var isReceiving = false
        var isPaused = false
        var isCancelled = false
        /// Whether the member has received the end event.
        var isOver = false
    }

    /// An event for a member.
    private struct Delivery: Sendable {
        let event: TransferEvent
        let member: Member
    }

    private struct State: Sendable {
        /// Creates the shared operation when the first transfer joins.
        var makeOperation: OperationFactory?
        var operation: SubrequestOperation?
        /// The events so far.
        var events: [TransferEvent] = []
        var members: [Int: Member] = [:]
        var lastID = 0
        /// The waiting operations, whose highest priority is the priority of the shared operation.
        var waitingOperations: [ObjectIdentifier: AnyRequestOperation] = [:]
        var pauseFlag = LatestFlag()
        var isCancelled = false
        /// Whether a member has already been chosen to store the response.
        var isStored = false

        /// Returns the next event for a member; `nil` if there is none yet, or if another thread is delivering to the
        /// member.
        mutating func next(for id: Int) -> Delivery? {
            guard var member = members[id], !member.isReceiving else { return nil }
            let event: TransferEvent
            if member.isCancelled {
                event = .end(RequestError(.cancelled, phase: .receiving))
            } else {
                guard !member.isPaused, member.deliveredEventCount < events.count else { return nil }
                event = events[member.deliveredEventCount]
                member.deliveredEventCount += 1
            }
            member.isReceiving = true
            if case .end = event { member.isOver = true }
            members[id] = member
            return Delivery(event: event, member: member)
        }

        /// Records that a member has received an event, and removes the member after the last event.
        mutating func didDeliver(to id: Int) {
            members[id]?.isReceiving = false
            if members[id]?.isOver == true { members[id] = nil }
        }

        /// Returns whether to pause or resume the operation; `nil` if nothing must change, or if another thread is
        /// changing it.
        mutating func nextPause() -> (operation: SubrequestOperation, isPaused: Bool)? {
            guard let operation else { return nil }
            return pauseFlag.next(!members.isEmpty && members.values.allSatisfy(\.isPaused)).map { (operation, $0) }
        }
    }

    /// Creates the shared operation; the `urgency` closure returns the operation's priority.
    private typealias OperationFactory = @Sendable (_ urgency: @escaping @Sendable () -> Int) -> SubrequestOperation

    /// The number of the attempt that created the transfer.
    let attemptNumber: Int
    /// The retry policy of that attempt.
    let retry: RetryPolicy
    /// The description of the shared operation for monitors; `nil` without monitors.
    private let monitorInfo: OperationEvent.Info?
    private let onEnd: @Sendable (SharedTransfer) -> Void
    private let state = Locked(State())

    /// Creates a transfer that begins when the first operation waits for it.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: The rest of the chain.
    ///   - attempt: The attempt that needs the transfer first.
    ///   - limits: The maximum sizes of the response.
    ///   - onEnd: Called when the transfer has ended, before the waiting operations are notified.
    init(
        _ request: HTTPRequest,
        through next: InterceptorChain,
        for attempt: Attempt,
        _ limits: ResponseLimits,
        onEnd: @escaping @Sendable (SharedTransfer) -> Void
    ) {
        attemptNumber = attempt.countedAttempts
        retry = attempt.configuration.retry
        monitorInfo = attempt.operation.monitorInfo?.another()
        self.onEnd = onEnd
        let configuration = RunConfiguration(continuing: attempt.configuration, through: Array(next.remaining), limits)
        let (transport, monitorInfo) = (attempt.operation.ownTransport, monitorInfo)
        state.withLock { state in
            state.makeOperation = {
                SubrequestOperation(request, configuration, over: transport, as: monitorInfo, urgency: $0)
            }
        }
    }

    private func begin(_ makeOperation: OperationFactory) {
        // The operation and the state retain each other until the operation ends. A transfer that never begins has no
        // operation.
        let operation = makeOperation { [state] in
            state.withLock { Array($0.waitingOperations.values) }.map(\.urgency).max() ?? 0
        }
        operation.add(self)
        operation.addResultHandler(
            .call { [self, unowned operation] in end(operation, with: SubrequestOperation.unboxed($0)) }
        )
        // Use another thread so that the task inherits nothing from the operation that needs the transfer first.
        operation.startOnAnotherThread()
        let isCancelled = state.withLock { state in
            state.operation = operation
            return state.isCancelled
        }
        if isCancelled { operation.cancel() }
        operation.start()
    }

    private func end(_ operation: SubrequestOperation, with outcome: SubrequestOperation.Outcome) {
        onEnd(self)
        let record = operation.record
        let (content, error): (Data, RequestError?) =
            switch outcome {
            case .success(let response): (response.body, nil)
            // The error of the transfer doesn't name the shared operation's request, because each waiting operation has
            // its own request.
            case .failure(let error): (record.content, record.last?.record.error ?? error)
            }
        var events: [TransferEvent] = content.isEmpty ? [] : [.data(content)]
        if let metrics = record.transferRecords.last?.metrics { events.append(.metrics(metrics)) }
        state.withLock { $0.operation = nil }
        appendEvents(events + [.end(error)])
    }

    /// Cancels the transfer, because no operation needs it any longer.
    func cancel() {
        let operation = state.withLock { state in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
    }

    // MARK: Waiting operations

    /// Waits for the shared transfer, and returns its response for one attempt.
    func response(
        to request: HTTPRequest,
        for attempt: Attempt,
        at next: InterceptorChain
    ) async throws -> RawResponse {
        let id = ObjectIdentifier(attempt.operation)
        state.withLock { $0.waitingOperations[id] = attempt.operation }
        defer {
            let previous = state.withLock { $0.waitingOperations.removeValue(forKey: id) }
            withExtendedLifetime(previous) {}
        }
        if let monitorInfo { attempt.operation.report(.operationJoined(monitorInfo)) }
        let transfer = Transfer(
            request,
            because: next.cause,
            headObserver: next.headObserver,
            for: attempt,
            isShared: true
        )
        var response = try await transfer.response(over: self, for: attempt)
        // Only one of the operations stores the response.
        response.notes.isStoredElsewhere = state.withLock { state in
            defer { state.isStored = true }
            return state.isStored
        }
        return response
    }

    /// No capabilities, because the members are notified one after the other.
    var capabilities: TransportCapabilities { [] }

    /// Adds a transfer, which receives the events from the beginning; the first transfer starts the shared operation.
    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let (id, makeOperation) = state.withLock { state in
            state.lastID += 1
            state.members[state.lastID] = Member(receive: receive)
            defer { state.makeOperation = nil }
            return (state.lastID, state.makeOperation)
        }
        let membership = Membership(transfer: self, id: id)
        // Attach the handle before delivering events, because a paused transfer must receive none until it is resumed.
        request.flow?.attach(membership)
        if let makeOperation { begin(makeOperation) }
        updatePause()
        deliverPendingEvents(id)
        return membership
    }

    private func appendEvents(_ events: [TransferEvent]) {
        let members = state.withLock { state in
            state.events += events
            return state.members.keys.sorted()
        }
        for id in members { deliverPendingEvents(id) }
    }

    /// Delivers the pending events to a member.
    private func deliverPendingEvents(_ id: Int) {
        var isOver = false
        state.drain(
            next: { $0.next(for: id) },
            completed: { $0.didDeliver(to: id) },
            perform: { delivery in
                delivery.member.receive(delivery.event)
                isOver = delivery.member.isOver
            }
        )
        if isOver { updatePause() }
    }

    /// Pauses or resumes the shared operation, and repeats if another thread has changed the state.
    private func updatePause() {
        state.drain(
            next: { $0.nextPause() },
            completed: { $0.pauseFlag.didEmit() },
            perform: { operation, isPaused in operation.setPaused(isPaused) }
        )
    }

    private func update(_ id: Int, _ update: @Sendable (inout Member) -> Void) {
        state.withLock { state in
            guard var member = state.members[id] else { return }
            update(&member)
            state.members[id] = member
        }
        updatePause()
        deliverPendingEvents(id)
    }

    private final class Membership: TransferHandle {
        private let transfer: SharedTransfer
        private let id: Int

        init(transfer: SharedTransfer, id: Int) {
            self.transfer = transfer
            self.id = id
        }

        func cancel() { transfer.update(id) { $0.isCancelled = true } }
        func pause() { transfer.update(id) { $0.isPaused = true } }
        func resume() { transfer.update(id) { $0.isPaused = false } }
    }
}

extension SharedTransfer: OperationObserver {
    func observe(_ event: OperationEvent) {
        if case .responseStarted(let head, _) = event { appendEvents([.head(head)]) }
    }
}
