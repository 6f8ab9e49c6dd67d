// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that runs requests: an `OperationQueue`, or a replacement for one.
///
/// All functions for requests are extensions of this protocol. A queue for tests needs only two members. It can finish
/// its operations with a value, ``RequestOperation/finish(with:)``, or with an entire response,
/// ``NetworkOperation/finish(with:)``:
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
/// An `OperationQueue` always has the default environment, even if a subclass declares another environment, because a
/// class can't replace the protocol conformance of its superclass. To give requests another environment, write a class
/// that wraps an operation queue, forwards `operations` and `addOperation` to it, and declares `environment` and
/// `transport`.
public protocol RequestQueue: AnyObject, Sendable {
    /// The type of `underlyingQueue`: `DispatchQueue` or `DispatchQueue?`.
    associatedtype UnderlyingQueue: OptionalConvertible<DispatchQueue> = DispatchQueue?
    /// The type of `transport`: `any HTTPTransport`, or a concrete transport type.
    associatedtype QueueTransport = any HTTPTransport

    /// The unfinished operations.
    var operations: [Operation] { get }
    /// The dispatch queue on which completions are called by default.
    ///
    /// The default is `nil`, which means the global queue with the quality of service `utility`.
    var underlyingQueue: UnderlyingQueue { get }
    /// The transport of requests that don't specify one; by default, ``HTTPClient/defaultTransport``.
    ///
    /// If the property has a type that isn't a transport, the code doesn't compile.
    var transport: QueueTransport { get }
    /// The transport as an existential, whatever its declared type. Don't implement it; declare ``transport`` instead.
    var requestTransport: any HTTPTransport { get }
    /// The settings that every request inherits; by default, an environment with the default settings.
    var environment: RequestEnvironment { get }

    /// Adds an operation, which the queue starts when it is ready and a slot is free.
    func addOperation(_ operation: Operation)
}

extension RequestQueue where UnderlyingQueue == DispatchQueue? {
    /// `nil`, in which case completions use the global queue with the quality of service `utility`.
    public var underlyingQueue: DispatchQueue? { nil }
}

