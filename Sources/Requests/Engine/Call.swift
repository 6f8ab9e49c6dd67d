// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One request, from the start of its operation to its result.
///
/// Read ``run(for:_:)`` first: it has all steps of every request, in their order. An operation runs one call; for
/// everything that depends on the type of the request, the call asks its operation.
///
/// A call is one task. It is cancelled when the operation has its result, from whatever source: then nothing is sent
/// any more, and the rest of the task has no effect. A transfer that is running at that moment keeps the operation from
/// finishing until it has ended.
final class Call: Sendable {
    /// The transport of the request.
    let transport: any HTTPTransport
    /// The settings that the request inherits.
    let environment: RequestEnvironment
    /// The work on whose behalf the call is made, if there is one.
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

    // MARK: The steps of a request

    /// Runs the request: conditions, then attempts until one succeeds or no other is allowed.
    ///
    /// The operation has its result when this returns, unless the consumer of a stream is still to make it.
    ///
    /// - Parameters:
    ///   - operation: The operation, which knows the type of the request.
    ///   - plan: The settings of the request and its environment.
    ///   - seat: The seat that shares the transfers of equal calls; `nil` if it has its own.
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
                    // A call whose operation has its result makes no decisions any more.
                    guard !isOver else { return }
                    attempt = try await attempt.next(after: error, to: sent, mayTryAgain: operation.mayTryAgain)
                }
            }
        } catch {
            operation.fail(error)
        }
    }

    // MARK: The task

    /// Stores the task of the call, to be cancelled with it.
    func keep(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    /// Stores the deadline of the operation, which replaces a former one.
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
        // Transfers of tasks that an interceptor has left behind aren't part of this one.
        if cancellingTransfers { for transmission in record.transmissions { transmission.cancel() } }
        // The error owns the content now. Later content would be no complete answer, so the cancellation comes first.
        if hasFailed { record.transmissions.last?.forgetContent() }
    }

    /// Whether the operation has a result.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The values that interceptors have stored for the call.
    var notes: InterceptorNotes {
        state.withLock { state in
            let notes = state.notes ?? InterceptorNotes()
            state.notes = notes
            return notes
        }
    }

    // MARK: The record

    /// The facts known so far, for results and for errors.
    var record: CallRecord { state.withLock { $0.record } }

    /// Changes the record, and releases the replaced values outside of the lock.
    func record(_ change: @Sendable (inout CallRecord) -> Void) {
        let former = state.withLock { state in
            let former = state.record
            change(&state.record)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// The failure of the operation, before the request converted it to its own type.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Records the failure of the operation; the first failure stays.
    func record(failure: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = failure } }
    }

    /// Adds a transfer that begins, and pauses or cancels it if the call is paused or over.
    ///
    /// Returns the progress and monitor feeds, if there are any, the number of the transfer for monitors, and whether
    /// it is the first one; `nil` if the call is over, and nothing is to be sent.
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

    /// Pauses all transfers of the call, also later ones, or resumes them.
    func setPaused(_ isPaused: Bool) {
        let transmissions = state.withLock { state in
            state.isPaused = isPaused
            return state.record.transmissions
        }
        for transmission in transmissions { transmission.flow.set(.user, isPaused) }
    }

    // MARK: Progress

    /// The feeds of the progress, if it is observed.
    var progress: ProgressFeeds? { state.withLock { $0.progress } }

    /// Sets the feeds of the progress, unless they are set, and returns the valid ones.
    func setProgress(_ new: ProgressFeeds, of operation: any TransferOwner) -> ProgressFeeds {
        let (feeds, transmission) = state.withLock { state in
            let feeds = state.progress ?? new
            state.progress = feeds
            return (feeds, state.record.transmissions.last)
        }
        // Adds the progress from before the observation.
        if feeds === new { transmission?.catchUp(feeds, of: operation) }
        return feeds
    }
}

extension Call {
    /// The feed of the monitors, if there are any.
    var feed: MonitorFeed? { state.withLock { $0.feed } }

    /// Sets the feed of the monitors, unless it is set, and returns the valid one, with the transfers that it doesn't
    /// know.
    func setFeed(_ new: MonitorFeed) -> (feed: MonitorFeed, untold: [(transmission: Transmission, number: Int)]) {
        state.withLock { state in
            if let feed = state.feed { return (feed, []) }
            state.feed = new
            return (new, state.record.ownTransmissions)
        }
    }
}

/// The variables of a running call, besides its record.
struct CallState: Sendable {
    /// The feed of the monitors; `nil` without monitors.
    var feed: MonitorFeed?
    /// The facts known so far.
    var record = CallRecord()
    /// The task that runs the call.
    var task: Task<Void, Never>?
    /// The deadline of the operation.
    var deadline: DelayedAction?
    /// Whether the transfers are paused.
    var isPaused = false
    /// The feeds of the progress; `nil` until it is observed.
    var progress: ProgressFeeds?
    /// The values that interceptors have stored; `nil` until one does.
    var notes: InterceptorNotes?
    /// Whether the operation has its result.
    var isOver = false
    /// The failure of the operation, before the request converted it to its own type.
    var failure: (any Error)?
}
