// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transfer that several operations wait for: an operation of its own, which continues the run of the first one.
///
/// For the transfers of the waiting operations it is the transport. Each gets the events from the beginning, whenever
/// it joins, and processes them independently. The shared operation is paused while all of them are, and has the
/// highest of their priorities.
final class SharedTransfer: HTTPTransport {
    /// A waiting transfer.
    private struct Member: Sendable {
        let receive: @Sendable (TransferEvent) -> Void
        /// The number of events that it has received.
        var deliveredEventCount = 0
        var isReceiving = false
        var isPaused = false
        var isCancelled = false
        /// Whether it has received the end.
        var isOver = false
    }

    /// An event for a member.
    private struct Delivery: Sendable {
        let event: TransferEvent
        let member: Member
    }

    private struct State: Sendable {
        /// Makes the shared operation, when the first transfer joins.
        var make: Make?
        var operation: SubrequestOperation?
        /// The events so far.
        var events: [TransferEvent] = []
        var members: [Int: Member] = [:]
        var lastID = 0
        /// The operations that wait, for their priorities.
        var waiting: [ObjectIdentifier: AnyRequestOperation] = [:]
        var pauses = LatestFlag()
        var isCancelled = false
        /// Whether one of the members was asked to store the answer.
        var isStored = false

        /// Returns the next event for a member; `nil` if it has to wait, or if another thread reports to it.
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

        /// Records that a member has received an event; the last one ends its membership.
        mutating func didDeliver(to id: Int) {
            members[id]?.isReceiving = false
            if members[id]?.isOver == true { members[id] = nil }
        }

        /// Returns whether the operation is to be paused or resumed; `nil` if neither, or if another thread does that.
        mutating func nextPause() -> (operation: SubrequestOperation, isPaused: Bool)? {
            guard let operation else { return nil }
            return pauses.next(!members.isEmpty && members.values.allSatisfy(\.isPaused)).map { (operation, $0) }
        }
    }

    /// Makes the shared operation; the closure returns its priority.
    private typealias Make = @Sendable (_ urgency: @escaping @Sendable () -> Int) -> SubrequestOperation

    /// The number of the attempt that needed it.
    let number: Int
    /// The retry policy of that attempt.
    let retry: RetryPolicy
    /// The shared operation for monitors; `nil` without monitors.
    private let monitorInfo: OperationEvent.Info?
    private let ended: @Sendable (SharedTransfer) -> Void
    private let state = Locked(State())

    /// Makes a transfer, which begins with the first operation that waits for it.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: The rest of the chain.
    ///   - attempt: The attempt that needs it first.
    ///   - limits: The maximum sizes of the answer.
    ///   - ended: Called when it has ended, before any waiting operation is notified of that.
    init(
        _ request: HTTPRequest,
        behind next: InterceptorChain,
        for attempt: Attempt,
        _ limits: ResponseLimits,
        ended: @escaping @Sendable (SharedTransfer) -> Void
    ) {
        number = attempt.countedAttempts
        retry = attempt.configuration.retry
        monitorInfo = attempt.operation.monitorInfo?.another()
        self.ended = ended
        let configuration = RunConfiguration(continuing: attempt.configuration, through: Array(next.remaining), limits)
        let (transport, monitorInfo) = (attempt.operation.ownTransport, monitorInfo)
        state.withLock { state in
            state.make = { SubrequestOperation(request, configuration, over: transport, as: monitorInfo, urgency: $0) }
        }
    }

    private func begin(_ make: Make) {
        // The operation and the state retain each other until it ends. A transfer that never begins has no end.
        let operation = make { [state] in state.withLock { Array($0.waiting.values) }.map(\.urgency).max() ?? 0 }
        operation.add(self)
        operation.addResultHandler(
            .call { [self, unowned operation] in end(operation, with: SubrequestOperation.unboxed($0)) }
        )
        // On a thread of its own: its task must inherit nothing from the operation that needs it first.
        operation.startOnAnotherThread()
        let isCancelled = state.withLock { state in
            state.operation = operation
            return state.isCancelled
        }
        if isCancelled { operation.cancel() }
        operation.start()
    }

