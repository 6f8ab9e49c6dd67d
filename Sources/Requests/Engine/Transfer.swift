// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One transfer of a run: sends a request over the transport, and returns the response when its content has ended.
///
/// The transport reports one event at a time, in order. The transfer may be cancelled at any moment, and its end is
/// reported exactly once. The run gets its response, even a truncated one, only after the transport has reported the
/// end.
final class Transfer: Sendable {
    typealias Continuation = UnsafeContinuation<RawResponse, any Error>

    /// The request.
    let request: HTTPRequest
    /// The control that pauses the transfer.
    let flow = FlowControl()
    /// Whether the transfer waits for a shared transfer of another operation, instead of using the transport.
    let isShared: Bool
    let cause: TransferRecord.Cause
    private let limits: (head: Int, content: Int)
    /// Whether the content is collected in memory.
    let keepsContent: Bool
    // Read outside of the lock, because the clock may be a caller's.
    private let stopwatch: Stopwatch
    let state: Locked<State>

    /// Creates a transfer.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - cause: The reason for the transfer.
    ///   - headObserver: Called with the head of the response.
    ///   - owner: The attempt that the transfer belongs to.
    ///   - isShared: Whether the transfer waits for a shared transfer of another operation.
    @inline(never)
    init(
        _ request: HTTPRequest,
        because cause: TransferRecord.Cause,
        headObserver: HeadObserver?,
        for owner: Attempt,
        isShared: Bool = false
    ) {
        self.request = request
        self.cause = cause
        self.isShared = isShared
        keepsContent = owner.operation.kind.content == .inMemory
        limits = (
            head: owner.configuration.limits.head,
            content: keepsContent
                ? owner.configuration.limits.content : owner.environment.maximumErrorBodySize
        )
        stopwatch = Stopwatch(owner.environment.clock)
        // An interceptor may send several requests simultaneously.
        let isOnlyTransfer = owner.configuration.interceptors.isEmpty
        state = Locked(State(owner: owner, headObserver: headObserver, isOnlyTransfer: isOnlyTransfer))
    }

    /// The head of the response, if it was received.
    var head: HTTPResponseHead? { state.withLock { $0.head } }
    /// The content so far, if it is in memory.
    var content: Data { state.withLock { $0.content } }
    /// Whether the content was delivered to a receiver instead of being collected in memory.
    var isDelivered: Bool { state.withLock { $0.isDelivered } }

    /// Whether the transfer has ended.
    var isOver: Bool {
        state.withLock { if case .ended = $0.phase { true } else { false } }
    }

    /// Releases the content of a failed transfer, after it was copied to the error.
    func releaseContent() {
        let content = state.withLock { state in
            defer { state.content = Data() }
            return state.content
        }
        withExtendedLifetime(content) {}
    }

    // MARK: Send

    /// Sends the request, and returns the response when its content has ended.
    ///
    /// - Parameters:
    ///   - transport: The transport.
    ///   - owner: The attempt that the transfer belongs to.
    ///   - ignoresTaskCancellation: Whether the cancellation of the task has no effect, because the run cancels the
    ///     transfer itself when it ends.
    /// - Returns: The response.
    /// - Throws: ``RequestError``.
    func response(
        over transport: any HTTPTransport,
        for owner: Attempt,
        ignoresTaskCancellation: Bool = false
    ) async throws -> RawResponse {
        guard ignoresTaskCancellation else { return try await cancellableResponse(over: transport, for: owner) }
        return try await withUnsafeThrowingContinuation { start($0, over: transport, for: owner) }
    }

