// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One transfer of a call: sends a request over the transport, and returns its answer when the content has ended.
///
/// The transport calls it, in the order of the transfer, one event at a time; a cancel may come at any moment. The end is
/// told once: the answer may be there before it, where the call doesn't wait for the rest, but the operation can't finish
/// before it.
final class Transmission: Sendable {
    private struct State: Sendable {
        var attempt: Attempt
        var content = Data()
        /// The number of bytes of the body that were sent.
        var sent: Int64 = 0
        /// The number of bytes of the content that came, once the transfer has ended.
        var received: Int64?
        /// Why the call doesn't want the rest.
        var failure: RequestError?
        /// Whether the rest of the content is left out: it belongs to an error, which keeps only the beginning.
        var isCut = false
        var isCancelled = false
        var isDelivered = false
        var receiver: (any ContentReceiver)?
        var waiter: UnsafeContinuation<HTTPResponse<ResponseContent>, any Error>?
        /// What the transfer is for; nil when it has ended.
        var owner: CallAttempt?
        var time: Stopwatch
    }

    /// What holds the transfer back.
    let flow = FlowControl()
    private let shared: CoalescedTransfer?
    private let heads: HeadObserver?
    private let limits: (head: Int, content: Int)
    private let state: Locked<State>

    /// Makes a transfer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - cause: Why.
    ///   - heads: What is called with the head of the response.
    ///   - owner: The attempt that it is a part of.
    ///   - shared: What takes the place of the transport. Bandwidth and monitors are its own concern.
    init(
        _ request: HTTPRequest,
        cause: Attempt.Cause,
        heads: HeadObserver?,
        for owner: CallAttempt,
        over shared: CoalescedTransfer? = nil
    ) {
        let (options, environment) = (owner.options, owner.environment)
        let attempt = Attempt(cause: cause, request: request, metrics: Metrics())
        self.heads = heads
        self.shared = shared
        limits = (
            head: options.maximumHeaderSize ?? environment.maximumHeaderSize,
            content: owner.operation.keepsContentInMemory
                ? options.maximumBodySize ?? environment.maximumBodySize
                : environment.maximumErrorBodySize
        )
        state = Locked(State(attempt: attempt, owner: owner, time: Stopwatch(environment.clock)))
    }

    /// Releases the content of a transfer that has failed, when it is in the error.
    func forgetContent() {
        let content = state.withLock { state in
            defer { state.content = Data() }
            return state.content
        }
        withExtendedLifetime(content) {}
    }

    private var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// What was sent, and what has come of it.
    var attempt: Attempt { state.withLock { $0.attempt } }
    /// The content so far, as far as it is in memory.
    var content: Data { state.withLock { $0.content } }

    /// Whether something else than memory has taken the content.
    var isDelivered: Bool { state.withLock { $0.isDelivered } }

