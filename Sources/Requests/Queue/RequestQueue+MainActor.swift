// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Swift takes these for `completionQueue: .main`, because the forms with a `DispatchQueue` are disfavored. A closure's
// isolation is part of its type, so each function needs one form for every isolation.

// MARK: - Requests

extension RequestQueue {
    /// Runs a request as an operation of this queue, with a completion on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        operation.addCompletion(on: completionQueue, completion)
        return enqueue(operation, behind: dependencies, priority)
    }

    /// Runs a request as an operation of this queue, with a completion on the main actor that receives the whole
    /// response.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func send<R: NetworkRequest>(
        _ request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        completion: @escaping @MainActor (Result<HTTPResponse<R.Success>, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: dependencies.isEmpty)
        operation.addResponseCompletion(on: DispatchQueue.main, completionQueue.isolating(completion))
        return enqueue(operation, behind: dependencies, priority)
    }

    /// Makes the operation of a request without adding it, with a completion on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    public func makeOperation<R: NetworkRequest>(
        for request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        coalescing: Bool = false,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(for: request, session, coalescing, joinsImmediately: false)
        operation.addCompletion(on: completionQueue, completion)
        return operation
    }

    /// Cancels every request of this queue that isn't finished, and calls a completion on the main actor when none is
    /// running any more.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    public func cancelAllRequests(completionQueue: MainQueue, completion: @escaping @MainActor () -> Void) {
        cancelAllRequests(completionQueue: DispatchQueue.main, completion: completionQueue.isolating(completion))
    }
}

extension NetworkService {
    /// Runs a request as an operation of the client's queue, with a completion on the main actor.
    @discardableResult
    public func addRequest<R: NetworkRequest>(
        _ request: R,
        completionQueue: MainQueue,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType {
        requestQueue.addRequest(request, completionQueue: completionQueue, completion: completion)
    }
}

// MARK: - Chains

extension RequestQueue {
    /// Runs a request that is made from the results of other operations, with a completion on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType {
        let operation = makeOperation(session, mapError, make, after: repeat each operations)
        operation.addCompletion(on: completionQueue, completion)
        return enqueue(operation, exclusive: categories, priority)
    }

    /// Runs a request that is made from the results of other operations, and may fail with any error, with a completion
    /// on the main actor.
    ///
    /// It is the same as the one with `mapError`, without that parameter.
    @discardableResult
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType where R.Failure == any Error {
        let operation = makeOperation(session, { $0 }, make, after: repeat each operations)
        operation.addCompletion(on: completionQueue, completion)
        return enqueue(operation, exclusive: categories, priority)
    }

    /// Runs a request that is made from the results of other operations, and fails with ``RequestError``, with a
    /// completion on the main actor.
    ///
    /// It is the same as the one with `mapError`, without that parameter.
    @discardableResult
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType where R.Failure == RequestError {
        let operation = makeOperation(session, { RequestError($0) }, make, after: repeat each operations)
        operation.addCompletion(on: completionQueue, completion)
        return enqueue(operation, exclusive: categories, priority)
    }
}

// MARK: - Groups

extension RequestQueue {
    /// Runs requests of one type, with one completion for all, on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addGroup<R: NetworkRequest>(
        _ requests: [R],
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        completion: @escaping @MainActor (RequestGroup<R>.Results) -> Void
    ) -> RequestGroup<R> {
        let group = RequestGroup<R>(on: self, failingFast, behind: dependencies, categories, priority)
        group.fill(with: requests, session, priority, coalescing, behind: dependencies)
        group.addResultsCompletion(on: DispatchQueue.main, completionQueue.isolating(completion))
        admit(group, after: dependencies)
        return group
    }

    /// Runs requests that are made from the results of other operations, in any number, with a completion on the main
    /// actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addGroup<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        coalescing: Bool = false,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> [R],
        completion: @escaping @MainActor (Result<[R.Success], any Error>) -> Void
    ) -> RequestGroup<R> {
        let causes = awaited(repeat each operations)
        let group = RequestGroup<R>(on: self, failingFast, behind: causes, categories, priority)
        group.addCompletion(on: completionQueue, completion)
        group.begin(session, priority, coalescing, make, after: repeat each operations)
        admit(group)
        return group
    }

    /// Runs requests of several types, with one completion for all, on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addRequests<each R: NetworkRequest>(
        _ requests: repeat each R,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        completion: @escaping @MainActor (repeat Result<(each R).Success, (each R).Failure>) -> Void
    ) -> OperationGroup<Void> {
        let group = OperationGroup<Void>(on: self, behind: dependencies, [], priority, name: "OperationGroup")
        let members = (repeat group.add(each requests, session, priority, behind: dependencies))
        group.addCompletion(on: completionQueue) { _ in completion(repeat (each members).resultOrCancellation) }
        admit(group, after: dependencies, value: ())
        return group
    }

    /// Runs a group of operations of any kind, with a completion on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addOperationGroup<each Input: RequestDependency, Success: Sendable>(
        after operations: repeat each Input,
        failingFast: Bool = false,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        body: @escaping @Sendable (any RequestQueue, repeat (each Input).Value) async throws -> Success,
        completion: @escaping @MainActor (Result<Success, any Error>) -> Void
    ) -> OperationGroup<Success> {
        let causes = awaited(repeat each operations)
        let group = OperationGroup<Success>(on: self, failingFast, behind: causes, categories, priority)
        group.addCompletion(on: completionQueue, completion)
        group.run(body, after: repeat each operations)
        admit(group)
        return group
    }
}
