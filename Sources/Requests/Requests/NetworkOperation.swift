// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``NetworkRequest``: it makes the request, runs it as a call, and makes the value of its response.
///
/// All requests take the same path; completions, dependencies and `await` are three interfaces to
/// it. Queues make the subclasses of this class. To process responses differently, subclass ``DataOperation`` or one of
/// its subclasses, override ``process(_:)``, and name the subclass as the request's `OperationType`.
// Sendable: Operation requires restating it; the only additions here are constants and one lock.
open class NetworkOperation<R: NetworkRequest>: RequestOperation<R>, @unchecked Sendable {
    /// The call of the request.
    final let call: Call
    /// The call's plan, for a request that was given.
    private let givenPlan: CallPlan?
    private let page: Box<PageTarget>?

    /// Makes an operation.
    ///
    /// The deadline, if there is one, counts from here.
    public required init(_ configuration: OperationConfiguration<R>) {
        let request = configuration.source.value
        let options = request?.resolvedOptions
        let monitors = configuration.environment.monitors.followed(by: options?.monitors ?? [])
        let feed = monitors.isEmpty ? nil : MonitorFeed(monitors, operation: MonitoredOperation(of: R.self))
        let call = Call(
            transport: configuration.transport,
            environment: configuration.environment,
            scope: CallScope.current,
            feed: feed
        )
        self.call = call
        if let request, let options {
            let statuses = request.validStatusCodes
            givenPlan = CallPlan(options, statuses, of: call, isOnBehalf: configuration.isOnBehalf)
        } else {
            givenPlan = nil
        }
        page = configuration.page
        super.init(source: configuration.source)
        if let feed {
            core.withLock { $0.hasMonitors = true }
            if let request, let options { feed.identify(by: { request.identifier }, options) }
            feed.report(.operationCreated)
        }
        if let deadline = plan?.options.deadline ?? call.environment.deadline { setDeadline(deadline) }
    }

    deinit {
        guard let settled = core.withLock({ $0.abandon() }) else { return }
        // An operation that is deallocated before it started has ended too.
        settled.release()
        call.end()
        call.progress?.end(isWhole: false)
        call.feed?.report(.operationEnded(.cancelled))
    }

    /// The transport of the request.
    public final var transport: any HTTPTransport { call.transport }
    /// The settings that the operation inherits.
    public final var environment: RequestEnvironment { call.environment }

    // MARK: What is known

    /// The request that was sent last, or answered by a cache; `nil` before one was made.
    public final var urlRequest: URLRequest? { call.record.request.map(URLRequest.init) }

    /// The head of the last response; `nil` before the first one.
    public final var response: HTTPResponseHead? { call.record.head }

    /// The attempts so far: the first one, redirects and retries, in their order.
    ///
    /// Of more than 100, it has the first one and the last 99.
    public final var attempts: [Attempt] { call.record.attempts }

    /// The metrics of the last attempt, as far as they are known; those of earlier ones are in the ``attempts``.
    public final var metrics: Metrics? { attempts.last?.metrics }

    /// The settings of the request and its environment for the call, read once; `nil` before there is a request.
    final var plan: CallPlan? { givenPlan ?? core.withLock { $0.role.plan } }

    override var exclusivity: Set<ExclusiveCategory> { plan?.options.exclusivity ?? [] }

    // MARK: For subclasses

    /// Changes the request before it is checked and sent; by default it does nothing.
    ///
    /// - Throws: An error that keeps the request from being sent.
    open func prepare(_ request: inout HTTPRequest) throws {}

    /// Makes the value of an acceptable response.
    ///
    /// Called on a thread that may be blocked.
    ///
    /// - Throws: The failure of the operation.
    open func process(_ response: HTTPResponse<Data>) throws -> R.Success {
        let reason = "\(type(of: self)) doesn't say what to make of a response"
        throw RequestError(.unsupported, phase: .decoding, reason: reason)
    }

    /// Ends the operation with a response, unless it has a result.
    ///
    /// It is meant for queues that replace real ones: `fetch` returns the body, and `send` the whole response.
    ///
    /// - Returns: Whether the response was accepted.
    @discardableResult
    public final func finish(with response: HTTPResponse<R.Success>) -> Bool {
        let head = response.head
        return finish(with: .success(response.body)) {
            self.call.record { $0.judge(head) }
        }
    }