    /// Sends the request, and returns the answer when its content has ended.
    func answer() async throws -> HTTPResponse<ResponseContent> {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { start($0) }
        } onCancel: {
            cancel()
        }
    }

    // MARK: Send

    private func start(_ waiter: UnsafeContinuation<HTTPResponse<ResponseContent>, any Error>) {
        let (owner, isCancelled) = state.withLock { ($0.owner, $0.isCancelled) }
        guard let owner, !isCancelled, owner.operation.beginTransfer() else {
            // The operation has its result, or the task is cancelled: then nothing is sent.
            let owner = state.withLock { state in
                defer { state.owner = nil }
                return state.owner
            }
            waiter.resume(throwing: RequestError(.cancelled, phase: .sending))
            return withExtendedLifetime(owner) {}
        }
        state.withLock { $0.waiter = waiter }
        let request = attempt.request
        let call = owner.call
        call.add(self)
        if shared == nil { call.feed?.reportBegin(of: attempt, as: id) }
        call.progress?.sent.begin(total: request.body.length)
        let limiter = shared == nil ? call.environment.bandwidthLimiter : nil
        let throttle = limiter.map { BandwidthThrottle($0, flow) }
        // Those that share an answer are told one after the other, and continue beside each other.
        let isConcurrent = shared == nil && call.transport.capabilities.contains(.concurrentDelivery)
        let sink = EventSink(flow) { [self] event in
            throttle?.note(event)
            receive(event, isConcurrent: isConcurrent)
        }
        if let shared { return flow.attach(shared.join(isPaused: flow.isHeld) { sink.report($0) }) }
        let transfer = call.transport.send(outgoing(request, for: owner)) { sink.report($0) }
        flow.attach(transfer)
    }

    private func outgoing(_ request: HTTPRequest, for owner: CallAttempt) -> TransportRequest {
        let (options, environment) = (owner.options, owner.environment)
        var outgoing = TransportRequest(
            request,
            timeout: options.timeout ?? environment.timeout,
            maximumBodySize: limits.content,
            maximumHeadSize: limits.head,
            trust: options.trust ?? environment.trust
        )
        outgoing.usesCookies = options.usesCookies
        outgoing.flow = flow
        if !owner.operation.keepsContentInMemory {
            outgoing.isStreamed = true
            outgoing.maximumBodySize = options.maximumBodySize ?? .max
        }
        return outgoing
    }

    /// Cancels the transfer, also one that is yet to begin; only the first call has an effect.
    func cancel() {
        let isFirst = state.withLock { state in
            defer { state.isCancelled = true }
            return !state.isCancelled
        }
        if isFirst { flow.cancel() }
    }

    // MARK: Receive

    private func receive(_ event: TransferEvent, isConcurrent: Bool) {
        switch event {
        case .informational: break
        case .sent(let count, let total):
            let owner = state.withLock { state in
                state.sent = count
                return state.owner
            }
            owner?.call.progress?.sent.reach(count, of: total)
        case .head(let head): receive(head)
        case .data(let data): receive(data)
        case .metrics(let metrics): state.withLock { $0.attempt.metrics = metrics }
        case .end(let error): end(error, isConcurrent: isConcurrent)
        }
    }

    private func receive(_ head: HTTPResponseHead) {
        // Nothing of such a head is kept: neither its cookies nor its fields in the error.
        if let size = head.size, size > limits.head {
            let reason = "the head has more than \(limits.head) bytes"
            return stop(RequestError(.headTooLarge, phase: .receiving, reason: reason))
        }
        let (owner, request) = state.withLock { state -> (CallAttempt?, HTTPRequest?) in
            guard !state.isCancelled, state.failure == nil else { return (nil, nil) }
            state.attempt.response = head
            state.attempt.metrics?.firstByte = state.time.elapsed
            return (state.owner, state.attempt.request)
        }
        guard let owner, let request else { return }
        heads?.report(head)
        owner.call.feed?.report(head, to: id)
        if !owner.operation.keepsContentInMemory { direct(head, to: request, of: owner) }
        if let progress = owner.call.progress { reportBegin(of: head, to: progress, of: owner.operation) }
    }

    /// Has something else than memory take the content, if the response is one that the request wants.
    private func direct(_ head: HTTPResponseHead, to request: HTTPRequest, of owner: CallAttempt) {
        let operation = owner.operation
        guard operation.claims(head) else { return }
        // A status that is none of the request's own says something about the file, and comes with a content of its own.
        let isOwn = !owner.options.validatesStatus || operation.validStatusCodes.contains(head.status.code)
        guard !isOwn || owner.headRefusal(of: head, to: request) == nil else { return }
        do {
            let receiver = try operation.makeReceiver(for: head, to: request, flow: flow)
            state.withLock { ($0.receiver, $0.isDelivered) = (receiver, receiver != nil) }
        } catch {
            stop(RequestError(error))
        }
    }

    private enum Reception: Sendable {
        case kept(Int)
        case passed(any ContentReceiver)
        case ignored
        case cut
        case tooLarge
    }

    private func receive(_ data: Data) {
        let (reception, progress) = state.withLock { state -> (Reception, ProgressFeeds?) in
            guard let owner = state.owner, !state.isCancelled, state.failure == nil, !state.isCut else {
                return (.ignored, nil)
            }
            let progress = owner.call.progress
            if let receiver = state.receiver { return (.passed(receiver), progress) }
            let room = limits.content - state.content.count
            guard data.count > room else {
                if state.content.isEmpty { state.content = data } else { state.content.append(data) }
                return (.kept(state.content.count), progress)
            }
            guard !owner.operation.keepsContentInMemory else { return (.tooLarge, nil) }
            state.content.append(data.prefix(max(0, room)))
            state.isCut = true
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
        case .cut: flow.cancel()
        case .tooLarge:
            let reason = "more than \(limits.content) bytes"
            stop(RequestError(.bodyTooLarge, phase: .receiving, reason: reason))
        }
    }

    /// Cancels the rest of the transfer, which then fails with the error.
    ///
    /// Its failure is known when the transfer has ended: its place at the host is free only then.
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
        let (ended, owner) = state.withLock { state in
            // What came behind a cancel was left out: then the rest is no answer.
            let cancelled = state.isCancelled ? RequestError(.cancelled, phase: .receiving) : nil
            let error = state.isCut ? nil : state.failure ?? error ?? cancelled
            state.attempt.end(error, after: state.time.elapsed)
            let ended = state
            state.received = state.receiver.map { $0.count } ?? Int64(state.content.count)
            // The content is the answer's now, or else that of the error.
            if error == nil { state.content = Data() }
            (state.owner, state.waiter, state.receiver) = (nil, nil, nil)
            return (ended, ended.owner)
        }
        guard let owner else { return }
        owner.call.feed?.reportEnd(of: ended.attempt, as: id)
        ended.receiver?.end(ended.attempt.error)
        owner.operation.endTransfer()
        guard let waiter = ended.waiter else { return }
        let answer: Result<HTTPResponse<ResponseContent>, any Error>
        if let error = ended.attempt.error {
            answer = .failure(error)
        } else if let head = ended.attempt.response {
            let content = ended.receiver.map { .delivered($0.count ?? 0) } ?? ResponseContent.data(ended.content)
            answer = .success(HTTPResponse(head: head, body: content, attempts: owner.call.record.attempts))
        } else {
            answer = .failure(RequestError(.badResponse, phase: .receiving, reason: "the response has no head"))
        }
        // A transport may end a transfer within its cancel, which comes from within the task: that isn't to run here.
        if isConcurrent, !ended.isCancelled {
            CallExecutor.resuming { waiter.resume(with: answer) }
        } else {
            waiter.resume(with: answer)
        }
    }

    // MARK: Progress

    /// Reports what has happened before anybody asked for the progress.
    func catchUp(_ progress: ProgressFeeds, of operation: any TransferOwner) {
        let (attempt, sent, isDirected) = state.withLock { state in
            (state.attempt, state.sent, state.receiver != nil || state.received != nil)
        }
        let total = attempt.request.body.length
        progress.sent.begin(total: total)
        if sent > 0 { progress.sent.reach(sent, of: total) }
        // Where the content goes elsewhere, how much is there already is known once there is a receiver; it is told then.
        guard operation.keepsContentInMemory || isDirected else { return }
        if let head = attempt.response { reportBegin(of: head, to: progress, of: operation) }
    }

    /// Reports that the content of a response begins.
    private func reportBegin(of head: HTTPResponseHead, to progress: ProgressFeeds, of operation: any TransferOwner) {
        let (receiver, method, count) = state.withLock {
            ($0.receiver, $0.attempt.request.method, $0.received ?? Int64($0.content.count))
        }
        guard operation.claims(head), let offset = receiver.map(\.count) ?? count else {
            return progress.received.rest()
        }
        let start = receiver == nil ? 0 : offset
        progress.received.begin(at: offset, total: method == .head ? 0 : head.totalLength(behind: start))
    }
}

