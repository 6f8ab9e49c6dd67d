// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Swift chooses these overloads for `completionQueue: .main`, because the overloads with a `DispatchQueue` are
// disfavored. The isolation of a closure is part of its type, so each function needs one overload per isolation.

// MARK: - Requests

extension RequestQueue {
    /// Runs a request as an operation of this queue, with a completion on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
        return enqueue(operation, after: dependencies, priority)
    }

    /// Runs a request as an operation of this queue, with a completion on the main actor that receives the entire
    /// response.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
        return enqueue(operation, after: dependencies, priority)
    }

    /// Creates the operation of a request without adding it, with a completion on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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

    /// Cancels every unfinished request of this queue, and calls a completion on the main actor when none of them is
    /// running any longer.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
    /// Runs a request that is created from the results of other operations, with a completion on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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

    /// Creates a request from the results of other operations and runs it, with the error type `any Error` and a
    /// completion on the main actor.
    ///
    /// This overload is like the overload with `mapError`, but needs no conversion of errors.
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

    /// Creates a request from the results of other operations and runs it, with the error type ``RequestError`` and a
    /// completion on the main actor.
    ///
    /// This overload is like the overload with `mapError`, but wraps other errors in a ``RequestError``.
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
    /// Runs requests of one type, with one completion for all of them on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
        let group = RequestGroup<R>(on: self, failingFast, after: dependencies, categories, priority)
        group.fill(with: requests, session, priority, coalescing, after: dependencies)
        group.addResultsCompletion(on: DispatchQueue.main, completionQueue.isolating(completion))
        admit(group, after: dependencies)
        return group
    }

    /// Runs any number of requests that are created from the results of other operations, with a completion on the main
    /// actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
        let dependencies = awaitedOperations(repeat each operations)
        let group = RequestGroup<R>(on: self, failingFast, after: dependencies, categories, priority)
        group.addCompletion(on: completionQueue, completion)
        group.begin(session, priority, coalescing, make, after: repeat each operations)
        admit(group)
        return group
    }

    /// Runs requests of several types, with one completion for all of them on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
    @discardableResult
    public func addRequests<each R: NetworkRequest>(
        _ requests: repeat each R,
        session: (any HTTPTransport)? = nil,
        completionQueue: MainQueue,
        dependencies: [Operation] = [],
        priority: Operation.QueuePriority? = nil,
        completion: @escaping @MainActor (repeat Result<(each R).Success, (each R).Failure>) -> Void
    ) -> OperationGroup<Void> {
        let group = OperationGroup<Void>(on: self, after: dependencies, [], priority, name: "OperationGroup")
        let members = (repeat group.add(each requests, session, priority, after: dependencies))
        group.addCompletion(on: completionQueue) { _ in completion(repeat (each members).resultOrCancellation) }
        admit(group, after: dependencies, value: ())
        return group
    }

    /// Runs a group of operations of any kind, with a completion on the main actor.
    ///
    /// See the overload with a `DispatchQueue` for the parameters.
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
        let dependencies = awaitedOperations(repeat each operations)
        let group = OperationGroup<Success>(on: self, failingFast, after: dependencies, categories, priority)
        group.addCompletion(on: completionQueue, completion)
        group.run(body, after: repeat each operations)
        admit(group)
        return group
    }
}
