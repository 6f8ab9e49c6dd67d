// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A queue for the requests of one API, with an environment that they inherit, a transport and an operation queue.
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
/// A client has all functions of a ``RequestQueue``. Its requests inherit the ``environment``; changes affect requests
/// that are added afterwards. The client stores cookies in its own jar, in memory, unless you replace the environment's
/// `cookies` or set them to `nil`. All methods are thread-safe. <doc:ClientSettings> lists all settings.
///
/// You may release a client while its requests run: they still complete.
public final class HTTPClient: RequestQueue, AdmittingQueue, CustomReflectable {
    /// A client without a base URL, which `HTTPRequest.fetch` uses by default.
    public static let shared = HTTPClient()

    /// The best transport of the platform, which is used by requests on queues that don't specify one.
    ///
    /// On Apple platforms, the default is `URLSession.shared`, and a client without a transport uses a private session
    /// instead. On Linux, it is ``CurlTransport`` or, if libcurl can't
    /// be loaded (for example in statically linked programs), a ``URLSessionTransport``, whose documentation lists its
    /// bugs on Linux. Use the default as the base of your own transport.
    public static var defaultTransport: any HTTPTransport { DefaultTransport.shared }

    /// The transport of requests that don't specify one.
    public let transport: any HTTPTransport
    private let queues: OperationQueues
    private let suspensionToken: SuspensionToken?
    private let currentEnvironment: Locked<RequestEnvironment>

