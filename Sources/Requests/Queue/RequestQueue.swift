// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Something that runs requests: an `OperationQueue`, or a stand-in for one.
///
/// All that can be done with requests is done by extensions of this protocol, on whatever adopts it. A queue for tests
/// needs two members, and may finish the operations that it is given with ``RequestOperation/finish(with:)``, or with a
/// whole response, ``NetworkOperation/finish(with:)``:
///
/// ```swift
/// final class CannedQueue: RequestQueue {
///     var operations: [Operation] { [] }
///     func addOperation(_ operation: Operation) {
///         (operation as? RequestOperation<RecipeRequest>)?.finish(with: .success(.pancakes))
///     }
/// }
/// ```
///
/// An `OperationQueue` inherits an environment without changes, also where a subclass declares one: a class can't
/// change what its superclass adopts. To give requests an environment of your own, write a class that holds an
/// operation queue, hands `operations` and `addOperation` on to it, and has `environment` and `transport`.
public protocol RequestQueue: AnyObject, Sendable {
    /// The type of the underlying queue: itself or an optional.
    associatedtype UnderlyingQueue: OptionalConvertible<DispatchQueue> = DispatchQueue?
    /// The type of the transport: `any HTTPTransport`, or one transport's.
    associatedtype QueueTransport = any HTTPTransport

    /// The operations that aren't finished.
    var operations: [Operation] { get }
    /// Where completions go that name no queue; nil, the default, is the global queue of utility quality.
    var underlyingQueue: UnderlyingQueue { get }
    /// What carries requests that name no transport; by default ``DefaultTransport``.
    ///
    /// A property of a type that isn't a transport doesn't compile.
    var transport: QueueTransport { get }
    /// The transport, whatever its type. Not for you to implement: declare ``transport``.
    var requestTransport: any HTTPTransport { get }
    /// What every request inherits; by default an environment without changes.
    var environment: RequestEnvironment { get }

    /// Takes an operation, to start it when its turn has come.
    func addOperation(_ operation: Operation)
}

extension RequestQueue where UnderlyingQueue == DispatchQueue? {
    /// Nil: the global queue of utility quality.
    public var underlyingQueue: DispatchQueue? { nil }
}

extension RequestQueue where QueueTransport == any HTTPTransport {
    /// The platform's best.
    public var transport: any HTTPTransport { DefaultTransport.shared }
    /// The transport.
    public var requestTransport: any HTTPTransport { transport }
}

extension RequestQueue where QueueTransport: HTTPTransport {
    /// The transport.
    public var requestTransport: any HTTPTransport { transport }
}

extension RequestQueue {
    /// An environment without changes.
    public var environment: RequestEnvironment { .unchanged }
}

extension OperationQueue: RequestQueue {}

extension RequestEnvironment {
    fileprivate static let unchanged = RequestEnvironment()
}

// MARK: - Adding

extension RequestQueue {
    /// Runs a request as an operation of this queue.
    ///
    /// ```swift
    /// let recipe = queue.addRequest(RecipeRequest(recipeID: "1")) { result in … }
    /// ```
    ///
    /// The operation is on the queue when this returns, and may have started. What has to be set before goes in here,
    /// or into an operation of ``makeOperation(for:session:completionQueue:coalescing:completion:)``. One that an
    /// interceptor, a condition or the refresh of a credential adds runs beside an `OperationQueue`: the operations that
    /// wait for it may have all places.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it: a `URLSession`, or any other transport; nil, the default, is the queue's.
    ///   - completionQueue: Where the completion is called; by default the underlying queue of this queue, else the
    ///     global queue of utility quality.
    ///   - dependencies: What has to be finished, well or not, before the request starts.
    ///   - priority: How soon it starts, among those that could; nil, the default, is the request's own option,
    ///     or else normal.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue and transport, instead of sending
    ///     it again: one that is unfinished when the request is added, or, where there are dependencies, when they are
    ///     finished. Equal are requests of one identifier that are the same on the wire, credentials and cookies
    ///     included, as the article about concurrency says in full. What is shared is the answer as it came: each request
    ///     keeps its own operation, deadline, decoding and accepted statuses. The transfer is cancelled when nobody waits
    ///     for it any more. Requests with unsafe methods are sent in any case.
    ///   - completion: Takes the result. Called exactly once, always asynchronously, also for an operation that is
    ///     cancelled while it waits. It is on its queue before any operation that depends on this one starts; one that
    ///     runs on the same serial queue runs behind it.
    /// - Returns: The operation, typed: others can depend on it, and read its result.
    @discardableResult
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(from: .value(request), session, completionQueue, completion)
        let options = operation.plan?.options
        if coalescing || options?.coalesce == true {
            operation.share(on: sharingIdentity, atStart: !dependencies.isEmpty)
        }
        enqueue(operation, dependencies: dependencies, priority: priority ?? options?.priority)
        return operation
    }

    /// Makes the operation of a request without adding it, to configure it first.
    ///
    /// Add it with `addOperation`, once. It needn't be this queue that runs it; what it inherits comes from this one.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it; nil, the default, is this queue's transport.
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue that is unfinished when the
    ///     operation starts.
    ///   - completion: Takes the result, as with `addRequest`.
    /// - Returns: The operation, on no queue yet.
    public func makeOperation<R: NetworkRequest>(
        for request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        coalescing: Bool = false,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(from: .value(request), session, completionQueue, completion)
        let options = operation.plan?.options
        if coalescing || options?.coalesce == true {
            operation.share(on: sharingIdentity, atStart: true)
        }
        if let priority = options?.priority { operation.queuePriority = priority }
        return operation
    }

    func makeOperation<R: NetworkRequest>(
        from source: RequestSource<R>,
        _ session: (any HTTPTransport)?,
        _ completionQueue: DispatchQueue?,
        _ completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)?
    ) -> R.OperationType {
        let operation = R.makeOperation(
            OperationConfiguration(
                source: source,
                transport: session ?? requestTransport,
                environment: environment
            )
        )
        // What is decoded where the operation starts would hold up the completions there: the main queue, for example.
        let underlyingQueue = underlyingQueue.asOptional
        if underlyingQueue != nil { operation.startElsewhere() }
        if let completion {
            operation.addCompletion(on: completionQueue ?? underlyingQueue ?? .global(qos: .utility), completion)
        }
        return operation
    }

    /// What tells the requests of this queue from all others.
    var sharingIdentity: QueueIdentity {
        let client = self as? HTTPClient
        return QueueIdentity(queue: client?.laneIdentity ?? self, isClient: client != nil)
    }

    func enqueue(_ operation: Operation, dependencies: [Operation], priority: Operation.QueuePriority?) {
        for dependency in dependencies { operation.addDependency(dependency) }
        if let priority, priority != operation.queuePriority { operation.queuePriority = priority }
        place(operation)
    }

    /// Adds an operation, which takes no place in an operation queue if a running operation waits for it.
    ///
    /// The operations that wait may have all the places. A client sees to that itself, and so must a queue of another kind that has a bound.
    func place(_ operation: Operation) {
        if CallScope.isOnBehalfOfAnother, self is OperationQueue {
            OperationQueue.besideBounds.addOperation(operation)
        } else {
            addOperation(operation)
        }
        operation.remindQueue()
    }
}

