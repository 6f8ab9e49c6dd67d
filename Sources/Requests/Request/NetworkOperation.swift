// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``NetworkRequest``: builds, adapts, sends, judges, retries, decodes, and finishes once.
///
/// This is the one pipeline of the library; completions, dependencies and `await` are doors into it. Queues make its
/// subclasses. To change what becomes of a response, subclass ``DataOperation`` or one below, override ``process(_:)``,
/// and name the subclass as the request's `OperationType`.
// Sendable: Operation demands that it be restated; what is added here is constants and one lock.
open class NetworkOperation<R: NetworkRequest>: RequestOperation<R>, @unchecked Sendable {
    /// What carries the request.
    public final let transport: any HTTPTransport
    /// What the operation inherits.
    public final let environment: RequestEnvironment
    /// Whose refreshes the operation is a part of.
    final let refreshing: Set<ObjectIdentifier>
    final let run = Locked(OperationRun())
    /// What tells the monitors, where there are any.
    final let feed: MonitorFeed?

    /// Makes an operation.
    ///
    /// Its deadline, if it has one, counts from here.
    public required init(_ configuration: OperationConfiguration<R>) {
        transport = configuration.transport
        environment = configuration.environment
        refreshing = configuration.refreshing
        feed = environment.monitors.isEmpty ? nil : MonitorFeed(environment.monitors, of: configuration.source.value)
        super.init(source: configuration.source)
        feed?.report(.operationMade)
        let deadline = configuration.source.value?.options.deadline ?? environment.deadline
        if let deadline { startDeadline(deadline) }
    }

    deinit {
        run.withLock { $0.deadline }?.cancel()
        leaveSharedTransfer()
        // One that was let go of before it ran has ended too.
        feed?.report(.operationEnded(.cancelled))
    }

    // MARK: What is known

    /// The request that was sent last, or answered by a cache; nil before one was made.
    public final var urlRequest: URLRequest? { run.withLock { $0.exchange.request }.map(URLRequest.init) }

    /// The head of the response that came last; nil before one came.
    public final var response: HTTPResponseHead? { run.withLock { $0.exchange.head } }

    /// What was sent so far: the first try, redirects and retries, in their order.
    public final var attempts: [Attempt] { run.withLock { $0.exchange.attempts } }

    /// What the last attempt took, as far as it has come; those before it are among the ``attempts``.
    public final var metrics: Metrics? { attempts.last?.metrics }

    // MARK: For subclasses

    /// Changes the request before it is checked and sent; by default it is left as it is.
    ///
    /// - Throws: What keeps the request from being sent.
    open func prepare(_ request: inout HTTPRequest) throws {}