extension RequestQueue where QueueTransport == any HTTPTransport {
    /// The default transport of the platform.
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
    /// When this method returns, the operation is on the queue and may have started. Pass settings that it needs before
    /// its start as parameters, or configure an operation from `makeOperation(for:)`. If this queue is an
    /// `OperationQueue`, requests that an interceptor, a condition or a credential refresh adds don't run on it,
    /// because the operations that wait for these requests may occupy all of its slots.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport, such as a `URLSession`; `nil`, the default, uses the queue's.
    ///   - completionQueue: The dispatch queue of the completion; by default, the underlying queue of this queue or, if
    ///     there is none, the global queue with the quality of service `utility`. With `.main`, the completion is
    ///     isolated to the main actor.
    ///   - dependencies: The operations that must finish, successfully or not, before the request starts.
    ///   - priority: The priority in the queue; `nil`, the default, uses the request's option, or the normal priority.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue and transport, instead of
    ///     sending the request again. The transfer must be unfinished when the request is added or, if it has
    ///     dependencies, when they are finished. Requests are equal if they have the same identifier and are the same
    ///     on the wire, including credentials and cookies; see the article about concurrency. Equal requests share only
    ///     the raw response; each has its own operation, deadline, decoding and accepted statuses. The transfer is
    ///     cancelled when no request waits for it any longer. Requests with unsafe methods are always sent.
    ///   - completion: Receives the result. Called exactly once and always asynchronously, even if the operation is
    ///     cancelled while it waits. The completion is enqueued before any dependent operation starts. A dependent
    ///     operation on the same serial queue runs after the completion.
    /// - Returns: The typed operation, on which other operations can depend, and which provides the result.
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
        return enqueue(operation, after: dependencies, priority)
    }

    /// Runs a request as an operation of this queue, with a completion that receives the entire response.
    ///
    /// ```swift
    /// queue.send(GetUser(id: 1)) { result in
    ///     if case .success(let response) = result { print(response.body, response.metrics?.duration ?? .zero) }
    /// }
    /// ```
    ///
    /// The only difference from `addRequest` is the completion: with `addRequest`, it receives only the value.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - dependencies: The operations that must finish before the request starts.
    ///   - priority: The priority in the queue.
    ///   - coalescing: Whether to share the transfer of an equal request, as with `addRequest`.
    ///   - completion: Receives the response, with the value of the request as its body, and with the status, header
    ///     fields, metrics and transfers. A failure that is a ``RequestError`` has these details, too. Called exactly
    ///     once, as with `addRequest`.
    /// - Returns: The typed operation.
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
        return enqueue(operation, after: dependencies, priority)
    }

    /// Returns the dispatch queue for a completion, or this queue's default if none is specified.
    func queue(for completionQueue: DispatchQueue?) -> DispatchQueue {
        completionQueue ?? underlyingQueue.asOptional ?? .global(qos: .utility)
    }

    /// Creates the operation of a request without adding it, so that you can configure it first.
    ///
    /// Add the operation once, with `addOperation`. Another queue may run the operation, but its environment always
    /// comes from this queue.
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses this queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - coalescing: Whether to share the transfer of an equal request on this queue if that transfer is unfinished
    ///     when the operation starts.
    ///   - completion: Receives the result, as with `addRequest`.
    /// - Returns: The operation, which is on no queue yet.
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

    /// Creates the operation of a request, and applies the request's options for the queue.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - environment: The environment; `nil` uses this queue's.
    ///   - session: The transport; `nil` uses this queue's.
    ///   - coalescing: Whether the operation shares the transfer of an equal request, even if its options don't request
    ///     that.
    ///   - joinsImmediately: Whether the operation may share a transfer that ends before the operation starts. This is
    ///     valid only for an operation without dependencies.
    /// - Returns: The operation, which is on no queue yet.
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
            // The operation first waits for operations that may change the response, so a response from before they
            // finish would be outdated.
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
        // If the operation decoded the response on the underlying queue, such as the main queue, it would delay the
        // completions there.
        if underlyingQueue.asOptional != nil { operation.startOnAnotherThread() }
        return operation
    }

    /// The identity of this queue for coalescing, so that requests of different queues never share a transfer.
    var coalescingIdentity: QueueIdentity {
        if let parent = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.parentQueue {
            return parent.coalescingIdentity
        }
        let client = self as? HTTPClient
        return QueueIdentity(queue: client?.queueIdentity ?? self, isClient: client != nil)
    }

    /// Adds an operation that depends on `dependencies`.
    func enqueue<Added: Operation>(
        _ operation: Added,
        after dependencies: [Operation] = [],
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        _ priority: Operation.QueuePriority?
    ) -> Added {
        for dependency in dependencies { operation.addDependency(dependency) }
        // The priority also applies in the queues of the exclusive categories.
        if let priority { operation.queuePriority = priority }
        admit(operation, exclusive: categories)
        return operation
    }

    /// Adds an operation to the queues of its exclusive categories, and then to this queue.
    ///
    /// Every function that adds an operation calls this function last.
    ///
    /// - Parameters:
    ///   - operation: The operation, which is on no queue yet.
    ///   - categories: The exclusive categories of the operation, in addition to the categories of its request.
    func admit(_ operation: Operation, exclusive categories: Set<RequestOptions.ExclusiveCategory> = []) {
        enqueue(operation, in: categories)
        forward(operation)
        operation.notifyQueueIfReady()
    }

    /// Forwards an operation to the queue that runs it.
    func forward(_ operation: Operation) {
        // A caller's own queue type has only `addOperation`.
        guard let queue = self as? any AdmittingQueue else { return addOperation(operation) }
        queue.accept(operation)
    }
}

/// A queue that admits an operation to its exclusive categories before it accepts the operation.
///
/// Callers use `addOperation`; the library calls `accept` after the admission.
protocol AdmittingQueue: RequestQueue {
    /// Adds an operation that has already been admitted.
    func accept(_ operation: Operation)
}

extension OperationQueue: AdmittingQueue {
    /// Adds an operation to this queue, or to an unlimited queue if a running operation waits for it.
    ///
    /// On this queue, it might never start, because waiting operations can occupy all slots.
    func accept(_ operation: Operation) {
        (NestingContext.isNested ? .unlimited : self).addOperation(operation)
    }
}

// MARK: - Exclusivity

