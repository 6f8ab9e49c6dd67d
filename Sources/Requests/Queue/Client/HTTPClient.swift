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
/// A client does everything that a ``RequestQueue`` does. Its requests inherit the ``environment``; changing it affects
/// requests that are added afterwards. Cookies are stored in a jar of the client's own, in memory, unless the
/// environment has another, or `nil`. Safe from any thread. <doc:ClientSettings> lists all settings.
///
/// A client may be deallocated while its requests run: they still complete.
public final class HTTPClient: RequestQueue, AdmittingQueue, CustomReflectable {
    /// A client without a base URL: the one that `HTTPRequest.fetch` uses.
    public static let shared = HTTPClient()

    /// The transport of requests that name none: the best that the platform has.
    ///
    /// On Apple platforms that is `URLSession.shared`. On Linux it is ``CurlTransport``; if libcurl can't be loaded, as in
    /// statically linked programs, it is a ``URLSessionTransport``, whose documentation lists its faults there. Use it
    /// as the base of a transport of your own.
    public static var defaultTransport: any HTTPTransport { DefaultTransport.shared }

    /// The transport of requests that name none of their own.
    public let transport: any HTTPTransport
    private let queues: OperationQueues
    private let suspensionToken: SuspensionToken?
    private let shared: Locked<RequestEnvironment>

    /// Makes a client without a base URL, whose requests need absolute addresses.
    ///
    /// - Parameters:
    ///   - maxConcurrentRequests: The maximum number of concurrent requests, at least one; by default the system
    ///     decides. Requests that wait for a retry, for a credential or for a limiter count.
    ///   - transport: The transport; `nil`, the default, is the platform's best, without cookies, cache and credentials
    ///     of its own.
    ///   - configure: Changes the environment; it already has a jar for cookies. An error that it throws is thrown
    ///     here.
    public convenience init(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        try self.init(OperationQueues(maxConcurrentRequests), transport: transport, configure)
    }

