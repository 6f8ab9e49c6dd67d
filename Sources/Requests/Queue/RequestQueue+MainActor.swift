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
        addRequest(
            request,
            session: session,
            completionQueue: DispatchQueue.main,
            dependencies: dependencies,
            priority: priority,
            coalescing: coalescing,
            completion: completionQueue.isolating(completion)
        )
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
        send(
            request,
            session: session,
            completionQueue: DispatchQueue.main,
            dependencies: dependencies,
            priority: priority,
            coalescing: coalescing,
            completion: completionQueue.isolating(completion)
        )
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
        makeOperation(
            for: request,
            session: session,
            completionQueue: DispatchQueue.main,
            coalescing: coalescing,
            completion: completionQueue.isolating(completion)
        )
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
        exclusive categories: Set<ExclusiveCategory> = [],
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType {
        addRequest(
            after: repeat each operations,
            session: session,
            completionQueue: DispatchQueue.main,
            priority: priority,
            exclusive: categories,
            mapError: mapError,
            make: make,
            completion: completionQueue.isolating(completion)
        )
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
        exclusive categories: Set<ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType where R.Failure == any Error {
        addRequest(
            after: repeat each operations,
            session: session,
            completionQueue: completionQueue,
            priority: priority,
            exclusive: categories,
            mapError: { $0 },
            make: make,
            completion: completion
        )
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
        exclusive categories: Set<ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: @escaping @MainActor (Result<R.Success, R.Failure>) -> Void
    ) -> R.OperationType where R.Failure == RequestError {
        addRequest(
            after: repeat each operations,
            session: session,
            completionQueue: completionQueue,
            priority: priority,
            exclusive: categories,
            mapError: { RequestError($0) },
            make: make,
            completion: completion
        )
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
        exclusive categories: Set<ExclusiveCategory> = [],
        completion: @escaping @MainActor (RequestGroup<R>.Results) -> Void
    ) -> RequestGroup<R> {
        addGroup(
            requests,
            session: session,
            completionQueue: DispatchQueue.main,
            dependencies: dependencies,
            priority: priority,
            coalescing: coalescing,
            failingFast: failingFast,
            exclusive: categories,
            completion: completionQueue.isolating(completion)
        )
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
        exclusive categories: Set<ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> [R],
        completion: @escaping @MainActor (Result<[R.Success], any Error>) -> Void
    ) -> RequestGroup<R> {
        addGroup(
            after: repeat each operations,
            session: session,
            completionQueue: DispatchQueue.main,
            priority: priority,
            coalescing: coalescing,
            failingFast: failingFast,
            exclusive: categories,
            make: make,
            completion: completionQueue.isolating(completion)
        )
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
        addRequests(
            repeat each requests,
            session: session,
            completionQueue: DispatchQueue.main,
            dependencies: dependencies,
            priority: priority,
            completion: completionQueue.isolating(completion)
        )
    }

    /// Runs a group of operations of any kind, with a completion on the main actor.
    ///
    /// It is the same as the one with a `DispatchQueue`, which describes the parameters.
    @discardableResult
    public func addOperationGroup<each Input: RequestDependency, Success: Sendable>(
        after operations: repeat each Input,
        failingFast: Bool = false,
        exclusive categories: Set<ExclusiveCategory> = [],
        completionQueue: MainQueue,
        priority: Operation.QueuePriority? = nil,
        body: @escaping @Sendable (any RequestQueue, repeat (each Input).Value) async throws -> Success,
        completion: @escaping @MainActor (Result<Success, any Error>) -> Void
    ) -> OperationGroup<Success> {
        addOperationGroup(
            after: repeat each operations,
            failingFast: failingFast,
            exclusive: categories,
            completionQueue: DispatchQueue.main,
            priority: priority,
            body: body,
            completion: completionQueue.isolating(completion)
        )
    }
}