extension RequestQueue {
    /// Enqueues an exclusive operation for its categories, after its enclosing exclusive groups.
    private func enqueue(_ operation: Operation, in categories: Set<RequestOptions.ExclusiveCategory>) {
        var categories = categories
        if let request = operation as? AnyRequestOperation {
            let requestCategories = request.configuration.options.exclusivity
            if !requestCategories.isEmpty { categories.formUnion(requestCategories) }
        }
        guard !categories.isEmpty else { return }
        for gate in gates { operation.addDependency(gate) }
        operation.enqueue(in: categories)
    }

    /// The gates of the exclusive groups that enclose the operations of this queue.
    private var gates: [OperationGate] {
        (self as? AnyRequestOperation)?.observer(GroupContents.self)?.gates ?? []
    }

    /// Adds an operation of any kind that runs only while no other operation in its exclusive categories runs.
    ///
    /// ```swift
    /// queue.addOperation(migration, exclusive: ["database"])
    /// ```
    ///
    /// While the operation waits, it doesn't occupy a slot of the queue. It is enqueued after earlier operations of the
    /// same categories, on any queue. Requests can use ``RequestOptions/exclusivity`` instead. A dependency that you
    /// add to a plain operation after this call doesn't delay its admission to the categories.
    ///
    /// - Parameters:
    ///   - operation: The operation to run, which is on no queue yet.
    ///   - categories: The categories in which no other operation may run at the same time.
    public func addOperation(_ operation: Operation, exclusive categories: Set<RequestOptions.ExclusiveCategory>) {
        admit(operation, exclusive: categories)
    }
}

// MARK: - Finding

extension RequestQueue {
    /// Returns the unfinished operation of an equal request on this queue: a request of the same type with the same
    /// identifier.
    ///
    /// The operation may finish before you use it. To send equal requests only once, add them with `coalescing`
    /// instead.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    public func requestCurrentlyExecuting<R: Request>(_ request: R) -> RequestOperation<R>? {
        for case let operation as RequestOperation<R> in operations
        where operation.result == nil && !operation.isFinished && operation.request == request {
            return operation
        }
        return nil
    }

    /// The unfinished operations on this queue that run requests, of any type.
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
    /// Cancels the operations of this queue whose requests satisfy a condition.
    ///
    /// ```swift
    /// queue.cancelRequests { $0 is ThumbnailRequest }
    /// ```
    ///
    /// The condition isn't called for an operation whose request hasn't been created yet.
    ///
    /// - Complexity: O(n) in the number of operations on the queue.
    /// - Throws: Any error that the condition throws. Requests that were cancelled before the error stay cancelled.
    public func cancelRequests(where condition: (any Request) throws -> Bool) rethrows {
        for operation in operations {
            guard let request = (operation as? any RequestHolder)?.anyRequest else { continue }
            if try condition(request) { operation.cancel() }
        }
    }

    /// Cancels every unfinished request of this queue, and calls a completion when none of them is running any longer.
    ///
    /// ```swift
    /// client.cancelAllRequests { keychain.removeToken() }
    /// ```
    ///
    /// Groups of requests are cancelled with their members. Operations of other kinds aren't affected. If a client runs
    /// on an operation queue that you provided, the method cancels the requests that were added through clients of that
    /// queue.
    ///
    /// - Parameters:
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - completion: Called once, when all requests have their results and their transfers have ended. On the same
    ///     serial queue, it is called after the completions of the requests. It doesn't wait for operations that are
    ///     added in the meantime.
    /// - Complexity: O(n) in the number of operations on the queue.
    @_disfavoredOverload
    public func cancelAllRequests(completionQueue: DispatchQueue? = nil, completion: @escaping @Sendable () -> Void) {
        let nested = (self as? AnyRequestOperation)?.observer(GroupContents.self)?.nestedOperations
        let operations = (self as? HTTPClient)?.requestsToCancel ?? (nested ?? operations).requests
        for operation in operations { operation.cancel() }
        let queue = queue(for: completionQueue)
        let end = BlockOperation { queue.async(execute: completion) }
        // The completion waits only for running operations. An operation that was cancelled before its start does no
        // work and, in a suspended queue, would never finish.
        for operation in operations where operation.isExecuting { end.addDependency(operation) }
        end.runOnSeparateQueue()
    }
}

extension [Operation] {
    /// The operations of requests, and groups of them.
    var requests: [Operation] { filter { $0 is AnyRequestOperation } }
}