    @inline(never)
    private func cancellableResponse(
        over transport: any HTTPTransport,
        for owner: Attempt
    ) async throws -> RawResponse {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { start($0, over: transport, for: owner) }
        } onCancel: {
            cancel()
        }
    }

    private func start(_ continuation: Continuation, over transport: any HTTPTransport, for owner: Attempt) {
        // A transfer that was cancelled before it began, or that begins after the operation has its result, is neither
        // sent nor recorded.
        guard !Task.isCancelled, let begun = owner.operation.begin(self) else {
            return endUnsent(continuation, hasBegun: false)
        }
        if begun.isPaused { owner.operation.applyPause(to: self) }
        if !begun.observers.isEmpty || !begun.isFirst {
            let audience = state.withLock { state in
                state.audience.begin(with: begun.observers, as: isShared ? nil : begun.number)
                if !begun.isFirst { state.isOnlyTransfer = false }
                return state.audience
            }
            reportBeginning(to: audience.limited(to: begun.observers))
        }
        // The run may continue on the delivering thread only if the transport delivers concurrently. A shared transfer
        // notifies its runs one after the other, so each of them continues on a different thread.
        let isConcurrent = transport.capabilities.contains(.concurrentDelivery)
        let transportRequest = transportRequest(for: owner)
        // Check once more, because the end of the run or of its task may have cancelled the transfer since it began. A
        // run that ends stores its result before it cancels, and a monitor may already have seen that result.
        guard state.withLock({ $0.stop == nil }), begun.observers.isEmpty || owner.operation.hasNoResult else {
            return endUnsent(continuation, hasBegun: true)
        }
        let sink = EventSink(self, continuation, isConcurrent: isConcurrent)
        flow.attach(transport.send(transportRequest) { sink.receive($0) })
    }

    /// Ends a transfer that wasn't sent; if it has begun, its end is reported.
    private func endUnsent(_ continuation: Continuation, hasBegun: Bool) {
        let error = RequestError(.cancelled, phase: .sending)
        let previous = state.withLock { state in
            let previous = state
            (state.phase, state.error) = (.ended, error)
            (state.owner, state.headObserver, state.audience) = (nil, nil, Audience())
            return previous
        }
        if hasBegun {
            reportEnd(to: previous.audience)
            previous.owner?.operation.endTransfer(self)
        }
        continuation.resume(throwing: error)
    }

    private func transportRequest(for owner: Attempt) -> TransportRequest {
        var transportRequest = TransportRequest(
            request,
            timeout: owner.configuration.timeout,
            maximumBodySize: limits.content,
            maximumHeadSize: limits.head,
            trust: owner.configuration.trust
        )
        transportRequest.usesCookies = owner.options.usesCookies && request.usesCookies
        transportRequest.priority = owner.options.httpPriority.flatMap { $0.isNaN ? nil : min(max($0, 0), 1) }
        transportRequest.configureTask = owner.options.configureTask
        transportRequest.flow = flow
        transportRequest.hasOwnLimit = owner.environment.hasOwnLimit || owner.environment.hostLimiter != nil
        if !keepsContent {
            transportRequest.isStreamed = true
            transportRequest.isOpenEnded = owner.operation.kind.content == .openEnded
            transportRequest.maximumBodySize = owner.options.maximumBodySize ?? .max
        }
        return transportRequest
    }

    /// Cancels the transfer, even if it hasn't begun.
    func cancel() {
        stop(.cancelled)
    }

    /// Stops the transfer for a reason.
    ///
    /// A cancellation replaces any other reason, and a failure replaces a truncation. Otherwise, the first reason
    /// counts.
    private func stop(_ reason: StopReason) {
        // The previous error may be a caller's object, so it is released outside of the lock, like the content.
        let replaced = state.withLock { state -> (stop: StopReason?, content: Data)? in
            switch (state.stop, reason) {
            case (.cancelled, _), (.failed, .failed), (.failed, .truncated), (.truncated, .truncated): return nil
            default: break
            }
            let previous = state.stop
            state.stop = reason
            guard case .failed = reason else { return (previous, Data()) }
            defer { state.content = Data() }
            return (previous, state.content)
        }
        // The failure is reported when the transfer has ended, because the slot of the host isn't free until then.
        if replaced != nil { flow.cancel() }
    }

    // MARK: Receive

    func receive(_ event: TransferEvent) {
        switch event {
        case .informational(let head):
            report({ .informationalResponseReceived(head, $0) }, to: state.withLock(\.audience))
        case .sent(let count, let total):
            report(
                .uploaded(count, of: total),
                to: state.withLock { state in
                    state.sentByteCount = count
                    return state.audience
                }
            )
        case .head(let head): receive(head)
        case .data(let data): receive(data)
        case .trailers(let fields): report({ .trailersReceived(fields, $0) }, to: state.withLock(\.audience))
        case .metrics(let metrics):
            state.withLock { state in
                let responseStart = state.metrics.responseStart
                state.metrics = metrics
                if metrics.responseStart == nil { state.metrics.responseStart = responseStart }
            }
        case .end: break
        }
    }

    private func receive(_ head: HTTPResponseHead) {
        // An oversized head is dropped entirely: its cookies aren't stored, and its fields don't appear in the error.
        if let size = head.size, size > limits.head {
            let reason = "the response head exceeds \(limits.head) bytes"
            return stop(.failed(RequestError(.headTooLarge, phase: .receiving, reason: reason)))
        }
        // Only content in memory is checked here. A download may have requested a part, and checks the head itself.
        if keepsContent, let error = head.unrequestedPartError(of: request) { return stop(.failed(error)) }
        let elapsed = stopwatch.elapsed
        let accepted = state.withLock {
            state -> (owner: Attempt, headObserver: HeadObserver?, audience: Audience)? in
            guard state.acceptsContent, let owner = state.owner else { return nil }
            state.head = head
            state.metrics.responseStart = elapsed
            return (owner, state.headObserver, state.audience)
        }
        guard let (owner, headObserver, audience) = accepted else { return }
        headObserver?.report(head)
        report({ .responseStarted(head, $0) }, to: audience)
        if head.status.category == .redirection, owner.configuration.redirect.ignoresContent(of: head) {
            drain(head, on: owner.environment.clock)
        } else if !keepsContent {
            deliver(head, to: owner)
        }
        // Include observers that were added while the receiver was being created.
        let listeners = keepsContent ? audience : state.withLock(\.audience)
        if !listeners.observers.isEmpty { reportContent(of: head, to: listeners, owner.operation) }
    }

    /// Passes the content to a receiver, if the request accepts the head.
    private func deliver(_ head: HTTPResponseHead, to owner: Attempt) {
        let handling = owner.operation.handling
        let isAccepted = owner.configuration.acceptsStatus(of: head)
        guard handling.acceptsHead(head) else {
            if !isAccepted { read(atMost: limits.content, within: Self.maximumErrorContentTime) }
            return
        }
        // The validators don't check a response whose status isn't accepted but concerns the file, such as 416, because
        // its content isn't the file.
        guard !isAccepted || owner.headRefusal(of: head, to: request) == nil else {
            return read(atMost: limits.content, within: Self.maximumErrorContentTime)
        }
        do {
            guard let receiver = try handling.makeReceiver(for: head, to: request, flow: flow) else { return }
            state.withLock { ($0.phase, $0.isDelivered) = (.delivering(receiver), true) }
        } catch {
            stop(.failed(RequestError(error)))
        }
    }

    /// Reads a small part of a redirect's content, so that the connection can be reused.
    ///
    /// Longer or slower content is truncated, because closing the connection costs less than reading the rest.
    private func drain(_ head: HTTPResponseHead, on clock: any Clock<Duration>) {
        let isLarge =
            request.method != .head && head.headers.exactLength.map { $0 > Int64(Self.maximumDrainedBytes) } ?? false
        read(atMost: Self.maximumDrainedBytes, within: isLarge ? nil : Self.maximumDrainTime, on: clock)
        if isLarge { stop(.truncated) }
    }

    /// Reads only the beginning of the content.
    ///
    /// An error or the time limit then truncates the content, instead of failing the transfer.
    private func read(atMost limit: Int, within time: Duration?, on clock: any Clock<Duration> = ContinuousClock()) {
        let timer = time.map { DelayedAction(after: $0, on: clock) { [self] in stop(.truncated) } }
        state.withLock { $0.phase = .readingPrefix(limit, timer) }
    }

    private static let maximumDrainedBytes = 4 * 1024
    private static let maximumDrainTime = Duration.milliseconds(200)
    /// The maximum time for the content of an error, measured by the system's clock.
    ///
    /// A server may begin to explain a refusal, and then stop sending.
    static let maximumErrorContentTime = Duration.seconds(2)

    private enum Reception: Sendable {
        case kept(Int)
        case delivered(any ContentReceiver)
        case ignored, truncated, tooLarge
    }

    private func receive(_ data: Data) {
        let (reception, audience) = state.withLock { state -> (Reception, Audience) in
            guard state.acceptsContent else { return (.ignored, Audience()) }
            var limit = limits.content
            var isPrefix = false
            if case .delivering(let receiver) = state.phase { return (.delivered(receiver), state.audience) }
            if case .readingPrefix(let maximum, _) = state.phase { (limit, isPrefix) = (maximum, true) }
            let room = limit - state.content.count
            guard data.count > room else {
                if state.content.isEmpty { state.content = data } else { state.content.append(data) }
                return (.kept(state.content.count), state.audience)
            }
            guard !keepsContent || isPrefix else { return (.tooLarge, state.audience) }
            state.content.append(data.prefix(max(0, room)))
            return (.truncated, state.audience)
        }
        switch reception {
        case .ignored: break
        case .kept(let count): report(.downloaded(Int64(count)), to: audience)
        case .delivered(let receiver):
            do {
                try receiver.receive(data)
                if !audience.observers.isEmpty, let count = receiver.count {
                    report(.downloaded(count), to: audience)
                }
            } catch {
                stop(.failed(RequestError(error)))
            }
        case .truncated: stop(.truncated)
        case .tooLarge:
            let reason = "the content exceeds \(limits.content) bytes"
            stop(.failed(RequestError(.bodyTooLarge, phase: .receiving, reason: reason)))
        }
    }

    // MARK: End

    /// Ends the transfer, and resumes the run with the response or the error, unless the transfer has already ended.
    ///
    /// - Parameters:
    ///   - error: The error that the transport has reported.
    ///   - continuation: The continuation of the run that waits for the response.
    ///   - isConcurrent: Whether the run may continue on this thread.
    func end(_ error: RequestError?, for continuation: Continuation, isConcurrent: Bool) {
        // Read outside of the transfer's lock, because the receiver has its own lock.
        let delivered = keepsContent ? nil : state.withLock({ $0.receiver })?.count
        let elapsed = stopwatch.elapsed
        guard
            let (previous, error, isTruncated) = state.withLock({ $0.end(error, of: request, delivered, at: elapsed) }),
            let owner = previous.owner
        else {
            return
        }
        var receiver: (any ContentReceiver)?
        switch previous.phase {
        case .delivering(let delivering): receiver = delivering
        case .readingPrefix(_, let timer): timer?.cancel()
        case .receiving, .ended: break
        }
        reportEnd(with: receiver == nil ? previous.content : nil, to: previous.audience)
        receiver?.end(error)
        owner.operation.endTransfer(self)
        let result: Result<RawResponse, any Error>
        if let error {
            result = .failure(error)
        } else if let head = previous.head {
            let content = receiver.map { .delivered($0.count ?? 0) } ?? ResponseContent.data(previous.content)
            // If this is the run's only transfer, build the history from it, without accessing the run's record.
            let history = previous.isOnlyTransfer ? TransferHistory(self) : owner.operation.record.history
            let notes = ResponseNotes(history: history, isTruncated: isTruncated)
            result = .success(HTTPResponse(head: head, body: content, notes: notes))
        } else {
            let reason = "the transfer ended without a response head"
            result = .failure(RequestError(.badResponse, phase: .receiving, reason: reason))
        }
        // A transport may report the end while the transfer is being cancelled, possibly by the task itself. The task
        // must then not continue on this thread.
        if isConcurrent, !previous.isCancelled {
            RunExecutor.resuming { continuation.resume(with: result) }
        } else {
            continuation.resume(with: result)
        }
    }
}

