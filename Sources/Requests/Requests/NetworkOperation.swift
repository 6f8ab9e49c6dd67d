// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The operation of a ``NetworkRequest``: has the request made, runs it as a call, and makes the value of its response.
///
/// What happens to a request on its way is the same for all of them; completions, dependencies and `await` are doors into
/// it. Queues make the subclasses of this class. To change what becomes of a response, subclass ``DataOperation`` or one
/// below, override ``process(_:)``, and name the subclass as the request's `OperationType`.
// Sendable: Operation demands that it be restated; what is added here is constants and one lock.
open class NetworkOperation<R: NetworkRequest>: RequestOperation<R>, @unchecked Sendable {
    /// The way of the request.
    final let call: Call
    /// What a request that was given says about its call.
    private let givenPlan: CallPlan?
    private let page: PageTarget?

    /// Makes an operation.
    ///
    /// Its deadline, if it has one, counts from here.
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
            feed.report(.operationMade)
        }
        if let deadline = plan?.options.deadline ?? call.environment.deadline { setDeadline(deadline) }
    }

    deinit {
        guard let settled = core.withLock({ $0.abandon() }) else { return }
        // One that was deallocated before it ran has ended too.
        settled.release()
        call.end()
        call.progress?.end(isWhole: false)
        call.feed?.report(.operationEnded(.cancelled))
    }

    /// What carries the request.
    public final var transport: any HTTPTransport { call.transport }
    /// What the operation inherits.
    public final var environment: RequestEnvironment { call.environment }

    // MARK: What is known

    /// The request that was sent last, or answered by a cache; nil before one was made.
    public final var urlRequest: URLRequest? { call.record.request.map(URLRequest.init) }

    /// The head of the response that came last; nil before one came.
    public final var response: HTTPResponseHead? { call.record.head }

    /// What was sent so far: the first attempt, redirects and retries, in their order.
    ///
    /// Of more than 100, these are the first one and the last 99.
    public final var attempts: [Attempt] { call.record.attempts }

    /// What the last attempt took, as far as it has come; those before it are among the ``attempts``.
    public final var metrics: Metrics? { attempts.last?.metrics }

    /// What the request and its environment say about the call, read once; nil before there is a request.
    final var plan: CallPlan? { givenPlan ?? core.withLock { $0.role.plan } }

    override var exclusivity: Set<ExclusiveCategory> { plan?.options.exclusivity ?? [] }

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

    /// Ends the operation with a response, unless it has a result.
    ///
    /// For queues that stand in for real ones: `fetch` returns the body, and `send` the whole.
    ///
    /// - Returns: Whether the response was taken.
    @discardableResult
    public final func finish(with response: HTTPResponse<R.Success>) -> Bool {
        let head = response.head
        return finish(with: .success(response.body)) {
            self.call.record { $0.judge(head) }
        }
    }

    /// Runs the request, which is what this kind of operation does; not for subclasses to change.
    public final override func execute() {
        let (gate, startsElsewhere) = core.withLock { ($0.role.open(for: self), $0.role.startsElsewhere) }
        // The task is yet to come to the gate.
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
        // As far as the gate at once: the thread that starts the operation then runs it.
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

    /// Makes the request if it is a deferred one, and takes the seat if one is to be taken; nil if there is a result.
    private func prepareCall() -> (plan: CallPlan, seat: CoalescingSeat?)? {
        let (sharing, hasResult, hasMonitors) = core.withLock { ($0.role.sharing, $0.result != nil, $0.hasMonitors) }
        guard !hasResult else { return nil }
        if hasMonitors { call.feed?.report(.operationStarted) }
        do {
            if let givenPlan {
                try checkPlace(in: givenPlan.options.exclusivity)
                return (givenPlan, seat(for: sharing))
            }
            guard try resolveRequest() != nil, let plan, !self.hasResult else { return nil }
            try checkPlace(in: plan.options.exclusivity)
            return (plan, seat(for: sharing))
        } catch {
            fail(CallFailure(error, in: .building))
            return nil
        }
    }

    /// Refuses a request that would run beside others that it has said it doesn't.
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

    /// Makes what takes the content of a good response; nil, the default, is memory.
    ///
    /// - Throws: The failure of the operation.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? { nil }

    /// Judges the end of a transfer whose content went elsewhere, before anything else does.
    func review(_ error: RequestError?, isDelivered: Bool) -> TransferReview { .usual }

    /// Whether a receiver is made for the response: where the request accepts its status, and it leads nowhere else.
    func claims(_ head: HTTPResponseHead) -> Bool {
        guard head.status.category != .redirection else { return false }
        guard let plan else { return false }
        return !plan.options.validatesStatus || plan.validStatusCodes.contains(head.status.code)
    }

    /// Makes the value of a good response that is complete, and finishes; by default, ``process(_:)`` makes it.
    func conclude(
        _ response: HTTPResponse<ResponseContent>,
        of request: HTTPRequest,
        in attempt: CallAttempt
    ) async throws(CallFailure) {
        let response = response.map { $0.data ?? Data() }
        guard let queue = environment.decodingQueue else { return try conclude(response) { try process(response) } }
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

    /// Holds the transfer back until ``resume()``, where the transport can; ready before the operation starts, too.
    ///
    /// Transports without ``TransportCapabilities/pausing`` go on. The deadline doesn't wait.
    public final func pause() { call.setPaused(true) }

    /// Lets the transfer continue.
    public final func resume() { call.setPaused(false) }

    /// Cancels the operation, and gives what a download can be gone on with; nil for every other kind of request, and
    /// where nothing is there to go on with.
    ///
    /// - Parameter completion: Called once, on no thread in particular, when the operation is over.
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
        // The deadline of the environment counts from the making of the operation, and is running.
        if let deadline = plan.options.deadline { setDeadline(deadline) }
    }

    // MARK: The end

    override func makeCancellation() -> RequestError {
        let error = call.complete(RequestError(.cancelled, phase: phase), in: phase)
        call.record(failure: error)
        return error
    }

    /// How far the operation has come, for the errors of an end that comes from outside.
    private var phase: RequestError.Phase {
        let record = call.record
        return switch (record.request != nil, record.head != nil) {
        case (false, _): isExecuting ? .building : .waiting
        case (true, false): .sending
        case (true, true): .receiving
        }
    }

    /// Finishes with a failure, which gets all that is known about the request and the response.
    final func fail(_ failure: CallFailure) {
        let error = call.complete(failure, as: R.Failure.self)
        call.record(failure: error)
        finish(throwing: error)
    }

    override func willTell(_ settled: SettledOperation) {
        // The last progress comes before the completions.
        if settled.hasProgress { call.progress?.end(isWhole: result?.isSuccess == true) }
        if settled.hasMonitors, let feed = call.feed { reportEnd(to: feed) }
    }

    override func didTell(_ settled: SettledOperation) {
        call.end(cancellingTransfers: settled.hasOpenTransfers)
        super.didTell(settled)
    }

    /// Has the operation fail after a while, and no longer after the while that was set before.
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

    /// Leaves the thread that starts the operation at once: it is a caller's.
    final func startElsewhere() { core.withLock { $0.role.startsElsewhere = true } }

    // MARK: Sharing

    /// Lets the operation share the transfers of equal requests that were added to a queue.
    ///
    /// - Parameters:
    ///   - queue: What tells the requests of one queue from all others.
    ///   - atStart: Whether it shares only what hasn't ended when it starts: what came before a dependency was finished is
    ///     too old.
    ///   - isAsked: Whether it shares also if the request doesn't ask for it.
    final func share(on queue: QueueIdentity, atStart: Bool, isAsked: Bool = true) {
        let sharing = OperationRole.Sharing.atStart(queue, isAsked: isAsked)
        if atStart { core.withLock { $0.role.sharing = sharing } } else { _ = seat(for: sharing) }
    }

    /// Returns the seat of the operation; takes it if it is to be taken now.
    ///
    /// What is sent on behalf of another shares nothing, nor does what goes by interceptors, cookies and caches of which
    /// it isn't known whose they are.
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
            // A result that came in between has found no seat to leave.
            if isLate { seat.leave() }
            return seat
        }
    }
}

