// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A queue for the requests of one API: an environment that they inherit, a transport, and an operation queue.
///
/// ```swift
/// let client = HTTPClient(baseURL: url, maxConcurrentRequests: 4) {
///     $0.headers[.userAgent] = "Recipes/2.1"
///     $0.retry = .default
///     $0.validators.append(.contentType)
/// }
/// let user = try await client.fetch(GetUser(id: 1))
/// ```
///
/// Everything that a ``RequestQueue`` does, a client does. What its requests inherit is the ``environment``; a change of
/// it counts for requests that are added afterwards. Cookies are kept in a jar of the client's own, in memory, unless the
/// environment has another, or nil. Safe from any thread.
///
/// A client may be let go of while its requests run: they run to their end.
public final class HTTPClient: RequestQueue, CustomReflectable {
    /// A client without a base URL: the one that `HTTPRequest.fetch` uses.
    public static let shared = HTTPClient()

    /// What carries the requests that name no transport of their own.
    public let transport: any HTTPTransport
    private let lanes: Lanes
    private let shared: Locked<RequestEnvironment>

    /// Makes a client without a base URL, whose requests need absolute addresses.
    ///
    /// - Parameters:
    ///   - maxConcurrentRequests: How many requests run at once, at least one; by default as many as the system sees
    ///     fit. One that waits for a retry, for a credential or for a limiter counts.
    ///   - transport: What carries the requests; nil, the default, is the platform's best, without cookies, cache and
    ///     credentials of its own.
    ///   - configure: Changes what the requests inherit; a jar for cookies is there already. What it throws, this does.
    public convenience init(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        try self.init(Lanes(maxConcurrentRequests), transport: transport, configure)
    }