extension Transfer: TransferRecorder {
    /// The record of this transfer, including its response.
    var record: TransferRecord {
        let (head, error, metrics) = state.withLock { ($0.head, $0.error, $0.metrics) }
        return TransferRecord(cause: cause, request: request, response: head, error: error, metrics: metrics)
    }
}

/// Passes on the events of a transport, and reports the end of the transfer when the sink is released.
///
/// The operation therefore finishes even if a transport loses a transfer without reporting its end.
private final class EventSink: Sendable {
    private let transfer: Transfer
    private let continuation: Transfer.Continuation
    private let isConcurrent: Bool

    init(_ transfer: Transfer, _ continuation: Transfer.Continuation, isConcurrent: Bool) {
        self.transfer = transfer
        self.continuation = continuation
        self.isConcurrent = isConcurrent
    }

    deinit {
        guard transfer.flow.detach() else { return }
        let reason = "the transport released the transfer without reporting its end"
        let error = RequestError(.connectionLost, phase: transfer.head == nil ? .sending : .receiving, reason: reason)
        // The code that released this object may hold a lock, so neither the run nor a caller's code may continue here.
        DispatchQueue.global().async { [transfer, continuation] in
            transfer.end(error, for: continuation, isConcurrent: false)
        }
    }

    func receive(_ event: TransferEvent) {
        guard case .end(let error) = event else { return transfer.receive(event) }
        // Handle the end only once, even if the transport reports it twice.
        if transfer.flow.detach() { transfer.end(error, for: continuation, isConcurrent: isConcurrent) }
    }
}