    /// Makes the value of an acceptable response.
    ///
    /// Called on a thread where it may take its time.
    ///
    /// - Throws: The failure of the operation.
    open func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        let reason = "\(type(of: self)) doesn't say what to make of a response"
        throw RequestError(.unsupported, phase: .decoding, reason: reason)
    }

    /// The pipeline, which is what this kind of operation does; not for subclasses to change.
    public final override func execute() {
        build(1)
    }

    // MARK: Where the content goes

    /// Whether the content is collected in memory, up to the limit, and may come from a cache or be shared.
    var keepsContentInMemory: Bool { true }

    /// What takes the content of a good response; nil, the default, is memory.
    ///
    /// - Throws: The failure of the operation.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? { nil }

    /// What the end of a transfer means whose content went elsewhere.
    enum Review: Sendable {
        /// What it means for everybody.
        case usual
        /// The request is to be sent again at once.
        case again(RequestError)
        /// It is a failure, whatever the transport says.
        case failure(RequestError)
    }

    /// Looks at the end of a transfer whose content went elsewhere, before anybody else does.
    func review(_ error: RequestError?) -> Review { .usual }

    /// Whether a receiver is made for the response: where the request accepts its status, and it leads nowhere else.
    func claims(_ head: HTTPResponseHead) -> Bool {
        accepts(head.status)
    }

    /// Whether the request accepts a status, and it leads nowhere else.
    final func accepts(_ status: HTTPStatus) -> Bool {
        guard let request, status.category != .redirection else { return false }
        return run.withLock { !$0.options.validatesStatus } || request.validHTTPStatusCodes.contains(status.code)
    }

    /// Makes the value of a good response that is complete, and finishes; by default, ``process(_:)`` makes it.
    func conclude(_ response: HTTPResponse<Data>) {
        do {
            finish(with: .success(try process(response)))
        } catch {
            fail(error, in: .decoding)
        }
    }

    /// Whether a failed request may be sent again.
    var mayTryAgain: Bool { true }

    /// Holds the transfer back until ``resume()``, where the transport can; ready before the operation starts, too.
    ///
    /// Transports without ``TransportCapabilities/pausing`` go on. The deadline doesn't wait.
    public final func pause() {
        run.withLock { run in
            run.isPaused = true
            return run.flow
        }?.set(.user, true)
    }

    /// Lets the transfer go on.
    public final func resume() {
        run.withLock { run in
            run.isPaused = false
            return run.flow
        }?.set(.user, false)
    }

    /// Cancels the operation, and gives what a download can be gone on with; nil for every other kind of request, and
    /// where nothing is there to go on with.
    ///
    /// - Parameter completion: Called once, on no thread in particular, when the operation is over.
    open func cancel(producingResumeToken completion: @escaping @Sendable (ResumeToken?) -> Void) {
        cancel()
        completion(nil)
    }

    // MARK: The lifecycle's wishes

    override func noteRequest(_ request: R) {
        feed?.identify(as: request.identifier, tag: request.options.tag)
        if let deadline = request.options.deadline { startDeadline(deadline) }
    }

    override func perform(_ action: OperationLifecycle.Action) {
        switch action {
        case .build(let attempt):
            build(attempt)
        case .attach, .adapt, .send, .judge, .decode, .wait:
            break  // Done where the input was given, with what that had at hand.
        case .none, .announce, .deliver, .finish:
            super.perform(action)
        }
    }

    override func makeCancellation() -> RequestError {
        let exchange = run.withLock { $0.exchange }
        let error = RequestError(
            .cancelled,
            phase: phase,
            request: exchange.request,
            response: exchange.head,
            attempts: exchange.attempts
        )
        run.withLock { $0.failure = error }
        return error
    }

    /// How far the operation has come, for the errors of an end that comes from outside.
    private var phase: RequestError.Phase {
        let (hasRequest, hasResponse) = run.withLock { ($0.exchange.request != nil, $0.exchange.head != nil) }
        return switch (hasRequest, hasResponse) {
        case (false, _): isExecuting ? .building : .waiting
        case (true, false): .sending
        case (true, true): .receiving
        }
    }

    override func deliver() {
        let (cancellation, deadline, progress) = run.withLock { run in
            defer { run.deadline = nil }
            return (run.exchange.abandon(), run.deadline, run.progress)
        }
        // The last progress comes before the completions.
        if let progress { end(progress) }
        if let feed { reportEnd(to: feed) }
        super.deliver()
        deadline?.cancel()
        cancellation?()
        leaveSharedTransfer()
    }

    private func end(_ progress: ProgressFeeds) {
        progress.end(isWhole: result?.isSuccess == true)
    }

    private func reportEnd(to feed: MonitorFeed) {
        guard let result else { return }
        switch result {
        case .success: feed.report(.operationEnded(.success))
        case .failure(let error):
            let failure = run.withLock { $0.failure }
            feed.report(.operationEnded(MonitoredOutcome(failure ?? error)))
        }
    }

    /// Has the operation fail after a while, and no longer after the while that was set before.
    final func startDeadline(_ deadline: Duration) {
        let timer = DelayedAction(after: deadline, on: environment.clock) { [weak self] in
            guard let self else { return }
            let phase = self.phase
            fail(RequestError(.deadlineExceeded, phase: phase), in: phase)
        }
        let former = run.withLock { run in
            defer { run.deadline = timer }
            return run.deadline
        }
        former?.cancel()
    }

    /// Lets the operation take as long as it needs; for one that works for others, which have deadlines of their own.
    final func dropDeadline() {
        let deadline = run.withLock { run in
            defer { run.deadline = nil }
            return run.deadline
        }
        deadline?.cancel()
    }
}

extension MonitorFeed {
    fileprivate convenience init<R: Request>(_ monitors: [any EventMonitor], of request: R?) {
        let operation = MonitoredOperation(
            identifier: request?.identifier ?? "",
            tag: (request as? any NetworkRequest)?.options.tag,
            requestType: R.shownTypeName
        )
        self.init(monitors, operation: operation)
    }
}