    private init(
        _ queues: OperationQueues,
        transport: (any HTTPTransport)?,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows {
        var environment = RequestEnvironment()
        environment.cookies = CookieJar()
        try configure(&environment)
        queues.complete(&environment)
        self.queues = queues
        suspensionToken = SuspensionToken(queues)
        shared = Locked(environment)
        self.transport = transport ?? DefaultTransport.private()
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that relative addresses are appended to. With `nil`, which `URL(string:)` returns for an
    ///     invalid text, every request fails before it is sent; for a client without a base URL, omit it.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests, at least one; by default the system
    ///     decides. Requests that wait for a retry, for a credential or for a limiter count.
    ///   - transport: The transport; `nil`, the default, is the platform's best, without cookies, cache and credentials
    ///     of its own.
    ///   - configure: Changes the environment; it already has the base URL and a jar for cookies. An error that it
    ///     throws is thrown here.
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

    /// Makes a client for a base URL given as a text, and checks it at once.
    ///
    /// ```swift
    /// let client = try HTTPClient(baseURL: settings.server) { $0.retry = .default }
    /// ```
    ///
    /// `URL(string:)` returns `nil` for an invalid text, and each request of a client with a base URL of `nil` fails.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute address with a host: `http` or `https`, or, for WebSockets only, `ws` or `wss`.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default the system decides.
    ///   - transport: The transport; `nil`, the default, is the platform's best.
    ///   - configure: Changes the environment; does nothing by default.
    /// - Throws: ``InvalidValue`` if the text isn't such an address; any error that `configure` throws.
    public convenience init(
        baseURL: String,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void = { _ in }
    ) throws {
        var request = HTTPRequest(url: URL(base: baseURL).asHTTP)
        do throws(InvalidValue) { try request.validate() } catch {
            // With the text itself, which a URL would escape.
            throw error.kind == .url
                ? InvalidValue(.url, baseURL.isEmpty ? "is empty" : error.reason, excerpt: baseURL) : error
        }
        try self.init(
            baseURL: URL(base: baseURL),
            maxConcurrentRequests: maxConcurrentRequests,
            transport: transport,
            configure
        )
    }

    /// Makes a client whose requests inherit only a jar for cookies; see
    /// `init(maxConcurrentRequests:transport:_:)`.
    public convenience init(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(maxConcurrentRequests: maxConcurrentRequests, transport: transport) { _ in }
    }

    /// Makes a client whose requests inherit only a base URL and a jar for cookies; see
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
    /// This gives a plain `OperationQueue` an environment: monitors, retries, a base URL. Its width, its suspension and
    /// its underlying queue stay those of the queue, also for WebSockets; and requests that are added to the queue
    /// itself inherit nothing.
    ///
    /// - Parameters:
    ///   - queue: The queue of the requests; it may have other operations.
    ///   - transport: The transport; `nil`, the default, is the platform's best.
    ///   - configure: Changes the environment; does nothing by default.
    public convenience init(
        queue: OperationQueue,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) {
        self.init(OperationQueues(queue), transport: transport, configure)
    }

    private init(_ environment: RequestEnvironment, besides client: HTTPClient) {
        shared = Locked(environment)
        transport = client.transport
        (queues, suspensionToken) = (client.queues, client.suspensionToken)
    }

    private init(forGroupsOf client: HTTPClient) {
        (shared, transport, queues, suspensionToken) = (client.shared, client.transport, client.queues, nil)
    }

    /// This client for its groups: it doesn't count as one that may resume a suspended queue.
    var withoutSuspensionToken: HTTPClient { suspensionToken == nil ? self : HTTPClient(forGroupsOf: self) }

    /// Returns a client that shares this one's queue and transport, and has a changed copy of its environment.
    ///
    /// ```swift
    /// let admin = client.inheriting { $0.headers["X-Role"] = "admin" }
    /// ```
    ///
    /// The requests of both count together towards the maximum of concurrent requests. Later changes of this client's
    /// environment don't affect the other. Objects in an environment, such as the jar of cookies, a cache and limiters,
    /// are shared unless they are replaced here.
    public func inheriting(_ configure: (inout RequestEnvironment) throws -> Void) rethrows -> HTTPClient {
        var environment = environment
        try configure(&environment)
        queues.complete(&environment)
        return HTTPClient(environment, besides: self)
    }

    /// Returns this client with another base URL, and no other change.
    ///
    /// The revision is the same, so equal requests share a transfer even if it is called repeatedly.
    func relocated(to baseURL: URL?) -> HTTPClient {
        var environment = environment
        guard environment.baseURL != baseURL else { return self }
        environment.setBaseURL(baseURL)
        environment.shareConfiguration()
        return HTTPClient(environment, besides: self)
    }

    // MARK: Environment

    /// The settings that requests inherit when they are added.
    public var environment: RequestEnvironment {
        get {
            let environment = shared.withLock { $0 }
            // The width may have changed, even that of a caller's queue.
            guard environment.hasOwnLimit != queues.bounded.isLimited else { return environment }
            return updateLimit(of: environment)
        }
        set { replaceEnvironment(by: newValue) { _ in true } }
    }

    /// Changes the environment atomically.
    ///
    /// The closure may read the client, and must not change it. It is called again, with the present value, if another
    /// thread has changed the environment in the meantime.
    public func configure(_ change: @Sendable (inout RequestEnvironment) -> Void) {
        var isDone = false
        while !isDone {
            let former = environment
            var changed = former
            change(&changed)
            isDone = replaceEnvironment(by: changed) { $0.revision == former.revision }
        }
    }

    /// Records in the environment whether the queue has a limit of its own.
    private func updateLimit(of environment: RequestEnvironment) -> RequestEnvironment {
        var updated = environment
        updated.hasOwnLimit.toggle()
        updated.shareConfiguration()
        let result = updated
        shared.withLock { present in
            if present.revision == environment.revision { swap(&present, &updated) }
        }
        return result
    }

    /// Replaces the environment, if the present one fulfils the condition.
    ///
    /// The former one is released outside the lock, since that may deallocate a caller's objects.
    @discardableResult
    private func replaceEnvironment(
        by environment: RequestEnvironment,
        if isExpected: (RequestEnvironment) -> Bool
    ) -> Bool {
        var environment = environment
        queues.complete(&environment)
        return shared.withLock { present in
            guard isExpected(present) else { return false }
            swap(&present, &environment)
            return true
        }
    }

    /// The URL that relative addresses are appended to.
    public var baseURL: URL? { environment.baseURL }

    // MARK: The queue

    /// The maximum number of concurrent requests; changes affect requests that haven't started.
    ///
    /// A connection that was upgraded, such as a WebSocket, doesn't count.
    public var maxConcurrentRequests: Int {
        get { queues.bounded.maxConcurrentOperationCount }
        set { queues.bounded.maxConcurrentOperationCount = OperationQueues.width(newValue) }
    }

    /// Whether requests that haven't started wait.
    public var isSuspended: Bool {
        get { queues.bounded.isSuspended }
        set { for queue in [queues.bounded, queues.exempt] { queue.isSuspended = newValue } }
    }

    /// The underlying queue of an operation queue that the client was made with; `nil` without one.
    public var underlyingQueue: DispatchQueue? { queues.bounded.underlyingQueue }

    /// The operations that aren't finished.
    public var operations: [Operation] {
        queues.bounded.operations + queues.exempt.operations + queues.nested.operations
    }

    // MARK: Progress

    /// The common progress of the requests that were added since the queue was last empty.
    ///
    /// Nothing is counted before this, or ``progressUpdates()``, is first used: the first value includes the requests
    /// that aren't finished then. Requests of a client that ``inheriting(_:)`` made count too, as they run on the same
    /// queue; operations of other kinds don't.
    public var progress: QueueProgress { queues.progressObserver.progress { operations } }

    /// The common progress of the requests, as a sequence, which begins with the present value and ends with the
    /// client.
    ///
    /// A slow consumer gets the newest value. Each call makes a sequence of its own.
    public func progressUpdates() -> AsyncStream<QueueProgress> { queues.progressObserver.updates { operations } }

    /// The identity that separates the requests of this client, and of those derived from it, from all others.
    var queueIdentity: any AnyObject & Sendable { queues.bounded }

    // MARK: Running

    /// Adds an operation, to start it when its turn has come.
    ///
    /// An operation that a running one waits for starts at once, such as the request of an interceptor or the refresh
    /// of a credential: the waiting operations may have all the places.
    public func addOperation(_ operation: Operation) { admit(operation) }

    func accept(_ operation: Operation) {
        // A queue of the client's own has no operations of others.
        if !queues.isOwn { (operation as? AsynchronousOperation)?.add(ClientMark.shared) }
        queues.progressObserver.add(operation)
        let isUncounted = queues.isOwn && (operation as? AnyRequestOperation)?.kind.ignoresConcurrencyLimit == true
        let queue = NestingContext.isNested ? queues.nested : isUncounted ? queues.exempt : queues.bounded
        queue.addOperation(operation)
    }

    /// Cancels every request that isn't finished, and every group of requests.
    ///
    /// On an operation queue of yours, these are the requests that clients of that queue have added. Other operations
    /// aren't affected, nor are requests that were added to the queue itself.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func cancelAllRequests() {
        for request in requestsToCancel { request.cancel() }
    }

    /// The requests of clients of this queue, and their groups.
    var requestsToCancel: [Operation] {
        let (isOwn, requests) = (queues.isOwn, operations.requests)
        return isOwn ? requests : requests.filter { ($0 as? AsynchronousOperation)?.observer(ClientMark.self) != nil }
    }

    /// A mirror of the environment, without secrets, for `dump`.
    ///
    /// Foundation's queues can't be read while they work.
    public var customMirror: Mirror {
        Mirror(self, children: ["environment": environment, "isSuspended": isSuspended], displayStyle: .class)
    }
}

/// Marks an operation that a client has added to an operation queue that others may also use.
private final class ClientMark: OperationObserver {
    static let shared = ClientMark()
}