extension OperationQueue {
    /// Without a bound.
    fileprivate static let besideBounds = OperationQueue()
}

// MARK: - Finding

extension RequestQueue {
    /// The unfinished operation of an equal request on this queue: of the same type, with the same identifier.
    ///
    /// To send equal requests once, add them with `coalescing` instead: between this question and what you do about the
    /// answer, the operation may finish.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func requestCurrentlyExecuting<R: Request>(_ request: R) -> RequestOperation<R>? {
        for case let operation as RequestOperation<R> in operations
        where operation.result == nil && !operation.isFinished && operation.request == request {
            return operation
        }
        return nil
    }

    /// Cancels the operations of this queue whose requests fulfil a condition.
    ///
    /// ```swift
    /// queue.cancelRequests { $0 is ThumbnailRequest }
    /// ```
    ///
    /// Operations whose requests are yet to be made from the results of others aren't asked about.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    /// - Throws: What the condition throws; what was cancelled before stays so.
    public func cancelRequests(where condition: (any Request) throws -> Bool) rethrows {
        for case let operation as any AnyRequestOperation in operations {
            if let request = operation.anyRequest, try condition(request) { operation.cancel() }
        }
    }
}

/// A request operation whose request type isn't known.
private protocol AnyRequestOperation: Operation {
    var anyRequest: (any Request)? { get }
}

extension RequestOperation: AnyRequestOperation {
    fileprivate var anyRequest: (any Request)? { request }
}

// MARK: - Configuring

extension OperationQueue {
    /// This queue, as one whose requests inherit something: monitors, interceptors, a base URL.
    ///
    /// ```swift
    /// let watched = queue.configured { $0.monitors.append(.console) }
    /// watched.addRequest(RecipeRequest(recipeID: "1"))
    /// ```
    ///
    /// The operations run on this very queue, beside those that are added to it otherwise: its bound, its quality of
    /// service and its suspension count for all. Keep what is returned as long as requests are added; requests share
    /// transfers only if it is the same object that they were added to.
    ///
    /// - Parameters:
    ///   - transport: What carries the requests; nil, the default, is the platform's best.
    ///   - configure: Changes what the requests inherit. What it throws, this does.
    /// - Returns: A queue that adds operations to this one.
    public func configured(
        transport: (any HTTPTransport)? = nil,
        _ configure: (inout RequestEnvironment) throws -> Void
    ) rethrows -> some RequestQueue {
        var environment = RequestEnvironment()
        try configure(&environment)
        return ConfiguredQueue(self, environment, transport ?? DefaultTransport.shared)
    }
}

/// An operation queue, with what its requests inherit.
private final class ConfiguredQueue: RequestQueue {
    let environment: RequestEnvironment
    let transport: any HTTPTransport
    private let queue: OperationQueue

    init(_ queue: OperationQueue, _ environment: RequestEnvironment, _ transport: any HTTPTransport) {
        self.queue = queue
        self.environment = environment
        self.transport = transport
    }

    var operations: [Operation] { queue.operations }
    var underlyingQueue: DispatchQueue? { queue.underlyingQueue }

    func addOperation(_ operation: Operation) { queue.place(operation) }
}
