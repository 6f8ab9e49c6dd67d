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
    /// chain, that of the first that failed. (Plain `dependencies` only order.)
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed; one or several, on this queue or any other.
    ///   - session: What carries the request; nil, the default, is the queue's transport.
    ///   - completionQueue: Where the completion is called, as with `addRequest`.
    ///   - priority: How soon the operation starts, among those that could.
    ///   - mapError: Makes an error the request's own, as long as there is no request that could.
    ///   - make: Makes the request of the values. What it throws is the failure of the operation.
    ///   - completion: Takes the result, as with `addRequest`.
    /// - Returns: The operation, typed.
    @discardableResult
    public func addRequest<each Input: Request, R: NetworkRequest>(
        after operations: repeat RequestOperation<each Input>,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        mapError: @escaping @Sendable (any Error) -> R.Failure,
        make: @escaping @Sendable (repeat (each Input).Success) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType {
        let source = RequestSource<R>.deferred(mapError: mapError) { [operations = (repeat each operations)] in
            try make(repeat (each operations).valueOfDependency())
        }
        let operation = makeOperation(from: source, session, completionQueue, completion)
        operation.share(on: sharingIdentity, atStart: true, isAsked: false)
        var dependencies: [Operation] = []
        repeat dependencies.append(each operations)
        enqueue(operation, dependencies: dependencies, priority: priority)
        return operation
    }

    /// Runs a request that is made from the results of other operations, and may fail with any error.
    ///
    /// The same as the one with `mapError`, which needs none here.
    @discardableResult
    public func addRequest<each Input: Request, R: NetworkRequest>(
        after operations: repeat RequestOperation<each Input>,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        make: @escaping @Sendable (repeat (each Input).Success) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType where R.Failure == any Error {
        addRequest(
            after: repeat each operations,
            session: session,
            completionQueue: completionQueue,
            priority: priority,
            mapError: { $0 },
            make: make,
            completion: completion
        )
    }

    /// Runs a request that is made from the results of other operations, and fails with ``RequestError``.
    ///
    /// The same as the one with `mapError`, which needs none here.
    @discardableResult
    public func addRequest<each Input: Request, R: NetworkRequest>(
        after operations: repeat RequestOperation<each Input>,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil,
        priority: Operation.QueuePriority? = nil,
        make: @escaping @Sendable (repeat (each Input).Success) throws -> R,
        completion: (@Sendable (Result<R.Success, R.Failure>) -> Void)? = nil
    ) -> R.OperationType where R.Failure == RequestError {
        addRequest(
            after: repeat each operations,
            session: session,
            completionQueue: completionQueue,
            priority: priority,
            mapError: { RequestError($0) },
            make: make,
            completion: completion
        )
    }
}

extension RequestOperation {
    /// The value, for an operation that depends on this one.
    ///
    /// The error of a chain that fails at its head bears the error of the head, however long the chain is: a list of
    /// them would tell nobody more, and letting go of a long one would overflow the stack.
    ///
    /// - Throws: An error of code `dependencyFailed`, with the first cause behind it.
    fileprivate func valueOfDependency() throws -> R.Success {
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
}