    private init(
        _ lanes: Lanes,
        transport: (any HTTPTransport)?,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        var environment = RequestEnvironment()
        environment.cookies = CookieJar()
        try configure(&environment)
        environment.revision = EnvironmentRevision()
        environment.detachedWork = lanes.detachedWork
        self.lanes = lanes
        shared = Locked(environment)
        self.transport = transport ?? DefaultTransport.private()
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - baseURL: What relative addresses are appended to. With nil, which `URL(string:)` gives for a text that is no
    ///     address, every request fails before it is sent; leave it out for a client without one.
    ///   - maxConcurrentRequests: How many requests run at once, at least one; by default as many as the system sees
    ///     fit. One that waits for a retry, for a credential or for a limiter counts.
    ///   - transport: What carries the requests; nil, the default, is the platform's best, without cookies, cache and
    ///     credentials of its own.
    ///   - configure: Changes what the requests inherit; the base URL and a jar for cookies are there already. What it
    ///     throws, this does.
    public convenience init(
        baseURL: URL?,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        try self.init(maxConcurrentRequests: maxConcurrentRequests, transport: transport) {
            $0.setBaseURL(baseURL)
            try configure(&$0)
        }
    }

    /// Makes a client for a base URL that is a text, and checks it at once.
    ///
    /// ```swift
    /// let client = try HTTPClient(baseURL: settings.server) { $0.retry = .default }
    /// ```
    ///
    /// `URL(string:)` is nil for a text that is no address, and the requests of a client with a base URL of nil fail one
    /// by one.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute address, `http` or `https`, with a host.
    ///   - maxConcurrentRequests: How many requests run at once; by default as many as the system sees fit.
    ///   - transport: What carries the requests; nil, the default, is the platform's best.
    ///   - configure: Changes what the requests inherit; nothing by default.
    /// - Throws: ``InvalidRequest`` if the text isn't such an address; what `configure` throws.
    public convenience init(
        baseURL: String,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void = { _ in }
    ) throws {
        var request = HTTPRequest(url: URL(base: baseURL))
        try request.validate()
        try self.init(
            baseURL: URL(base: baseURL),
            maxConcurrentRequests: maxConcurrentRequests,
            transport: transport,
            configure
        )
    }

    /// Makes a client whose requests inherit nothing but a jar for cookies; see
    /// `init(maxConcurrentRequests:transport:_:)`.
    public convenience init(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(maxConcurrentRequests: maxConcurrentRequests, transport: transport) { _ in }
    }

    /// Makes a client whose requests inherit nothing but a base URL and a jar for cookies; see
    /// `init(baseURL:maxConcurrentRequests:transport:_:)`.
    public convenience init(
        baseURL: URL?,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(baseURL: baseURL, maxConcurrentRequests: maxConcurrentRequests, transport: transport) { _ in }
    }

    /// Makes a client whose requests run on an operation queue of yours.
    ///
    /// ```swift
    /// let client = HTTPClient(queue: queue) { $0.monitors.append(.console) }
    /// ```
    ///
    /// So a plain `OperationQueue` gets an environment: monitors, retries, a base URL. Its width, its suspension and its
    /// underlying queue stay those of the queue, and requests that are added to the queue itself inherit nothing.
    ///
    /// - Parameters:
    ///   - queue: What runs the requests; other operations may be on it.
    ///   - transport: What carries the requests; `nil`, the default, is the platform's best.
    ///   - configure: Changes what the requests inherit; nothing by default.
    public convenience init(
        queue: OperationQueue,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) {
        self.init(Lanes(queue), transport: transport, configure)
    }

    private init(_ environment: RequestEnvironment, besides client: HTTPClient) {
        shared = Locked(environment)
        transport = client.transport
        lanes = client.lanes
    }

    /// A client that shares this one's queue and transport, and has an environment with changes of its own.
    ///
    /// ```swift
    /// let admin = client.inheriting { $0.headers["X-Role"] = "admin" }
    /// ```
    ///
    /// What both do counts together towards the maximum of concurrent requests. Later changes of this client's
    /// environment don't reach the other. What an environment has by reference, such as the jar of cookies, a cache and
    /// limiters, is the same for both unless it is changed here.
    public func inheriting(_ configure: (inout RequestEnvironment) throws -> Void) rethrows -> HTTPClient {
        var environment = environment
        try configure(&environment)
        environment.revision = EnvironmentRevision()
        environment.detachedWork = lanes.detachedWork
        return HTTPClient(environment, besides: self)
    }

    /// This client with another base URL, and nothing else.
    ///
    /// The revision stays: however often it is derived, equal requests share a transfer.
    func relocated(to baseURL: URL?) -> HTTPClient {
        var environment = environment
        guard environment.baseURL != baseURL else { return self }
        environment.setBaseURL(baseURL)
        return HTTPClient(environment, besides: self)
    }

    // MARK: What requests inherit

    /// What every request inherits that is added from now on.
    public var environment: RequestEnvironment {
        get { shared.withLock { $0 } }
        set { replaceEnvironment(by: newValue) { _ in true } }
    }

    /// Changes the environment in one step, which no other thread comes between.
    ///
    /// The closure may read the client, and mustn't change it. It is called again, with what is there by then, where
    /// another thread has changed the environment in the meantime.
    public func configure(_ change: @Sendable (inout RequestEnvironment) -> Void) {
        var isDone = false
        while !isDone {
            let former = environment
            var changed = former
            change(&changed)
            isDone = replaceEnvironment(by: changed) { $0.revision == former.revision }
        }
    }

    /// Puts another environment in the place of the present one, if that is the one it should be.
    ///
    /// What goes goes outside the lock, since it may be the last to hold on to something whose end is the caller's.
    @discardableResult
    private func replaceEnvironment(
        by environment: RequestEnvironment,
        if isExpected: (RequestEnvironment) -> Bool
    ) -> Bool {
        var environment = environment
        environment.revision = EnvironmentRevision()
        environment.detachedWork = lanes.detachedWork
        return shared.withLock { present in
            guard isExpected(present) else { return false }
            swap(&present, &environment)
            return true
        }
    }

    /// What relative addresses are appended to.
    public var baseURL: URL? { environment.baseURL }

    // MARK: The queue

    /// How many requests run at once; changes count for requests that haven't started.
    public var maxConcurrentRequests: Int {
        get { lanes.bounded.maxConcurrentOperationCount }
        set { lanes.bounded.maxConcurrentOperationCount = Lanes.width(newValue) }
    }

    /// Whether requests that haven't started wait.
    public var isSuspended: Bool {
        get { lanes.bounded.isSuspended }
        set { lanes.bounded.isSuspended = newValue }
    }

    /// The underlying queue of an operation queue that the client was made with; `nil` without one.
    public var underlyingQueue: DispatchQueue? { lanes.bounded.underlyingQueue }

    /// The operations that aren't finished.
    public var operations: [Operation] { lanes.bounded.operations + lanes.unbounded.operations }

    // MARK: Progress

    /// How far the requests have come together that were added since there was last nothing to do.
    ///
    /// Nothing is counted before this, or ``progressUpdates()``, is first asked for: the first answer knows of the
    /// requests that aren't finished then. Those of a client that ``inheriting(_:)`` made count too, as its requests run
    /// on the same queue; operations that aren't of this library don't.
    public var progress: QueueProgress { lanes.follower.progress { operations } }

    /// How far the requests have come together, as a sequence, which begins with the present and ends with the client.
    ///
    /// Who is slow gets the newest. Each call makes a sequence of its own.
    public func progressUpdates() -> AsyncStream<QueueProgress> { lanes.follower.updates { operations } }

    /// What tells the requests of this client, and of those derived from it, from all others.
    var laneIdentity: any AnyObject & Sendable { lanes.bounded }

    // MARK: Running

    /// Takes an operation, to start it when its turn has come.
    ///
    /// What a running operation waits for starts at once, such as the request of an interceptor or the refresh of a
    /// credential: the operations that wait for it may have all the places.
    public func addOperation(_ operation: Operation) {
        if let operation = operation as? AsynchronousOperation {
            operation.takePlace(in: operation.exclusivity)
            // On a queue of the client's own there are no others to tell them from.
            if !lanes.isOwn { operation.core.withLock { $0.links.isOfClient = true } }
        }
        lanes.follower.add(operation)
        let lane = CallScope.isOnBehalfOfAnother ? lanes.unbounded : lanes.bounded
        lane.addOperation(operation)
        operation.remindQueue()
    }

    /// Cancels every request that isn't finished, and every group of requests.
    ///
    /// On an operation queue of yours, these are the requests that clients of that queue have added. Other operations stay
    /// as they are, whatever added them, and so do requests that were added to the queue itself.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func cancelAllRequests() {
        for request in requestsToCancel { request.cancel() }
    }

