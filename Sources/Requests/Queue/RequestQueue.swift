// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that runs requests: an `OperationQueue`, or a replacement for one.
///
/// All functions for requests are extensions of this protocol. A queue for tests needs two members, and may finish its
/// operations with ``RequestOperation/finish(with:)``, or with a whole response, ``NetworkOperation/finish(with:)``:
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
/// An `OperationQueue` has an environment without changes, even if a subclass declares one: a class can't change what
/// its superclass adopts. To give requests an environment of your own, write a class that has an operation queue,
/// forwards `operations` and `addOperation` to it, and has `environment` and `transport`.
public protocol RequestQueue: AnyObject, Sendable {
    /// The type of the underlying queue: itself or an optional.
    associatedtype UnderlyingQueue: OptionalConvertible<DispatchQueue> = DispatchQueue?
    /// The type of the transport: `any HTTPTransport`, or a concrete one.
    associatedtype QueueTransport = any HTTPTransport

    /// The operations that aren't finished.
    var operations: [Operation] { get }
    /// The queue of completions that name none; `nil`, the default, is the global queue of utility quality.
    var underlyingQueue: UnderlyingQueue { get }
    /// The transport of requests that name none; by default ``HTTPClient/defaultTransport``.
    ///
    /// A property of a type that isn't a transport doesn't compile.
    var transport: QueueTransport { get }
    /// The transport, whatever its type. Don't implement it; declare ``transport``.
    var requestTransport: any HTTPTransport { get }
    /// The settings that every request inherits; by default an environment without changes.
    var environment: RequestEnvironment { get }

    /// Adds an operation, to start it when its turn has come.
    func addOperation(_ operation: Operation)
}

extension RequestQueue where UnderlyingQueue == DispatchQueue? {
    /// Nil: the global queue of utility quality.
    public var underlyingQueue: DispatchQueue? { nil }
}

extension RequestQueue where QueueTransport == any HTTPTransport {
    /// The platform's best transport.
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

extension OperationQueue: RequestQueue {
    /// An environment without changes.
    public var environment: RequestEnvironment { isLimited ? .unchangedWithLimit : .unchanged }

    /// Whether the caller has set the number of concurrent operations.
    var isLimited: Bool { maxConcurrentOperationCount != OperationQueue.defaultMaxConcurrentOperationCount }
}

extension RequestEnvironment {
    fileprivate static let unchangedWithLimit: RequestEnvironment = {
        var environment = RequestEnvironment()
        environment.hasOwnLimit = true
        environment.shareConfiguration()
        return environment
    }()
}

// MARK: - Adding

extension RequestQueue {
    /// Runs a request as an operation of this queue.
    ///
    /// ```swift
    /// let recipe = queue.addRequest(RecipeRequest(recipeID: "1")) { result in … }
    /// ```
    ///
    /// The operation is on the queue when this returns, and may have started. Settings that it needs before are passed
    /// here, or to an operation of `makeOperation(for:)`. An operation that an interceptor, a condition or the refresh
    /// of a credential adds runs outside an `OperationQueue`: the operations that wait for it may have all places.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport: a `URLSession`, or any other; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion; by default the underlying queue of this queue, or else the
    ///     global queue of utility quality. With `.main`, the completion is isolated to the main actor.
    ///   - dependencies: The operations that must finish, successfully or not, before the request starts.
    ///   - priority: The priority in the queue; `nil`, the default, is the request's own option, or else normal.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue and transport, instead of
    ///     sending it again. The transfer must be unfinished when the request is added or, if it has dependencies, when
    ///     they are finished. Requests are equal if they have one identifier and are the same on the wire, credentials
    ///     and cookies included; the article about concurrency has the details. The shared part is the raw answer: each
    ///     request keeps its own operation, deadline, decoding and accepted statuses. The transfer is cancelled when no
    ///     request waits for it any more. Requests with unsafe methods are always sent.
    ///   - completion: Receives the result. Called exactly once, always asynchronously, also for an operation that is
    ///     cancelled while it waits. It is enqueued before any operation that depends on this one starts; one on the
    ///     same serial queue runs behind it.
    /// - Returns: The operation, typed: others can depend on it, and read its result.
    @discardableResult
    @_disfavoredOverload
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return enqueue(operation, behind: dependencies, priority)
    }

