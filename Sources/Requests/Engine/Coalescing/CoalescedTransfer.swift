// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transfer that several calls wait for: a call of its own, which runs through the rest of the chain once.
///
/// Each call gets the events of the transfer from the beginning, whenever it joins, and processes them independently.
/// The transfer is paused while all of them are, and has the highest of their priorities.
final class CoalescedTransfer: Sendable {
    /// A waiting call.
    fileprivate struct Member: Sendable {
        let receive: @Sendable (TransferEvent) -> Void
        /// The number of events that it has received.
        var told = 0
        var isBeingTold = false
        var isPaused = false
        var isCancelled = false
    }

    private struct State: Sendable {
        /// Begins the transfer; `nil` when it has begun.
        var begin: (@Sendable () -> Void)?
        /// The events so far.
        var story: [TransferEvent] = []
        var members: [Int: Member] = [:]
        var lastID = 0
        /// The attempts that the members belong to.
        var owners: [ObjectIdentifier: any ContextSource] = [:]
        var isPaused = false
        var isSettlingPause = false
        /// Whether one of the members was asked to store the answer.
        var isStored = false

        /// Returns the next event for a member; `nil` if it has to wait, or if another thread reports to it.
        mutating func next(for id: Int) -> (event: TransferEvent, receive: @Sendable (TransferEvent) -> Void)? {
            guard var member = members[id], !member.isBeingTold else { return nil }
            member.isBeingTold = true
            if member.isCancelled {
                members[id] = member
                return (.end(RequestError(.cancelled, phase: .receiving)), member.receive)
            }
            guard !member.isPaused, member.told < story.count else { return nil }
            member.told += 1
            members[id] = member
            return (story[member.told - 1], member.receive)
        }

        /// Returns whether the call is to be paused or resumed; `nil` if neither, or if another thread does that.
        mutating func nextPause() -> Bool? {
            let wish = !members.isEmpty && members.values.allSatisfy(\.isPaused)
            guard !isSettlingPause, wish != isPaused else { return nil }
            (isPaused, isSettlingPause) = (wish, true)
            return wish
        }
    }

    /// The number of the attempt that needed it.
    let attempt: Int
    /// The retry policy of that attempt.
    let retry: RetryPolicy
    let requestIdentifier: String
    let sender: Sender
    private let call: Call
    private let plan: CallPlan
    private let state = Locked(State())

    /// Makes a transfer, which begins with the first call that waits for it.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: The rest of the chain.
    ///   - attempt: The attempt that needs it first.
    ///   - limits: The maximum sizes of the answer.
    ///   - ended: Called when it has ended, before any waiting call is notified of that.
    init(
        _ request: HTTPRequest,
        through next: Next,
        for attempt: CallAttempt,
        _ limits: CoalescingLimits,
        ended: @escaping @Sendable (CoalescedTransfer) -> Void
    ) {
        self.attempt = attempt.spent
        retry = attempt.policy
        plan = CallPlan(attempt.plan, limits)
        requestIdentifier = attempt.identifier
        sender = attempt.operation.sender
        let feed = attempt.call.feed.map {
            MonitorFeed(attempt.environment.monitors, operation: $0.operation.another())
        }
        call = Call(
            transport: attempt.call.transport,
            environment: attempt.environment,
            scope: nil,
            feed: feed
        )
        let begin: @Sendable () -> Void = { [unowned self] in self.begin(request, through: next, ended) }
        state.withLock { $0.begin = begin }
    }

    /// Its operation for monitors; `nil` without monitors.
    var monitored: MonitoredOperation? { call.feed?.operation }

    private func begin(
        _ request: HTTPRequest,
        through next: Next,
        _ ended: @escaping @Sendable (CoalescedTransfer) -> Void
    ) {
        call.feed?.report(.operationCreated)
        call.feed?.report(.operationStarted)
        let next = next.carried(by: CallAttempt(1, of: call, for: self, plan))
        CallExecutor.resuming {
            call.keep(
                CallExecutor.detachedTask { [self] in
                    let answer: Result<HTTPResponse<ResponseContent>, any Error>
                    do {
                        answer = .success(try await next(request) { [weak self] in self?.tell([.head($0)]) })
                    } catch {
                        answer = .failure(error)
                    }
                    ended(self)
                    end(answer)
                }
            )
        }
    }