extension HTTPResponseHead {
    /// The number of bytes there will be, with those that are there; nil if it isn't known.
    fileprivate func totalLength(behind offset: Int64) -> Int64? {
        guard !headers.isEncoded else { return nil }
        // What is there already comes before the content.
        if offset > 0, let range = headers[.contentRange] { return ContentRange(parsing: range)?.total }
        return headers.exactLength
    }
}

/// What a transport reports to: calls `receive`, and, when it is let go of, reports the end of the transfer.
///
/// A transport that forgets a transfer, or is let go of with it, would otherwise leave an operation behind that never
/// finishes.
final class EventSink: Sendable {
    private let flow: FlowControl
    private let receive: @Sendable (TransferEvent) -> Void

    /// - Parameters:
    ///   - flow: What has to let go of the transfer when that is over.
    ///   - receive: Gets the events.
    init(_ flow: FlowControl, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.flow = flow
        self.receive = receive
    }

    deinit {
        guard !flow.isOver else { return }
        let reason = "the transport let go of the transfer without reporting its end"
        report(.end(RequestError(.connectionLost, phase: .sending, reason: reason)))
    }

    func report(_ event: TransferEvent) {
        // What is done at the end is done once, whatever the transport does.
        if case .end = event, !flow.detach() { return }
        receive(event)
    }
}