    /// The requests of clients of this queue, and their groups.
    var requestsToCancel: [Operation] {
        let (isOwn, requests) = (lanes.isOwn, operations.requests)
        return isOwn ? requests : requests.filter(\.isOfClient)
    }

    /// What `dump` shows: what requests inherit, without secrets.
    ///
    /// Foundation's queues can't be read while they work.
    public var customMirror: Mirror {
        Mirror(self, children: ["environment": environment, "isSuspended": isSuspended], displayStyle: .class)
    }

    /// The queue, and another one without a bound, for what others wait for.
    private final class Lanes: Sendable {
        let bounded: OperationQueue
        let unbounded = OperationQueue()
        let follower = QueueFollower()
        let detachedWork = DetachedWork()

        /// Whether the bounded queue is the client's own.
        let isOwn: Bool

        init(_ queue: OperationQueue) {
            bounded = queue
            isOwn = false
        }

        init(_ width: Int) {
            bounded = OperationQueue()
            isOwn = true
            bounded.name = "Requests.HTTPClient"
            bounded.maxConcurrentOperationCount = Self.width(width)
        }

        deinit {
            detachedWork.end()
            // Nobody can let the operations of a suspended queue start any more.
            guard isOwn, bounded.isSuspended else { return }
            bounded.cancelAllOperations()
            bounded.isSuspended = false
        }

        /// What the system takes: it traps on numbers below its default, and stands still with none.
        static func width(_ width: Int) -> Int {
            width == OperationQueue.defaultMaxConcurrentOperationCount ? width : max(1, width)
        }
    }
}