    private func end(_ answer: Result<HTTPResponse<ResponseContent>, any Error>) {
        let (content, error): (Data, RequestError?) =
            switch answer {
            case .success(let response): (response.body.data ?? Data(), nil)
            case .failure(let error): (call.record.content, RequestError(error))
            }
        call.feed?.report(.operationEnded(error.map { MonitoredOutcome($0) } ?? .success))
        var events: [TransferEvent] = content.isEmpty ? [] : [.data(content)]
        if let metrics = call.record.attempts.last?.metrics { events.append(.metrics(metrics)) }
        call.end()
        tell(events + [.end(error)])
    }

    /// Cancels it, because no call needs it any more.
    func cancel() {
        call.end(cancellingTransfers: true)
    }

    // MARK: Waiting calls

    /// Adds a waiting attempt.
    func add(_ owner: any ContextSource) {
        state.withLock { $0.owners[ObjectIdentifier(owner)] = owner }
    }

    /// Removes a waiting attempt.
    func remove(_ owner: any ContextSource) {
        let former = state.withLock { $0.owners.removeValue(forKey: ObjectIdentifier(owner)) }
        withExtendedLifetime(former) {}
    }

    /// Whether the caller is the one that stores the answer; true once.
    func takeStoring() -> Bool {
        state.withLock { state in
            defer { state.isStored = true }
            return !state.isStored
        }
    }

    private func tell(_ events: [TransferEvent]) {
        let members = state.withLock { state in
            state.story += events
            return state.members.keys.sorted()
        }
        for id in members { advance(id) }
    }

    /// Reports outstanding events to a member.
    private func advance(_ id: Int) {
        while let (event, receive) = state.withLock({ $0.next(for: id) }) {
            receive(event)
            let isOver = if case .end = event { true } else { false }
            let former = state.withLock { state in
                state.members[id]?.isBeingTold = false
                return isOver ? state.members.removeValue(forKey: id) : nil
            }
            if isOver { withExtendedLifetime(former) { settlePause() } }
        }
    }

    fileprivate func change(_ id: Int, _ change: @Sendable (inout Member) -> Void) {
        state.withLock { state in
            if state.members[id] != nil { change(&state.members[id, default: Member { _ in }]) }
        }
        settlePause()
        advance(id)
    }

    private func settlePause() {
        while let isPaused = state.withLock({ $0.nextPause() }) {
            call.setPaused(isPaused)
            state.withLock { $0.isSettlingPause = false }
        }
    }

    /// Adds a call that receives the events from the beginning; the first one begins the transfer.
    ///
    /// - Parameters:
    ///   - isPaused: Whether it receives nothing until the transfer is resumed.
    ///   - receive: Receives the events as from a transport.
    /// - Returns: A transfer with which the call leaves, or is paused.
    func join(isPaused: Bool, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        let (id, begin) = state.withLock { state in
            state.lastID += 1
            state.members[state.lastID] = Member(receive: receive, isPaused: isPaused)
            defer { state.begin = nil }
            return (state.lastID, state.begin)
        }
        begin?()
        settlePause()
        advance(id)
        return Membership(transfer: self, id: id)
    }

    private final class Membership: TransferHandle {
        private let transfer: CoalescedTransfer
        private let id: Int

        init(transfer: CoalescedTransfer, id: Int) {
            self.transfer = transfer
            self.id = id
        }

        func cancel() { transfer.change(id) { $0.isCancelled = true } }
        func pause() { transfer.change(id) { $0.isPaused = true } }
        func resume() { transfer.change(id) { $0.isPaused = false } }
    }
}

extension CoalescedTransfer: TransferOwner {
    var keepsContentInMemory: Bool { true }
    var isOpenEnded: Bool { false }
    var urgency: Int { state.withLock { Array($0.owners.values) }.map(\.urgency).max() ?? 0 }

    func beginTransfer() -> Bool { maySend }
    var maySend: Bool { !call.isOver }
    func endTransfer() {}
    func claims(_ head: HTTPResponseHead) -> Bool { true }
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) -> (any ContentReceiver)? { nil }
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview { .usual }
}
