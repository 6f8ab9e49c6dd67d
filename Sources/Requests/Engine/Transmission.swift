// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One transfer of a call: sends a request over the transport, and returns its answer when the content has ended.
///
/// The transport calls it, in the order of the transfer, one event at a time; it may be cancelled at any moment. The
/// end is reported once: the answer may be returned before it, if the call doesn't wait for the rest, but the operation
/// can't finish before it.
final class Transmission: Sendable {
    struct State: Sendable {
        var head: HTTPResponseHead?
        var metrics: Metrics
        /// The error of the transfer.
        var error: RequestError?
        var content = Data()
        /// The number of bytes of the body that were sent.
        var sent: Int64 = 0
        /// The byte count of the received content, once the transfer has ended.
        var received: Int64?
        /// The reason why the call doesn't want the rest.
        var failure: RequestError?
        /// Whether the rest of the content is dropped: it belongs to an error, which keeps only the beginning.
        var isCut = false
        /// The handling of the content of a followed redirect; `nil` for that of any other response.
        var passed: PassedContent?
        var isCancelled = false
        var isDelivered = false
        var receiver: (any ContentReceiver)?
        var waiter: UnsafeContinuation<HTTPResponse<ResponseContent>, any Error>?
        // `nil` after the end of the transfer: a response, which retains this object, may be kept for long.
        /// The attempt that the transfer belongs to.
        var owner: CallAttempt?
        var shared: CoalescedTransfer?
        var heads: HeadObserver?
        /// The feeds of the progress and of the events, if they are observed.
        var progress: ProgressFeeds?, feed: MonitorFeed?
        let time: Stopwatch
        /// Whether the call is known to have no other transfer.
        var isOnly: Bool

        /// Whether received content is wanted.
        var isWanted: Bool { owner != nil && !isCancelled && failure == nil && !isCut }
    }

    /// The request.
    let request: HTTPRequest
    /// The control that pauses the transfer.
    let flow = FlowControl()
    private let cause: Attempt.Cause
    private let limits: (head: Int, content: Int)
    /// Whether the content is collected in memory.
    let keepsContent: Bool
    /// Whether it is the transfer of several calls, which replaces the transport.
    let isShared: Bool
    let state: Locked<State>

    /// Makes a transfer.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - cause: The cause of the attempt.
    ///   - heads: Called with the head of the response.
    ///   - owner: The attempt that it is a part of.
    ///   - shared: The shared transfer that replaces the transport. It handles bandwidth and monitors itself.
    @inline(never)
    init(
        _ request: HTTPRequest,
        cause: Attempt.Cause,
        heads: HeadObserver?,
        for owner: CallAttempt,
        over shared: CoalescedTransfer? = nil
    ) {
        self.request = request
        self.cause = cause
        keepsContent = owner.operation.keepsContentInMemory
        isShared = shared != nil
        limits = (
            head: owner.options.maximumHeadSize ?? owner.environment.maximumHeadSize,
            content: keepsContent
                ? owner.options.maximumBodySize ?? owner.environment.maximumBodySize
                : owner.environment.maximumErrorBodySize
        )
        let time = Stopwatch(owner.environment.clock)
        // An interceptor may send several requests at once.
        let isOnly = owner.plan.interceptors.isEmpty
        state = Locked(
            State(metrics: Metrics(), owner: owner, shared: shared, heads: heads, time: time, isOnly: isOnly)
        )
    }

    /// Releases the content of a failed transfer, after it was copied to the error.
    func forgetContent() {
        let content = state.withLock { state in
            defer { state.content = Data() }
            return state.content
        }
        withExtendedLifetime(content) {}
    }

    var id: ObjectIdentifier { ObjectIdentifier(self) }
    private var feed: MonitorFeed? { state.withLock { $0.owner }?.call.feed }

    /// The head of the response, if it was received.
    var head: HTTPResponseHead? { state.withLock { $0.head } }
    /// The content so far, if it is in memory.
    var content: Data { state.withLock { $0.content } }

    /// Whether the content was delivered to a receiver other than memory.
    var isDelivered: Bool { state.withLock { $0.isDelivered } }

    // If only the end of the call can cancel the task, the call cancels the transfer itself, and the task needn't be
    // observed.
    /// Sends the request, and returns the answer when its content has ended.
    func answer(isShielded: Bool = false) async throws -> HTTPResponse<ResponseContent> {
        isShielded ? try await withUnsafeThrowingContinuation { start($0) } : try await cancellableAnswer()
    }