    /// Runs the request; not to be overridden by subclasses.
    public final override func execute() {
        let (gate, startsElsewhere) = core.withLock { ($0.role.open(for: self), $0.role.startsElsewhere) }
        // The task will come to the gate later.
        if case .awaited = gate { return }
        // Never on the main thread, nor on a queue of the caller's, where completions run.
        if startsElsewhere || Thread.isMainThread {
            DispatchQueue.global(qos: qualityOfService.dispatchQoS).async { CallExecutor.resuming { self.begin(gate) } }
        } else {
            CallExecutor.resuming { begin(gate) }
        }
    }

    private func begin(_ gate: OperationRole.Gate) {
        if case .waiting(let task) = gate { return task.resume(returning: self) }
        call.keep(CallExecutor.task(qualityOfService.taskPriority) { await self.run() })
    }

    /// Makes the task of the call now, with the task-locals of the present task; it waits for the start.
    final func prepareTask() {
        core.withLock { $0.role.awaitStart() }
        // Runs up to the gate at once: the thread that starts the operation then continues it.
        CallExecutor.resuming {
            let task = CallExecutor.task { [core] in
                let operation = await withUnsafeContinuation { gate in
                    let (waits, operation) = core.withLock { $0.role.wait(gate) }
                    if !waits { gate.resume(returning: operation) }
                }
                await operation?.run()
            }
            call.keep(task)
        }
    }

    final func run() async {
        guard let (plan, seat) = prepareCall() else { return }
        await call.run(for: self, plan, seat: seat)
    }

    /// Makes the request if it is deferred, and takes the seat if necessary; `nil` if there is a result.
    private func prepareCall() -> (plan: CallPlan, seat: CoalescingSeat?)? {
        let (sharing, hasResult, hasMonitors) = core.withLock { ($0.role.sharing, $0.result != nil, $0.hasMonitors) }
        guard !hasResult else { return nil }
        if hasMonitors { call.feed?.report(.operationStarted) }
        do {
            if let givenPlan {
                try checkPlace(in: givenPlan.options.exclusivity)
                return (givenPlan, seat(for: sharing))
            }
            return try resolvePlan().map { ($0, seat(for: sharing)) }
        } catch {
            fail(CallFailure(error, in: .building))
            return nil
        }
    }

    /// Makes a deferred request, and returns its plan; `nil` if there is a result.
    @inline(never)
    private func resolvePlan() throws -> CallPlan? {
        guard try resolveRequest() != nil, let plan, !hasResult else { return nil }
        try checkPlace(in: plan.options.exclusivity)
        return plan
    }

    /// Refuses a request whose exclusive categories its operation doesn't have.
    private func checkPlace(in categories: Set<ExclusiveCategory>) throws {
        guard !categories.isEmpty, call.scope == nil else { return }
        guard core.withLock({ $0.links.place })?.covers(categories) != true else { return }
        let reason =
            "the request is exclusive, and its operation isn't: name \(categories.map(\.description).sorted()) in the call"
            + " that adds it, as `exclusive:`"
        throw RequestError(.unsupported, phase: .building, reason: reason)
    }

    // MARK: Where the content goes

    /// Whether the content is collected in memory, up to the limit, and may come from a cache or be shared.
    var keepsContentInMemory: Bool { true }

    /// Whether the content may have no end, as that of a feed.
    var isOpenEnded: Bool { false }

    /// Makes the receiver for the content of a good response; `nil`, the default, is memory.
    ///
    /// - Throws: The failure of the operation.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? { nil }

    /// Judges the end of a transfer with a receiver of its own, before the usual judgement.
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview { .usual }

    /// Whether a receiver is made for the response: if the request accepts its status, and it isn't a redirect.
    func claims(_ head: HTTPResponseHead) -> Bool {
        guard head.status.category != .redirection else { return false }
        guard let plan else { return false }
        return !plan.options.validatesStatus || plan.validStatusCodes.contains(head.status.code)
    }

    /// Makes the value of a good, complete response, and finishes; by default, ``process(_:)`` makes it.
    func conclude(
        _ response: HTTPResponse<ResponseContent>,
        of request: HTTPRequest,
        in attempt: CallAttempt
    ) async throws(CallFailure) {
        let response = response.map { $0.data ?? Data() }
        if let queue = call.environment.decodingQueue { return try await conclude(response, on: queue) }
        try conclude(response) { try process(response) }
    }

