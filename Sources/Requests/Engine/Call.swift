// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One request on its way, from the start of its operation to its result.
///
/// Read ``run(for:_:)`` first: it is everything that happens to every request, in its order. An operation runs one call;
/// whatever depends on the type of the request, the call asks its operation for.
///
/// A call is one task. It is cancelled when the operation has its result, by whatever: then nothing is sent any more, and
/// what the task still does has no effect. A transfer that is under way at that moment keeps the operation from
/// finishing until it has ended.
final class Call: Sendable {
    /// What is sent over.
    let transport: any HTTPTransport
    /// What the request inherits.
    let environment: RequestEnvironment
    /// The work that the call is made for, if it is made on behalf of another.
    let scope: CallScope?
    private let state: Locked<CallState>

    init(
        transport: any HTTPTransport,
        environment: RequestEnvironment,
        scope: CallScope?,
        feed: MonitorFeed?
    ) {
        self.transport = transport
        self.environment = environment
        self.scope = scope
        state = Locked(CallState(feed: feed))
    }

    // MARK: The way of a request

    /// Runs the request: conditions, then attempts until one of them succeeds or there is to be no other.
    ///
    /// The operation has its result when this returns, unless the consumer of a stream is still to make it.
    ///
    /// - Parameters:
    ///   - operation: What knows the type of the request.
    ///   - plan: What the request and its environment say.
    ///   - seat: What lets the call share the transfers of equal ones; nil if it has its own.
    func run(for operation: any CallOperation, _ plan: CallPlan, seat: CoalescingSeat?) async {
        var attempt = CallAttempt(1, of: self, for: operation, plan, seat: seat)
        do throws(CallFailure) {
            if attempt.isConditional { try await attempt.checkConditions() }
            while true {
                var sent: HTTPRequest?
                do throws(CallFailure) {
                    let request = try await attempt.makeRequest(of: operation)
                    sent = request
                    let answer = try await attempt.sendThroughChain(request)
                    guard !isOver else { return }
                    let response = try attempt.judge(answer, to: request)
                    return try await operation.conclude(response, of: request, in: attempt)
                } catch {
                    // A call whose operation has its result decides nothing any more.
                    guard !isOver else { return }
                    attempt = try await attempt.next(after: error, to: sent, mayTryAgain: operation.mayTryAgain)
                }
            }
        } catch {
            operation.fail(error)
        }
    }

    // MARK: The task

    /// Keeps the task of the call, to be cancelled with it.
    func keep(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Keeps what ends the operation after a while, in the place of what was kept before.
    func keep(_ deadline: DelayedAction?) {
        let former = state.withLock { state in
            guard !state.isOver else { return deadline }
            defer { state.deadline = deadline }
            return state.deadline
        }
        former?.cancel()
    }

    /// Ends the call, since its operation has a result.
    func end(cancellingTransfers: Bool = false) {
        let (task, deadline, hasFailed) = state.withLock { state in
            state.isOver = true
            defer { (state.task, state.deadline) = (nil, nil) }
            return (state.task, state.deadline, state.failure != nil)
        }
        deadline?.cancel()
        task?.cancel()
        // Those of tasks that an interceptor has left behind are no part of this one.
        if cancellingTransfers { for transmission in record.transmissions { transmission.cancel() } }
        // The content is the error's now. What still comes is no answer without it, so that the cancel goes before.
        if hasFailed { record.transmissions.last?.forgetContent() }
    }

    /// Whether the operation has a result.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// What interceptors remember about the call.
    var notes: InterceptorNotes {
        state.withLock { state in
            let notes = state.notes ?? InterceptorNotes()
            state.notes = notes
            return notes
        }
    }

    // MARK: What has happened

    /// What is known so far, for results and for errors.
    var record: CallRecord { state.withLock { $0.record } }

    /// Records what has happened, and releases what that replaces outside of the lock.
    func record(_ change: @Sendable (inout CallRecord) -> Void) {
        let former = state.withLock { state in
            let former = state.record
            change(&state.record)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// What the operation failed with, before the request made it an error of its own.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Records what the operation fails with; the first failure stays.
    func record(failure: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = failure } }
    }

    /// Adds a transfer that begins, and holds it back or cancels it if the call is paused or over.
    ///
    /// Gives what tells the progress and the monitors, if there are any, the number by which monitors know it, and whether
    /// it is the first transfer; nil if the call is over, and nothing is to be sent.
    func add(
        _ transmission: Transmission
    ) -> (progress: ProgressFeeds?, feed: MonitorFeed?, number: Int, isFirst: Bool)? {
        let (isPaused, isOver, former, result) = state.withLock { state in
            let former = state.record.add(transmission)
            let (number, isFirst) = (state.record.ownCount, state.record.count == 1)
            return (state.isPaused, state.isOver, former, (state.progress, state.feed, number, isFirst))
        }
        withExtendedLifetime(former) {}
        if isPaused { transmission.flow.set(.user, true) }
        // A result that came after the transfer had its permission didn't find it in the record.
        return isOver ? nil : result
    }

    // MARK: Pausing

    /// Holds back all transfers of the call, also those to come, or lets them continue.
    func setPaused(_ isPaused: Bool) {
        let transmissions = state.withLock { state in
            state.isPaused = isPaused
            return state.record.transmissions
        }
        for transmission in transmissions { transmission.flow.set(.user, isPaused) }
    }

    // MARK: Progress

    /// What tells the progress, if anybody has asked for it.
    var progress: ProgressFeeds? { state.withLock { $0.progress } }

    /// Sets what tells the progress, unless it is set, and returns what is.
    func setProgress(_ new: ProgressFeeds, of operation: any TransferOwner) -> ProgressFeeds {
        let (feeds, transmission) = state.withLock { state in
            let feeds = state.progress ?? new
            state.progress = feeds
            return (feeds, state.record.transmissions.last)
        }
        // What has happened before anybody asked.
        if feeds === new { transmission?.catchUp(feeds, of: operation) }
        return feeds
    }
}

extension Call {
    /// What tells the monitors, if there are any.
    var feed: MonitorFeed? { state.withLock { $0.feed } }

    /// Sets what tells the monitors, unless it is set, and returns what is, with the transfers that are unknown to it.
    func setFeed(_ new: MonitorFeed) -> (feed: MonitorFeed, untold: [(transmission: Transmission, number: Int)]) {
        state.withLock { state in
            if let feed = state.feed { return (feed, []) }
            state.feed = new
            return (new, state.record.ownTransmissions)
        }
    }
}

/// What changes while a call runs, besides what has happened.
struct CallState: Sendable {
    /// What tells the monitors; nil without any.
    var feed: MonitorFeed?
    /// What has happened.
    var record = CallRecord()
    /// The task that runs the call.
    var task: Task<Void, Never>?
    /// What ends the operation after a while.
    var deadline: DelayedAction?
    /// Whether the transfers are held back.
    var isPaused = false
    /// What tells the progress; nil until anybody asks.
    var progress: ProgressFeeds?
    /// What interceptors remember; nil until one does.
    var notes: InterceptorNotes?
    /// Whether the operation has its result.
    var isOver = false
    /// What the operation failed with, before the request made it an error of its own.
    var failure: (any Error)?
}