    /// Runs a request as an operation of this queue, with a completion that receives the whole response.
    ///
    /// ```swift
    /// queue.send(GetUser(id: 1)) { result in
    ///     if case .success(let response) = result { print(response.body, response.metrics?.duration ?? .zero) }
    /// }
    /// ```
    ///
    /// It differs from `addRequest` only in the completion, which receives the value alone there.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before the request starts.
    ///   - priority: The priority in the queue.
    ///   - coalescing: Whether to share the transfer of an equal request, as with `addRequest`.
    ///   - completion: Receives the response, with the value of the request as its body: status, header fields,
    ///     metrics, transfers. A failure that is a ``RequestError`` has them too. Called exactly once, as with
    ///     `addRequest`.
    /// - Returns: The operation, typed.
    @discardableResult
    @_disfavoredOverload
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: @escaping @Sendable (Result<HTTPResponse<R.Success>, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        operation.addResponseCompletion(on: queue(for: completionQueue), completion)
        return enqueue(operation, behind: dependencies, priority)
    }

    /// The queue of a completion that names this queue, or none.
    func queue(for completionQueue: DispatchQueue?) -> DispatchQueue {
        completionQueue ?? underlyingQueue.asOptional ?? .global(qos: .utility)
    }

    /// Makes the operation of a request without adding it, to configure it first.
    ///
    /// Add it with `addOperation`, once. Another queue may run it; its environment comes from this one.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is this queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue that is unfinished when the
    ///     operation starts.
    ///   - completion: Receives the result, as with `addRequest`.
    /// - Returns: The operation, on no queue yet.
    @_disfavoredOverload
    public func makeOperation<R: NetworkRequest>(
        for request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        coalescing: Bool = false,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: false)
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return operation
    }

    /// Makes the operation of a request, with what its options say about the queue.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - environment: The environment; `nil` is that of this queue.
    ///   - session: The transport; `nil` is that of this queue.
    ///   - coalescing: Whether it shares the transfer of an equal request, also if its options don't ask for that.
    ///   - joinsImmediately: Whether that may be one that ends before the operation starts, which waits for no other.
    /// - Returns: The operation, on no queue yet.
    package func makeOperation<R: NetworkRequest>(
        for request: R,
        in environment: RequestEnvironment? = nil,
        _ session: (any HTTPTransport)?,
        _ coalescing: Bool = false,
        joinsImmediately: Bool = true
    ) -> R.OperationType {
        let operation = makeOperation(from: .value(request), in: environment, session)
        let options = operation.configuration.options
        if coalescing || options.coalesce {
            // What it waits for may change the answer: then one from before is too old.
            let waits = !options.exclusivity.isEmpty || gates.contains { !$0.isFinished }
            operation.share(on: coalescingIdentity, atStart: waits || !joinsImmediately)
        }
        if let priority = options.priority { operation.queuePriority = priority }
        return operation
    }

    func makeOperation<R: NetworkRequest>(
        from source: RequestSource<R>,
        in environment: RequestEnvironment? = nil,
        _ session: (any HTTPTransport)?
    ) -> R.OperationType {
        let operation = R.makeOperation(
            OperationConfiguration(
                source: source,
                transport: session ?? requestTransport,
                environment: environment ?? self.environment
            )
        )
        // Decoding where the operation starts would delay the completions there: on the main queue, for example.
        if underlyingQueue.asOptional != nil { operation.startOnAnotherThread() }
        return operation
    }

    /// The identity that separates the requests of this queue from all others.
    var coalescingIdentity: QueueIdentity {
        if let parent = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.parent {
            return parent.coalescingIdentity
        }
        let client = self as? HTTPClient
        return QueueIdentity(queue: client?.queueIdentity ?? self, isClient: client != nil)
    }

    /// Adds an operation behind others.
    func enqueue<Added: Operation>(
        _ operation: Added,
        behind dependencies: [Operation] = [],
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        _ priority: Operation.QueuePriority?
    ) -> Added {
        for dependency in dependencies { operation.addDependency(dependency) }
        // It counts in the lines of the categories, too.
        if let priority { operation.queuePriority = priority }
        admit(operation, exclusive: categories)
        return operation
    }

    /// Adds an operation, after it has joined the queues of its exclusive categories.
    ///
    /// Every function that adds an operation ends here.
    ///
    /// - Parameters:
    ///   - operation: The operation; on no queue yet.
    ///   - categories: The categories in which it must be the only one that runs, besides those of its request.
    func admit(_ operation: Operation, exclusive categories: Set<RequestOptions.ExclusiveCategory> = []) {
        enqueue(operation, in: categories)
        pass(operation)
        operation.notifyQueueIfReady()
    }

    /// Passes an operation on to the queue that runs it.
    func pass(_ operation: Operation) {
        // A caller's queue has only this function.
        guard let queue = self as? any AdmittingQueue else { return addOperation(operation) }
        queue.accept(operation)
    }
}