    @inline(never)
    private func conclude(_ response: HTTPResponse<Data>, on queue: DispatchQueue) async throws(CallFailure) {
        let value = await withUnsafeContinuation { decoded in
            queue.async { decoded.resume(returning: Result { try self.process(response) }) }
        }
        try conclude(response) { try value.get() }
    }

    private func conclude(_ response: HTTPResponse<Data>, _ process: () throws -> R.Success) throws(CallFailure) {
        do {
            finish(with: .success(try process()))
        } catch let error as DecodingError {
            let reason = "the value is of type \(R.Success.self)"
            let error = RequestError(.decoding, phase: .decoding, reason: reason, underlying: error)
            throw CallFailure(error, in: .decoding, response: response)
        } catch {
            throw CallFailure(error, in: .decoding, response: response)
        }
    }

    /// Whether a failed request may be sent again.
    var mayTryAgain: Bool { true }

    /// Pauses the transfer until ``resume()``, if the transport can; also before the operation starts.
    ///
    /// Transports without ``TransportCapabilities/pausing`` continue. The deadline isn't extended.
    public final func pause() { call.setPaused(true) }

    /// Resumes the transfer.
    public final func resume() { call.setPaused(false) }

    /// Cancels the operation, and passes on a resume token for a download.
    ///
    /// It is `nil` for every other kind of request, and if there is nothing to resume.
    ///
    /// - Parameter completion: Called once, on no particular thread, when the operation is finished.
    open func cancel(producingResumeToken completion: @escaping @Sendable (ResumeToken?) -> Void) {
        cancel()
        completion(nil)
    }

    // MARK: The request

    override func noteRequest(_ request: R) {
        let options = request.resolvedOptions
        let plan = CallPlan(options, request.validStatusCodes, of: call, isOnBehalf: false)
        core.withLock { $0.role.plan = plan }
        call.feed?.identify(by: { request.identifier }, options)
        for monitor in options.monitors { addMonitor(monitor) }
        // The deadline of the environment counts from the operation's creation, and is already running.
        if let deadline = plan.options.deadline { setDeadline(deadline) }
    }

    // MARK: The end

    override func makeCancellation() -> RequestError {
        let error = call.complete(RequestError(.cancelled, phase: phase), in: phase)
        call.record(failure: error)
        return error
    }

    /// The phase of the operation, for the errors of an end that comes from outside.
    private var phase: RequestError.Phase {
        let record = call.record
        return switch (record.request != nil, record.head != nil) {
        case (false, _): isExecuting ? .building : .waiting
        case (true, false): .sending
        case (true, true): .receiving
        }
    }

    /// Finishes with a failure, completed with all that is known about the request and the response.
    final func fail(_ failure: CallFailure) {
        let error = call.complete(failure, as: R.Failure.self)
        call.record(failure: error)
        finish(throwing: error)
    }

    override func willTell(_ settled: SettledOperation) {
        // The last progress is reported before the completions are called.
        if settled.hasProgress { endProgress() }
        if settled.hasMonitors, let feed = call.feed { reportEnd(to: feed) }
    }

    // A function of its own: wherever a result is used, its type is looked up first, also if the use is then skipped.
    @inline(never)
    private func endProgress() {
        call.progress?.end(isWhole: result?.isSuccess == true)
    }

    override func didTell(_ settled: SettledOperation) {
        // It leaves its seat before its task ends: the one that leaves last cancels the shared transfer, and that has to be
        // cancelled when this returns.
        super.didTell(settled)
        call.end(cancellingTransfers: settled.hasOpenTransfers)
    }

    /// Makes the operation fail after a delay, which replaces a former deadline.
    private func setDeadline(_ deadline: Duration) {
        call.keep(
            DelayedAction(after: deadline, on: call.environment.clock) { [weak self] in
                guard let self else { return }
                let phase = self.phase
                let reason = "the request may take \(deadline) in all"
                fail(CallFailure(RequestError(.deadlineExceeded, phase: phase, reason: reason), in: phase))
            }
        )
    }

    /// Makes the operation leave the thread that starts it at once: the thread is a caller's.
    final func startElsewhere() { core.withLock { $0.role.startsElsewhere = true } }

    // MARK: Sharing

    /// Lets the operation share the transfers of equal requests that were added to a queue.
    ///
    /// - Parameters:
    ///   - queue: The identity of the queue, which separates its requests from all others.
    ///   - atStart: Whether it shares only transfers that haven't ended when it starts: a response from before its
    ///     dependencies finished is too old.
    ///   - isAsked: Whether it shares also if the request doesn't ask for it.
    final func share(on queue: QueueIdentity, atStart: Bool, isAsked: Bool = true) {
        let sharing = OperationRole.Sharing.atStart(queue, isAsked: isAsked)
        if atStart { core.withLock { $0.role.sharing = sharing } } else { _ = seat(for: sharing) }
    }