    @inline(never)
    private func cancellableAnswer() async throws -> HTTPResponse<ResponseContent> {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { start($0) }
        } onCancel: {
            cancel()
        }
    }

    // MARK: Send

    private func start(_ waiter: UnsafeContinuation<HTTPResponse<ResponseContent>, any Error>) {
        let (owner, isCancelled, shared) = state.withLock { state in
            if !state.isCancelled { state.waiter = waiter }
            return (state.owner, state.isCancelled, state.shared)
        }
        guard let owner, !isCancelled, owner.operation.beginTransfer() else {
            // The operation has its result, or the task is cancelled: then nothing is sent.
            let former = state.withLock { state in
                let former = state
                (state.owner, state.waiter, state.shared, state.heads) = (nil, nil, nil, nil)
                return former
            }
            waiter.resume(throwing: RequestError(.cancelled, phase: .sending))
            return withExtendedLifetime(former) {}
        }
        let call = owner.call
        guard let (progress, feed, number, isFirst) = call.add(self) else {
            return end(RequestError(.cancelled, phase: .sending), isConcurrent: false)
        }
        if progress != nil || feed != nil || !isFirst {
            state.withLock { state in
                // Another thread may have set either in the meantime.
                if let feed { state.feed = feed }
                if let progress { state.progress = progress }
                if !isFirst { state.isOnly = false }
            }
            progress?.sent.begin(total: request.body.length)
        }
        if !isShared, let feed { feed.reportBegin(of: attempt, as: id, number: number) }
        // The observers that were just notified may have cancelled it, and so may any other thread: a request that was
        // cancelled before this point is never sent.
        guard !state.withLock({ $0.isCancelled }), owner.operation.maySend else {
            return end(RequestError(.cancelled, phase: .sending), isConcurrent: false)
        }
        // Calls that share an answer are notified one after the other, and continue in parallel.
        let sink = EventSink(
            self,
            throttle: shared == nil ? call.environment.bandwidthLimiter.map { BandwidthThrottle($0, flow) } : nil,
            isConcurrent: shared == nil && call.transport.capabilities.contains(.concurrentDelivery)
        )
        if let shared { return flow.attach(shared.join(isPaused: flow.isHeld) { sink.report($0) }) }
        flow.attach(call.transport.send(outgoing(for: owner)) { sink.report($0) })
    }

    private func outgoing(for owner: CallAttempt) -> TransportRequest {
        var outgoing = TransportRequest(
            request,
            timeout: owner.timeout,
            maximumBodySize: limits.content,
            maximumHeadSize: limits.head,
            trust: owner.options.trust ?? owner.environment.trust
        )
        outgoing.usesCookies = owner.options.usesCookies && request.usesCookies
        outgoing.priority = owner.options.httpPriority.flatMap { $0.isNaN ? nil : min(max($0, 0), 1) }
        outgoing.configureTask = owner.options.configureTask
        outgoing.flow = flow
        outgoing.hasOwnLimit = owner.environment.hasOwnLimit || owner.environment.hostLimiter != nil
        if !keepsContent {
            outgoing.isStreamed = true
            outgoing.isOpenEnded = owner.operation.isOpenEnded
            outgoing.maximumBodySize = owner.options.maximumBodySize ?? .max
        }
        return outgoing
    }

    /// Cancels the transfer, also if it begins later; only the first call has an effect.
    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst { flow.cancel() }
    }

    // MARK: Receive

    func receive(_ event: TransferEvent, isConcurrent: Bool) {
        switch event {
        case .informational(let head): feed?.report(informational: head, to: id)
        case .sent(let count, let total):
            let progress = state.withLock { state in
                state.sent = count
                return state.owner == nil ? nil : state.progress
            }
            progress?.sent.reach(count, of: total)
        case .head(let head): receive(head)
        case .data(let data): receive(data)
        case .trailers(let fields): feed?.report(trailers: fields, to: id)
        case .metrics(let metrics): state.withLock { $0.metrics = metrics }
        case .end(let error): end(error, isConcurrent: isConcurrent)
        }
    }

    private func receive(_ head: HTTPResponseHead) {
        // Nothing of such a head is kept: neither its cookies nor its fields in the error.
        if let size = head.size, size > limits.head {
            let reason = "the head has more than \(limits.head) bytes"
            return stop(RequestError(.headTooLarge, phase: .receiving, reason: reason))
        }
        let wanted = state.withLock { state -> (CallAttempt?, HeadObserver?, ProgressFeeds?, MonitorFeed?) in
            guard state.isWanted else { return (nil, nil, nil, nil) }
            state.head = head
            state.metrics.firstByte = state.time.elapsed
            return (state.owner, state.heads, state.progress, state.feed)
        }
        guard case (let owner?, let heads, let progress, let feed) = wanted else { return }
        heads?.report(head)
        feed?.report(head, to: id)
        if isFollowed(head, for: owner) {
            passOver(head, of: owner)
        } else if !keepsContent {
            direct(head, of: owner)
        }
        if let progress { reportBegin(of: head, to: progress, of: owner.operation) }
    }

    /// Passes the content to a receiver other than memory, if the request wants the response.
    private func direct(_ head: HTTPResponseHead, of owner: CallAttempt) {
        let operation = owner.operation
        guard operation.claims(head) else { return }
        // A status that the request doesn't accept may concern the file, and has content of its own.
        let isOwn = !owner.options.validatesStatus || owner.plan.validStatusCodes.contains(head.status.code)
        guard !isOwn || owner.headRefusal(of: head, to: request) == nil else { return }
        do {
            let receiver = try operation.makeReceiver(for: head, to: request, flow: flow)
            state.withLock { ($0.receiver, $0.isDelivered) = (receiver, receiver != nil) }
        } catch {
            stop(RequestError(error))
        }
    }

    /// Whether a response is a redirect that is followed, whatever its content is.
    private func isFollowed(_ head: HTTPResponseHead, for owner: CallAttempt) -> Bool {
        head.status.category == .redirection
            && (owner.options.redirect ?? owner.environment.redirect).passesOver(contentOf: head)
    }

    private func passOver(_ head: HTTPResponseHead, of owner: CallAttempt) {
        let isLarge = request.method != .head && PassedContent.isLarge(head)
        let passed = PassedContent(on: isLarge ? nil : owner.environment.clock) { [self] in cut() }
        state.withLock { $0.passed = passed }
        if isLarge { cut() }
    }

    /// Drops the rest of the content.
    private func cut() {
        state.withLock { $0.isCut = true }
        flow.cancel()
    }

    private enum Reception: Sendable {
        case kept(Int)
        case passed(any ContentReceiver)
        case ignored, cut, tooLarge
    }

    private func receive(_ data: Data) {
        let (reception, progress) = state.withLock { state -> (Reception, ProgressFeeds?) in
            guard state.isWanted else { return (.ignored, nil) }
            if let receiver = state.receiver { return (.passed(receiver), state.progress) }
            let limit = state.passed == nil ? limits.content : PassedContent.limit
            let room = limit - state.content.count
            guard data.count > room else {
                if state.content.isEmpty { state.content = data } else { state.content.append(data) }
                return (.kept(state.content.count), state.progress)
            }
            guard !keepsContent || state.passed != nil else { return (.tooLarge, nil) }
            state.content.append(data.prefix(max(0, room)))
            return (.cut, nil)
        }
        switch reception {
        case .ignored: break
        case .kept(let count): progress?.received.reach(Int64(count))
        case .passed(let receiver):
            do {
                try receiver.receive(data)
                if let progress, let count = receiver.count { progress.received.reach(count) }
            } catch {
                stop(error)
            }
        case .cut: cut()
        case .tooLarge:
            let reason = "more than \(limits.content) bytes"
            stop(RequestError(.bodyTooLarge, phase: .receiving, reason: reason))
        }
    }

    /// Cancels the rest of the transfer, which then fails with the error.
    ///
    /// The failure is reported when the transfer has ended: only then its place at the host is free.
    private func stop(_ error: any Error) {
        let error = RequestError(error)
        let content = state.withLock { state in
            state.failure = error
            defer { state.content = Data() }
            return state.content
        }
        withExtendedLifetime(content) {}
        flow.cancel()
    }

    // MARK: End

    private func end(_ error: RequestError?, isConcurrent: Bool) {
        guard let ended = state.withLock({ $0.end(error, of: request) }) else { return }
        ended.passed?.timer?.cancel()
        ended.feed?.reportEnd(of: attempt, content: ended.receiver == nil ? ended.content : nil, as: id)
        ended.receiver?.end(ended.error)
        ended.owner.operation.endTransfer()
        guard let waiter = ended.waiter else { return }
        let answer: Result<HTTPResponse<ResponseContent>, any Error>
        if let error = ended.error {
            answer = .failure(error)
        } else if let head = ended.head {
            let content = ended.receiver.map { .delivered($0.count ?? 0) } ?? ResponseContent.data(ended.content)
            // For a single transfer, the call needn't be asked for the history.
            let history = ended.isOnly ? AttemptHistory(self) : ended.owner.call.record.history
            var response = HTTPResponse(head: head, body: content, history: history)
            response.isCut = ended.isCut
            answer = .success(response)
        } else {
            answer = .failure(RequestError(.badResponse, phase: .receiving, reason: "the response has no head"))
        }
        // A transport may end a transfer within its cancellation, which comes from within the task: the task must not
        // run here.
        if isConcurrent, !ended.isCancelled {
            CallExecutor.resuming { waiter.resume(with: answer) }
        } else {
            waiter.resume(with: answer)
        }
    }
}

extension Transmission: AttemptRecorder {
    /// The attempt of this transfer, with its response.
    var attempt: Attempt {
        let (head, error, metrics) = state.withLock { ($0.head, $0.error, $0.metrics) }
        return Attempt(cause: cause, request: request, response: head, error: error, metrics: metrics)
    }
}