    /// Creates a client without a base URL, whose requests need absolute URLs.
    ///
    /// - Parameters:
    ///   - maxConcurrentRequests: The maximum number of concurrent requests, at least one; by default, the system
    ///     decides. A request also counts while it waits for a retry, a credential or a limiter.
    ///   - transport: The transport; `nil`, the default, uses the platform's best transport, without a cookie storage,
    ///     cache or credential storage: on Apple platforms, a private session.
    ///   - configure: Changes the environment, which already has a cookie jar. This initializer rethrows its errors.
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
        queues.stamp(&environment)
        self.queues = queues
        suspensionToken = SuspensionToken(queues)
        currentEnvironment = Locked(environment)
        self.transport = transport ?? DefaultTransport.private()
    }

    /// Creates a client with a base URL.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that relative URLs are appended to. With `nil`, which `URL(string:)` returns for an invalid
    ///     string, every request fails before it is sent. For a client without a base URL, omit this parameter.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests, at least one; by default, the system
    ///     decides. A request also counts while it waits for a retry, a credential or a limiter.
    ///   - transport: The transport; `nil`, the default, uses the platform's best transport, without a cookie storage,
    ///     cache or credential storage: on Apple platforms, a private session.
    ///   - configure: Changes the environment, which already has the base URL and a cookie jar. This initializer
    ///     rethrows its errors.
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

    /// Creates a client with a base URL from a string, and validates the string immediately.
    ///
    /// ```swift
    /// let client = try HTTPClient(baseURL: settings.server) { $0.retry = .default }
    /// ```
    ///
    /// In contrast, `URL(string:)` returns `nil` for an invalid string, and every request of a client with that base
    /// URL fails.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute URL with a host and the scheme `http` or `https`, or, for WebSockets only, `ws` or
    ///     `wss`.
    ///   - maxConcurrentRequests: The maximum number of concurrent requests; by default, the system decides.
    ///   - transport: The transport; `nil`, the default, uses the platform's best transport, as in
    ///     ``init(maxConcurrentRequests:transport:_:)``.
    ///   - configure: Changes the environment; does nothing by default.
    /// - Throws: ``InvalidValue`` if the string isn't such a URL; any error that `configure` throws.
    public convenience init(
        baseURL: String,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void = { _ in }
    ) throws {
        var request = HTTPRequest(url: URL(base: baseURL).asHTTP)
        do throws(InvalidValue) { try request.validate() } catch {
            // The error quotes the original string, because a `URL` would escape it.
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

    /// Creates a client whose requests inherit only a cookie jar; see `init(maxConcurrentRequests:transport:_:)`.
    public convenience init(
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(maxConcurrentRequests: maxConcurrentRequests, transport: transport) { _ in }
    }

    /// Creates a client whose requests inherit only a base URL and a cookie jar; see
    /// `init(baseURL:maxConcurrentRequests:transport:_:)`.
    public convenience init(
        baseURL: URL?,
        maxConcurrentRequests: Int = OperationQueue.defaultMaxConcurrentOperationCount,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(baseURL: baseURL, maxConcurrentRequests: maxConcurrentRequests, transport: transport) { _ in }
    }

    /// Creates a client whose requests run on an existing operation queue.
    ///
    /// ```swift
    /// let client = HTTPClient(queue: queue) { $0.monitors.append(.console) }
    /// ```
    ///
    /// The client gives requests on a plain `OperationQueue` an environment, with monitors, retries or a base URL. The
    /// queue keeps its width, its suspension and its underlying queue, which also apply to WebSockets. Requests that
    /// are added directly to the queue inherit nothing.
    ///
    /// - Parameters:
    ///   - queue: The queue of the requests, which may also contain other operations.
    ///   - transport: The transport; `nil`, the default, uses the platform's best transport, as in
    ///     ``init(maxConcurrentRequests:transport:_:)``.
    ///   - configure: Changes the environment; does nothing by default.
    public convenience init(
        queue: OperationQueue,
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) {
        self.init(OperationQueues(queue), transport: transport, configure)
    }

    private init(_ environment: RequestEnvironment, sharingQueuesOf client: HTTPClient) {
        currentEnvironment = Locked(environment)
        transport = client.transport
        (queues, suspensionToken) = (client.queues, client.suspensionToken)
    }

    private init(withoutSuspensionTokenOf client: HTTPClient) {
        (currentEnvironment, transport, queues, suspensionToken) = (
            client.currentEnvironment, client.transport, client.queues, nil
        )
    }

    /// A copy of this client without its suspension token, for groups, because a group can't resume a suspended queue.
    var withoutSuspensionToken: HTTPClient {
        suspensionToken == nil ? self : HTTPClient(withoutSuspensionTokenOf: self)
    }

    /// Returns a client with the same queue and transport, and a changed copy of the environment.
    ///
    /// ```swift
    /// let admin = client.inheriting { $0.headers["X-Role"] = "admin" }
    /// ```
    ///
    /// The requests of both clients count toward the same maximum number of concurrent requests. Later changes to this
    /// client's environment don't affect the new client. Both share the objects in the environment, such as the cookie
    /// jar, a cache and limiters, unless you replace them here.
    public func inheriting(_ configure: (inout RequestEnvironment) throws -> Void) rethrows -> HTTPClient {
        var environment = environment
        try configure(&environment)
        queues.stamp(&environment)
        return HTTPClient(environment, sharingQueuesOf: self)
    }

    /// Returns a client that differs from this client only in its base URL.
    ///
    /// The new client has the same revision, so equal requests share a transfer even if this method is called
    /// repeatedly.
    func relocated(to baseURL: URL?) -> HTTPClient {
        var environment = environment
        guard environment.baseURL != baseURL else { return self }
        environment.setBaseURL(baseURL)
        environment.shareConfiguration()
        return HTTPClient(environment, sharingQueuesOf: self)
    }

    // MARK: Environment

    /// The settings that requests inherit when they are added.
    public var environment: RequestEnvironment {
        get {
            let environment = currentEnvironment.withLock { $0 }
            // The caller may have set or removed the limit of its own queue.
            guard environment.hasOwnLimit != queues.bounded.isLimited else { return environment }
            return updateLimit(of: environment)
        }
        set { replaceEnvironment(by: newValue) { _ in true } }
    }

    /// Changes the environment atomically.
    ///
    /// The closure may read the client, but must not change it. If another thread has changed the environment in the
    /// meantime, the closure is called again with the current value.
    public func configure(_ change: @Sendable (inout RequestEnvironment) -> Void) {
        var isDone = false
        while !isDone {
            let previous = environment
            var changed = previous
            change(&changed)
            isDone = replaceEnvironment(by: changed) { $0.revision == previous.revision }
        }
    }

    /// Updates the environment after the queue has gained or lost a limit.
    private func updateLimit(of environment: RequestEnvironment) -> RequestEnvironment {
        var updated = environment
        updated.hasOwnLimit.toggle()
        updated.shareConfiguration()
        let result = updated
        currentEnvironment.withLock { current in
            if current.revision == environment.revision { swap(&current, &updated) }
        }
        return result
    }

    /// Replaces the environment, if the current environment satisfies the condition.
    ///
    /// The previous environment is released outside the lock, because that may deallocate the caller's objects.
    @discardableResult
    private func replaceEnvironment(
        by environment: RequestEnvironment,
        if isExpected: (RequestEnvironment) -> Bool
    ) -> Bool {
        var environment = environment
        queues.stamp(&environment)
        return currentEnvironment.withLock { current in
            guard isExpected(current) else { return false }
            swap(&current, &environment)
            return true
        }
    }

    /// The URL that relative URLs are appended to.
    public var baseURL: URL? { environment.baseURL }

    // MARK: The queue

    /// The maximum number of concurrent requests; changes affect requests that haven't started.
    ///
    /// An upgraded connection, such as a WebSocket, doesn't count.
    public var maxConcurrentRequests: Int {
        get { queues.bounded.maxConcurrentOperationCount }
        set { queues.bounded.maxConcurrentOperationCount = OperationQueues.clampedWidth(newValue) }
    }

    /// Whether the client delays the start of requests; running requests continue.
    public var isSuspended: Bool {
        get { queues.bounded.isSuspended }
        set { for queue in [queues.bounded, queues.exempt] { queue.isSuspended = newValue } }
    }

    /// The underlying queue of the operation queue that the client was created with; `nil` if there is none.
    public var underlyingQueue: DispatchQueue? { queues.bounded.underlyingQueue }

    /// The unfinished operations.
    public var operations: [Operation] {
        queues.bounded.operations + queues.exempt.operations + queues.nested.operations
    }

    // MARK: Progress

    /// The combined progress of the requests that were added since the queue was last empty.
    ///
    /// Counting begins with the first use of this property or of ``progressUpdates()``; the first value includes the
    /// requests that are unfinished at that time. Requests of clients from ``inheriting(_:)`` also count, because they
    /// run on the same queue. Operations of other kinds don't count.
    public var progress: QueueProgress { queues.progressObserver.progress { operations } }

    /// Returns the combined progress of the requests as a sequence, which begins with the current value and ends with
    /// the client.
    ///
    /// A slow consumer gets only the newest value. Each call returns a separate sequence.
    public func progressUpdates() -> AsyncStream<QueueProgress> { queues.progressObserver.updates { operations } }

    /// The identity of this client, and of clients derived from it, for coalescing.
    var queueIdentity: any AnyObject & Sendable { queues.bounded }

    // MARK: Running

    /// Adds an operation, which the queue starts when it is ready and a slot is free.
    ///
    /// If a running operation waits for the new operation, such as a request of an interceptor or a credential refresh,
    /// the new operation starts immediately, because waiting operations may occupy all slots.
    public func addOperation(_ operation: Operation) { admit(operation) }

    func accept(_ operation: Operation) {
        // On a queue that the caller provided, a mark distinguishes the client's operations from other operations.
        if !queues.ownsBoundedQueue { (operation as? AsynchronousOperation)?.add(ClientMark.shared) }
        queues.progressObserver.add(operation)
        let isExempt =
            queues.ownsBoundedQueue && (operation as? AnyRequestOperation)?.kind.ignoresConcurrencyLimit == true
        let queue = NestingContext.isNested ? queues.nested : isExempt ? queues.exempt : queues.bounded
        queue.addOperation(operation)
    }

    /// Cancels every unfinished request, and every group of requests.
    ///
    /// If the client runs on an operation queue that you provided, the method cancels the requests that were added
    /// through clients of that queue. Other operations aren't affected, nor are requests that were added directly to
    /// the queue.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func cancelAllRequests() {
        for request in requestsToCancel { request.cancel() }
    }

    /// The requests that clients of this queue have added, and their groups.
    var requestsToCancel: [Operation] {
        let (ownsQueue, requests) = (queues.ownsBoundedQueue, operations.requests)
        return ownsQueue
            ? requests : requests.filter { ($0 as? AsynchronousOperation)?.observer(ClientMark.self) != nil }
    }

    /// A mirror of the environment for `dump`, without secrets.
    ///
    /// The mirror omits Foundation's queues, which can't be read while they work.
    public var customMirror: Mirror {
        Mirror(self, children: ["environment": environment, "isSuspended": isSuspended], displayStyle: .class)
    }
}

/// Marks an operation that a client has added to an operation queue that other code may also use.
private final class ClientMark: OperationObserver {
    static let shared = ClientMark()
}