    /// Returns the seat of the operation; takes it if it is to be taken now.
    ///
    /// A request on behalf of another shares nothing, nor does one with interceptors, cookies or caches of an unknown
    /// owner.
    private func seat(for sharing: OperationRole.Sharing) -> CoalescingSeat? {
        switch sharing {
        case .none: return nil
        case .seat(let seat): return seat
        case .atStart(let queue, let isAsked):
            guard let plan, isAsked || plan.options.coalesce, keepsContentInMemory, call.scope == nil,
                queue.isClient || plan.interceptors.isEmpty && environment.cookies == nil && environment.cache == nil
            else { return nil }
            let limits = CoalescingLimits(
                head: plan.options.maximumHeadSize ?? environment.maximumHeadSize,
                content: plan.options.maximumBodySize ?? environment.maximumBodySize
            )
            let seat = CoalescingSeat(
                of: requestIdentifier,
                on: queue.queue,
                over: transport,
                revision: queue.isClient ? environment.revision : nil,
                limits
            )
            let isLate = core.withLock { state in
                if state.result == nil { state.role.sharing = .seat(seat) }
                return state.result != nil
            }
            // If a result came in between, it has found no seat to leave.
            if isLate { seat.leave() }
            return seat
        }
    }
}

extension NetworkOperation: TaskOperation {}

extension NetworkOperation: CallOperation {
    final var requestIdentifier: String { request?.identifier ?? "" }

    final func makeRequest() async throws -> HTTPRequest {
        guard let request, let plan else { throw CancellationError() }
        var made = try await BuildReply.wait { reply in
            request.makeHTTPRequest(in: call.environment, changedBy: plan.options, completion: reply)
        }
        if let page {
            let secrets = environment.secretHeaders.union(plan.options.secretHeaders)
            try made.turn(to: page.value, baseURL: environment.baseURL, secrets: secrets)
        }
        return made
    }

    final func beginTransfer() -> Bool { transition(.transferBegins) == .send }
    final var maySend: Bool { core.withLock { $0.lifecycle.isRunning } }
    final func endTransfer() { advance(.transferEnded) }

    final var urgency: Int { queuePriority.rawValue }

    final var sender: Sender {
        { [transport = call.transport, environment = call.environment] in
            try await RefreshRequest.send($0, over: transport, in: environment)
        }
    }
}

extension Call {
    /// Adds the known facts to a failure.
    ///
    /// The request's own errors stay unchanged, for its `mapError`. A ``RequestError``, or an error that only the
    /// library can have thrown, is completed with request, response and attempts.
    fileprivate func complete<Failure: Error>(_ failure: CallFailure, as type: Failure.Type) -> any Error {
        let judged = failure.response
        switch failure.error {
        case let error as RequestError:
            return complete(error, in: failure.phase, judged: judged)
        case is CancellationError:
            // Thrown by a caller's code: this operation isn't cancelled.
            let reason = "a task was cancelled that the request needs"
            let error = RequestError(.other, phase: failure.phase, reason: reason, underlying: failure.error)
            return complete(error, in: failure.phase, judged: judged)
        case is InvalidRequest, is DecodingError:
            return complete(RequestError(failure.error), in: failure.phase, judged: judged)
        default:
            guard Failure.self == RequestError.self else { return failure.error }
            return complete(RequestError(failure.error), in: failure.phase, judged: judged)
        }
    }

    fileprivate func complete(
        _ error: RequestError,
        in phase: RequestError.Phase,
        judged: HTTPResponse<Data>? = nil
    ) -> RequestError {
        error.completed(with: record, judged: judged, limit: environment.maximumErrorBodySize, phase: phase)
    }
}

extension MonitoredOperation {
    init<R: Request>(of type: R.Type) {
        self.init(requestType: R.shownTypeName)
    }
}

extension QualityOfService {
    var dispatchQoS: DispatchQoS.QoSClass {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .utility: .utility
        case .background: .background
        default: .default
        }
    }

    fileprivate var taskPriority: TaskPriority? {
        switch self {
        case .userInteractive, .userInitiated: .high
        case .utility: .utility
        case .background: .background
        default: nil
        }
    }
}
