// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request that is made from the results of other operations.
    ///
    /// ```swift
    /// let login = queue.addRequest(LoginRequest(user: user))
    /// let profile = queue.addRequest(after: login) { token in ProfileRequest(token: token) } completion: { … }
    /// ```
    ///
    /// It starts when all of them are finished. If one failed or was cancelled, no request is made, nothing is sent,
    /// and this operation fails with an error of code `dependencyFailed`, whose underlying error is the cause: in a
    /// chain, that of the first that failed. (Plain `dependencies` define the order only.)
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed; one or several, on this queue or any other.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the operation in the queue.
    ///   - categories: The categories in which the operation must be the only one that runs; see ``RequestOptions/ExclusiveCategory``.
    ///   - mapError: Converts an error to the request's own type, while there is no request that could.
    ///   - make: Makes the request from the values. An error that it throws is the failure of the operation.
    ///   - completion: Receives the result, as with `addRequest`.
    /// - Returns: The operation, typed.
    @discardableResult
    @_disfavoredOverload
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let operation = makeOperation(session, mapError, make, after: repeat each operations)
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return enqueue(operation, exclusive: categories, priority)
    }

    /// Runs a request that is made from the results of other operations, and may fail with any error.
    ///
    /// It is the same as the one with `mapError`, without that parameter.
    @discardableResult
    @_disfavoredOverload
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType where R.Failure == any Error {
        let operation = makeOperation(session, { $0 }, make, after: repeat each operations)
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return enqueue(operation, exclusive: categories, priority)
    }

    /// Runs a request that is made from the results of other operations, and fails with ``RequestError``.
    ///
    /// It is the same as the one with `mapError`, without that parameter.
    @discardableResult
    @_disfavoredOverload
    public func addRequest<each Input: RequestDependency, R: NetworkRequest>(
        after operations: repeat each Input,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        exclusive categories: Set<RequestOptions.ExclusiveCategory> = [],
        make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType where R.Failure == RequestError {
        let operation = makeOperation(session, { RequestError($0) }, make, after: repeat each operations)
        if let completion { operation.addCompletion(on: queue(for: completionQueue), completion) }
        return enqueue(operation, exclusive: categories, priority)
    }
}

extension RequestQueue {
    /// Makes the operation of a request that is made from the results of others, behind these.
    func makeOperation<each Input: RequestDependency, R: NetworkRequest>(
        _ session: (any HTTPTransport)?,
        _ mapError: @escaping @Sendable (any Error) -> R.Failure,
        _ make: @escaping @Sendable (repeat (each Input).Value) throws -> R,
        after operations: repeat each Input
    ) -> R.OperationType {
        let source = RequestSource<R>.deferred(mapError: mapError) { [operations = (repeat each operations)] in
            try make(repeat (each operations).valueOfDependency())
        }
        let operation = makeOperation(from: source, session)
        operation.share(on: coalescingIdentity, atStart: true, isForced: false)
        repeat operation.addDependency((each operations).awaitedOperation)
        return operation
    }
}

// MARK: - Dependencies

extension RequestOperation: RequestDependency {
    /// The operation.
    public final var awaitedOperation: Operation { self }

    /// The value, for an operation that depends on this one.
    ///
    /// The error of a chain contains only the error of its first failed operation, however long the chain is: a list of
    /// all would say no more, and releasing a long one would overflow the stack.
    ///
    /// - Throws: An error of code `dependencyFailed`, with the first cause behind it.
    public final func valueOfDependency() throws -> R.Success {
        switch result {
        case .success(let value):
            return value
        case .failure(let error):
            let chained = error as? RequestError
            let cause = chained?.code == .dependencyFailed ? chained?.underlying ?? error : error
            throw RequestError(.dependencyFailed, phase: .waiting, underlying: cause)
        case nil:
            throw RequestError(.dependencyFailed, phase: .waiting, reason: "the dependency has no result")
        }
    }

    /// The result, success or failure, for a request that is made from either.
    ///
    /// ```swift
    /// queue.addRequest(after: profile.outcome) { outcome in LogRequest(succeeded: (try? outcome.get()) != nil) }
    /// ```
    public final var outcome: some RequestDependency<Outcome> {
        ResultDependency(self) { operation in
            guard let result = operation.result else {
                return .failure(operation.mapError(operation.makeCancellation()))
            }
            return result
        }
    }
}

/// A view of the result of an operation.
struct ResultDependency<Observed: Operation, Value: Sendable>: RequestDependency {
    private let observed: Observed
    private let read: @Sendable (Observed) throws -> Value

    init(_ observed: Observed, _ read: @escaping @Sendable (Observed) throws -> Value) {
        (self.observed, self.read) = (observed, read)
    }

    var awaitedOperation: Operation { observed }

    func valueOfDependency() throws -> Value { try read(observed) }
}
