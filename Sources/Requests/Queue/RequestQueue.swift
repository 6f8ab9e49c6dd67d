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
        add(operation, dependencies, priority, coalescing: coalescing)
        return operation
    }

    /// Runs a request as an operation of this queue, whose completion takes the whole response.
    ///
    /// ```swift
    /// queue.send(GetUser(id: 1)) { result in
    ///     if case .success(let response) = result { print(response.body, response.metrics?.duration ?? .zero) }
    /// }
    /// ```
    ///
    /// The same as ``addRequest(_:session:completionQueue:dependencies:priority:coalescing:completion:)``, whose
    /// completion takes the value alone.
    ///
    /// - Parameters:
    ///   - request: What to run.
    ///   - session: What carries it; `nil`, the default, is the queue's transport.
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - dependencies: What has to be finished before the request starts.
    ///   - priority: How soon it starts, among those that could.
    ///   - coalescing: Whether to share the transfer of an equal request, as with `addRequest`.
    ///   - completion: Takes the response, with the value of the request as its body: status, header fields, metrics,
    ///     attempts. A failure that is a ``RequestError`` has them too. Called exactly once, as with `addRequest`.
    /// - Returns: The operation, typed.
    @discardableResult
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: @escaping @Sendable (Result<HTTPResponse<R.Success>, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(from: .value(request), session, completionQueue, nil)
        operation.addCompletion(on: queue(for: completionQueue)) { [call = operation.call] outcome in
            completion(outcome.response(to: request, call.record))
        }
        add(operation, dependencies, priority, coalescing: coalescing)
        return operation
    }

    private func add(
        _ operation: NetworkOperation<some NetworkRequest>,
        _ dependencies: [Operation],
        _ priority: Operation.QueuePriority?,
        coalescing: Bool
    ) {
        let options = operation.plan?.options
        if coalescing || options?.coalesce == true {
            operation.share(on: sharingIdentity, atStart: !dependencies.isEmpty)
        }
        enqueue(operation, dependencies: dependencies, priority: priority ?? options?.priority)
    }

    /// Where a completion is called that names this queue, or none.
    func queue(for completionQueue: DispatchQueue?) -> DispatchQueue {
        completionQueue ?? underlyingQueue.asOptional ?? .global(qos: .utility)
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
        makeOperation(for: request, page: nil, session, completionQueue, coalescing: coalescing, completion)
    }

    func makeOperation<R: NetworkRequest>(
        for request: R,
        page: PageTarget?,
        _ session: (any HTTPTransport)?,
        _ completionQueue: DispatchQueue? = nil,
        coalescing: Bool = false,
        _ completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(from: .value(request), page: page, session, completionQueue, completion)
        let options = operation.plan?.options
        if coalescing || options?.coalesce == true {
            operation.share(on: sharingIdentity, atStart: true)
        }
        if let priority = options?.priority { operation.queuePriority = priority }
        return operation
    }

    func makeOperation<R: NetworkRequest>(
        from source: RequestSource<R>,
        page: PageTarget? = nil,
        _ session: (any HTTPTransport)?,
        _ completionQueue: DispatchQueue?,
        _ completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)?
    ) -> R.OperationType {
        var configuration = OperationConfiguration(
            source: source,
            transport: session ?? requestTransport,
            environment: environment
        )
        configuration.page = page
        let operation = R.makeOperation(configuration)
        // What is decoded where the operation starts would hold up the completions there: the main queue, for example.
        if underlyingQueue.asOptional != nil { operation.startElsewhere() }
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return operation
    }

    /// What tells the requests of this queue from all others.
    var sharingIdentity: QueueIdentity {
        if let parent = (self as? any NestedQueue)?.parent { return parent.sharingIdentity }
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
        if let operation = operation as? AsynchronousOperation { takePlace(operation, in: operation.exclusivity) }
        if CallScope.isOnBehalfOfAnother, self is OperationQueue {
            OperationQueue.besideBounds.addOperation(operation)
        } else {
            addOperation(operation)
        }
        operation.remindQueue()
    }
}

// MARK: - Exclusivity

extension RequestQueue {
    /// Has an operation that is about to be added wait for its turn, behind those of the groups that it is added to.
    func takePlace(_ operation: Operation, in categories: Set<ExclusiveCategory>) {
        guard !categories.isEmpty else { return }
        for turn in (self as? any NestedQueue)?.turns ?? [] { operation.addDependency(turn) }
        operation.takePlace(in: categories)
    }

    /// Adds an operation of any kind that waits until it is the only one that runs in some categories.
    ///
    /// ```swift
    /// queue.addOperation(migration, exclusive: ["database"])
    /// ```
    ///
    /// It waits for its turn without a place in the queue, behind those that came first, whichever queues they are on.
    /// Requests say the same with ``RequestOptions/exclusivity``. Links that are added to a plain operation afterwards
    /// don't delay its turn.
    ///
    /// - Parameters:
    ///   - operation: What to run; on no queue yet.
    ///   - categories: What it has to be the only one of.
    public func addOperation(_ operation: Operation, exclusive categories: Set<ExclusiveCategory>) {
        takePlace(operation, in: categories)
        place(operation)
    }
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

    /// The unfinished operations of requests on this queue, whatever their requests are.
    ///
    /// ```swift
    /// for operation in client.requestOperations { operation.pause() }
    /// ```
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public var requestOperations: [any AnyRequestOperation] { operations.compactMap { $0 as? any AnyRequestOperation } }
}

// MARK: - Cancelling

extension RequestQueue {
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
        for case let operation as any RequestBearing in operations {
            if let request = operation.anyRequest, try condition(request) { operation.cancel() }
        }
    }

    /// Cancels every request of this queue that isn't finished, and tells when nothing of them is under way any more.
    ///
    /// ```swift
    /// client.cancelAllRequests { keychain.removeToken() }
    /// ```
    ///
    /// A group of requests is cancelled with its members. Operations that aren't of this library stay as they are. Of a
    /// client with an operation queue of yours, the requests are those that clients of that queue have added.
    ///
    /// - Parameters:
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - completion: Called once, when all of them have their results and their transfers have ended. It comes behind
    ///     their completions on the same serial queue. Operations that are added meanwhile aren't waited for.
    /// - Complexity: O(n) in the number of operations on the queue.
    public func cancelAllRequests(
        completionQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable () -> Void
    ) {
        let nested = (self as? any NestedQueue)?.nestedOperations
        let operations = (self as? HTTPClient)?.requestsToCancel ?? (nested ?? operations).requests
        for operation in operations { operation.cancel() }
        let queue = queue(for: completionQueue)
        let end = BlockOperation { queue.async(execute: completion) }
        // What is cancelled before it starts does nothing when it does, and in a suspended queue it doesn't.
        for operation in operations where operation.isExecuting { end.addDependency(operation) }
        OperationQueue.besideBounds.addOperation(end)
        end.remindQueue()
    }
}

/// An operation that has a request, of whatever type.
private protocol RequestBearing: AsynchronousOperation {
    var anyRequest: (any Request)? { get }
}

extension RequestOperation: RequestBearing {
    fileprivate var anyRequest: (any Request)? { request }
}

extension [Operation] {
    /// Those of requests and of their groups.
    var requests: [Operation] { filter { $0 is any RequestBearing } }
}

extension Operation {
    /// Whether a client has added it to an operation queue that others may use besides.
    var isOfClient: Bool { (self as? AsynchronousOperation)?.core.withLock { $0.links.isOfClient } ?? false }
}