/// A queue whose `addOperation` is for callers: it admits an operation before the queue accepts it.
protocol AdmittingQueue: RequestQueue {
    /// Adds an operation that has been admitted.
    func accept(_ operation: Operation)
}

extension OperationQueue: AdmittingQueue {
    /// Adds an operation, outside of this queue if a running operation waits for it: such operations may occupy the
    /// whole queue.
    func accept(_ operation: Operation) {
        (NestingContext.isNested ? .unlimited : self).addOperation(operation)
    }
}

// MARK: - Exclusivity

extension RequestQueue {
    /// Makes an exclusive operation wait for its categories, after the groups that it is added to.
    private func enqueue(_ operation: Operation, in categories: Set<RequestOptions.ExclusiveCategory>) {
        var categories = categories
        if let request = operation as? AnyRequestOperation {
            let own = request.configuration.options.exclusivity
            if !own.isEmpty { categories.formUnion(own) }
        }
        guard !categories.isEmpty else { return }
        for gate in gates { operation.addDependency(gate) }
        operation.enqueue(in: categories)
    }

    /// The gates of the exclusive groups that operations are added to.
    private var gates: [OperationGate] {
        (self as? AnyRequestOperation)?.observer(GroupContents.self)?.gates ?? []
    }

    /// Adds an operation of any kind that waits until no other runs in some categories.
    ///
    /// ```swift
    /// queue.addOperation(migration, exclusive: ["database"])
    /// ```
    ///
    /// The operation waits without a slot of the queue, after those that came first, on all queues together. Requests
    /// can use ``RequestOptions/exclusivity`` instead. Dependencies that are added to a plain operation afterwards
    /// don't delay when it gets its categories.
    ///
    /// - Parameters:
    ///   - operation: The operation to run; on no queue yet.
    ///   - categories: The categories in which it must be the only one that runs.
    public func addOperation(_ operation: Operation, exclusive categories: Set<RequestOptions.ExclusiveCategory>) {
        admit(operation, exclusive: categories)
    }
}

// MARK: - Finding

extension RequestQueue {
    /// The unfinished operation of an equal request on this queue: of the same type, with the same identifier.
    ///
    /// To send equal requests once, add them with `coalescing` instead: the operation may finish before you use the
    /// result of this method.
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
    public var requestOperations: [AnyRequestOperation] {
        operations.compactMap { $0 as? AnyRequestOperation }.filter { $0.ownTransport != nil }
    }
}

// MARK: - Cancelling

extension RequestQueue {
    /// Cancels the operations of this queue whose requests fulfil a condition.
    ///
    /// ```swift
    /// queue.cancelRequests { $0 is ThumbnailRequest }
    /// ```
    ///
    /// The condition isn't called for operations whose requests haven't been made from the results of others yet.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    /// - Throws: Any error that the condition throws; requests that were cancelled before stay cancelled.
    public func cancelRequests(where condition: (any Request) throws -> Bool) rethrows {
        for operation in operations {
            guard let request = (operation as? any RequestHolder)?.anyRequest else { continue }
            if try condition(request) { operation.cancel() }
        }
    }

    /// Cancels every request of this queue that isn't finished, and calls a completion when none is running any more.
    ///
    /// ```swift
    /// client.cancelAllRequests { keychain.removeToken() }
    /// ```
    ///
    /// A group of requests is cancelled with its members. Operations of other kinds aren't affected. For a client with
    /// an operation queue of yours, the requests are those that clients of that queue have added.
    ///
    /// - Parameters:
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - completion: Called once, when all of them have their results and their transfers have ended. It comes behind
    ///     their completions on the same serial queue. It doesn't wait for operations that are added meanwhile.
    /// - Complexity: O(n) in the number of operations on the queue.
    @_disfavoredOverload
    public func cancelAllRequests(completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable () -> Void) {
        let nested = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.nestedOperations
        let operations = (self as? HTTPClient)?.requestsToCancel ?? (nested ?? operations).requests
        for operation in operations { operation.cancel() }
        let queue = queue(for: completionQueue)
        let end = BlockOperation { queue.async(execute: completion) }
        // An operation that is cancelled before it starts does nothing at its start, and in a suspended queue it never
        // starts.
        for operation in operations where operation.isExecuting { end.addDependency(operation) }
        end.runOnSeparateQueue()
    }
}

extension [Operation] {
    /// The operations of requests, and their groups.
    var requests: [Operation] { filter { $0 is AnyRequestOperation } }
}
