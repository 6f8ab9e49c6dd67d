// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension RequestQueue {
    /// Runs a request that is created from the results of other operations.
    ///
    /// ```swift
    /// let login = queue.addRequest(LoginRequest(user: user))
    /// let profile = queue.addRequest(after: login) { token in ProfileRequest(token: token) } completion: { … }
    /// ```
    ///
    /// The request starts when all of the operations are finished. If one of them failed or was cancelled, `make` isn't
    /// called, nothing is sent, and this operation fails with the code `dependencyFailed`. The underlying error is the
    /// cause: in a longer chain, the error of the first operation that failed. Plain `dependencies`, in contrast, only
    /// define the order.
    ///
    /// - Parameters:
    ///   - operations: The operations whose results are needed; at least one, on this queue or any other.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue of the completion, as with `addRequest`.
    ///   - priority: The priority of the operation in the queue.
    ///   - categories: The categories in which no other operation may run at the same time; see
    ///     ``RequestOptions/ExclusiveCategory``.
    ///   - mapError: Converts an error to the request's error type if the request doesn't exist yet.
    ///   - make: Creates the request from the values. An error that it throws is the failure of the operation.
    ///   - completion: Receives the result, as with `addRequest`.
    /// - Returns: The typed operation.
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

    /// Creates a request from the results of other operations and runs it, if its error type is `any Error`.
    ///
    /// This overload is like the overload with `mapError`, but needs no conversion of errors.
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

    /// Creates a request from the results of other operations and runs it, if its error type is ``RequestError``.
    ///
    /// This overload is like the overload with `mapError`, but wraps other errors in a ``RequestError``.
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
    /// Creates an operation that depends on other operations and creates its request from their results.
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
    /// The operation itself.
    public final var awaitedOperation: Operation { self }

    /// Returns the value, for an operation that depends on this operation.
    ///
    /// However long a chain is, its error contains only the error of the first operation that failed. A list of all
    /// errors would provide no more information, and releasing a long list would overflow the stack.
    ///
    /// - Throws: An error with the code `dependencyFailed`, whose underlying error is the root cause.
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

    /// The result as a dependency, for a request that runs whether this operation succeeds or fails.
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

/// A dependency whose value a closure reads from an operation.
struct ResultDependency<Observed: Operation, Value: Sendable>: RequestDependency {
    private let observed: Observed
    private let read: @Sendable (Observed) throws -> Value

    init(_ observed: Observed, _ read: @escaping @Sendable (Observed) throws -> Value) {
        (self.observed, self.read) = (observed, read)
    }

    var awaitedOperation: Operation { observed }

    func valueOfDependency() throws -> Value { try read(observed) }
}