    private func end(_ operation: SubrequestOperation, with outcome: SubrequestOperation.Outcome) {
        ended(self)
        let record = operation.record
        let (content, error): (Data, RequestError?) =
            switch outcome {
            case .success(let response): (response.body, nil)
            // Without the request of the operation that has sent it: each has its own.
            case .failure(let error): (record.content, record.last?.record.error ?? error)
            }
        var events: [TransferEvent] = content.isEmpty ? [] : [.data(content)]
        if let metrics = record.transferRecords.last?.metrics { events.append(.metrics(metrics)) }
        state.withLock { $0.operation = nil }
        tell(events + [.end(error)])
    }

    /// Cancels it, because no operation needs it any more.
    func cancel() {
        let operation = state.withLock { state in
            state.isCancelled = true
            return state.operation
        }
        operation?.cancel()
    }

    // MARK: Waiting operations

    /// Waits for the transfer, as a part of an attempt.
    func response(to request: HTTPRequest, for attempt: Attempt, at next: InterceptorChain) async throws -> RawResponse {
        let id = ObjectIdentifier(attempt.operation)
        state.withLock { $0.waiting[id] = attempt.operation }
        defer {
            let previous = state.withLock { $0.waiting.removeValue(forKey: id) }
            withExtendedLifetime(previous) {}
        }
        if let monitorInfo { attempt.operation.report(.operationJoined(monitorInfo)) }
        let transfer = Transfer(request, because: next.cause, headObserver: next.headObserver, for: attempt, isShared: true)
        var answer = try await transfer.response(over: self, for: attempt)
        // One of the operations stores the answer.
        answer.notes.isStoredElsewhere = state.withLock { state in
            defer { state.isStored = true }
            return state.isStored
        }
        return answer
    }

    /// None: the members are notified one after the other.
    var capabilities: TransportCapabilities { [] }

    /// Adds a transfer, which receives the events from the beginning; the first one begins the shared operation.
    func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let (id, make) = state.withLock { state in
            state.lastID += 1
            state.members[state.lastID] = Member(receive: receive)
            defer { state.make = nil }
            return (state.lastID, state.make)
        }
        let membership = Membership(transfer: self, id: id)
        // A paused transfer receives nothing until it is resumed.
        request.flow?.attach(membership)
        if let make { begin(make) }
        updatePause()
        advance(id)
        return membership
    }

    private func tell(_ events: [TransferEvent]) {
        let members = state.withLock { state in
            state.events += events
            return state.members.keys.sorted()
        }
        for id in members { advance(id) }
    }

    /// Reports outstanding events to a member.
    private func advance(_ id: Int) {
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

    /// Pauses or resumes the shared operation, until it has the latest value.
    private func updatePause() {
        state.drain(
            next: { $0.nextPause() },
            completed: { $0.pauses.didEmit() },
            perform: { operation, isPaused in operation.setPaused(isPaused) }
        )
    }

    private func change(_ id: Int, _ change: @Sendable (inout Member) -> Void) {
        state.withLock { state in
            guard var member = state.members[id] else { return }
            change(&member)
            state.members[id] = member
        }
        updatePause()
        advance(id)
    }

    private final class Membership: TransferHandle {
        private let transfer: SharedTransfer
        private let id: Int

        init(transfer: SharedTransfer, id: Int) {
            self.transfer = transfer
            self.id = id
        }

        func cancel() { transfer.change(id) { $0.isCancelled = true } }
        func pause() { transfer.change(id) { $0.isPaused = true } }
        func resume() { transfer.change(id) { $0.isPaused = false } }
    }
}

extension SharedTransfer: OperationObserver {
    func observe(_ event: OperationEvent) {
        if case .responseStarted(let head, _) = event { tell([.head(head)]) }
    }
}