extension NetworkOperation: TaskOperation {}

extension NetworkOperation: CallOperation {
    final var requestIdentifier: String { request?.identifier ?? "" }

    final func makeRequest() async throws -> HTTPRequest {
        guard let request else { throw CancellationError() }
        let options = plan?.options ?? RequestOptions()
        var made = try await BuildReply.wait { reply in
            request.makeHTTPRequest(in: call.environment, changedBy: options, completion: reply)
        }
        if let page {
            let secrets = environment.secretHeaders.union(options.secretHeaders)
            try made.turn(to: page, baseURL: environment.baseURL, secrets: secrets)
        }
        return made
    }

    final func beginTransfer() -> Bool { transition(.transferBegins) == .send }
    final func endTransfer() { advance(.transferEnded) }

    final var urgency: Int { queuePriority.rawValue }

    final var sender: Sender {
        { [transport = call.transport, environment = call.environment] in
            try await RefreshRequest.send($0, over: transport, in: environment)
        }
    }
}

extension Call {
    /// Adds what is known to a failure.
    ///
    /// Errors of the request's own stay what they are, for its own `mapError`. Where the failure is a ``RequestError``
    /// anyway, and for errors that only the library can have thrown, they get the story around them.
    fileprivate func complete<Failure: Error>(_ failure: CallFailure, as type: Failure.Type) -> any Error {
        let judged = failure.response
        switch failure.error {
        case let error as RequestError:
            return complete(error, in: failure.phase, judged: judged)
        case is CancellationError:
            // Thrown by somebody else's code: this operation isn't cancelled.
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
