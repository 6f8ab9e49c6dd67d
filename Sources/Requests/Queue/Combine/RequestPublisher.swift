// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The logic of a subscription to one operation's result, by the rules of Combine.
///
/// It does nothing before there is demand, then delivers one value and one completion, and nothing after a
/// cancellation. It doesn't depend on Combine, so that it can be tested without it.
struct ResultSubscription: Sendable {
    private enum State: Sendable {
        case idle
        case running(Operation?)
        case over
    }

    private var state = State.idle

    /// Takes demand; returns whether the operation is to be started now.
    mutating func request(isPositive: Bool) -> Bool {
        guard case .idle = state, isPositive else { return false }
        state = .running(nil)
        return true
    }

    /// Stores the started operation; returns `false` if it is to be cancelled, or has ended.
    mutating func store(_ operation: Operation) -> Bool {
        guard isRunning else { return false }
        state = .running(operation)
        return true
    }

    /// Whether something may be delivered.
    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// Ends it, with its completion or by a cancellation; returns whether it was running, and the operation, which is
    /// released outside the lock.
    mutating func end() -> (wasRunning: Bool, operation: Operation?) {
        defer { state = .over }
        guard case .running(let operation) = state else { return (false, nil) }
        return (true, operation)
    }
}

#if canImport(Combine)
import Combine

/// The result of a request, as a publisher: each subscription with demand runs the request once.
///
/// A subscription that is cancelled cancels its operation, and receives nothing more. Values and completions are
/// delivered on the completion queue.
public struct RequestPublisher<R: NetworkRequest>: Publisher {
    /// The value of the request.
    public typealias Output = R.Success
    /// The error of the request.
    public typealias Failure = R.Failure

    fileprivate typealias Completion = @Sendable (Result<R.Success, R.Failure>) -> Void
    fileprivate let start: @Sendable (@escaping Completion) -> Operation

    /// Gives a subscriber a subscription of its own.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == R.Success, S.Failure == R.Failure {
        let subscription = RequestSubscription<R.Success, R.Failure>(start) {
            _ = subscriber.receive($0)
        } receiveCompletion: {
            subscriber.receive(completion: $0)
        }
        subscriber.receive(subscription: subscription)
    }
}

// Sendable: a subscription is called by any thread, for which it has a lock; and Combine's contract requires
// subscribers to support any thread, one call at a time, which the machine behind the lock ensures.
private final class RequestSubscription<Success: Sendable, Failure: Error>: Subscription, @unchecked Sendable {
    typealias Completion = @Sendable (Result<Success, Failure>) -> Void

    private let start: @Sendable (@escaping Completion) -> Operation
    private let receiveValue: (Success) -> Void
    private let receiveCompletion: (Subscribers.Completion<Failure>) -> Void
    private let state = Locked(ResultSubscription())

    init(
        _ start: @escaping @Sendable (@escaping Completion) -> Operation,
        receiveValue: @escaping (Success) -> Void,
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void
    ) {
        self.start = start
        self.receiveValue = receiveValue
        self.receiveCompletion = receiveCompletion
    }

    func request(_ demand: Subscribers.Demand) {
        guard state.withLock({ $0.request(isPositive: demand > .none) }) else { return }
        let operation = start { self.deliver($0) }
        if !state.withLock({ $0.store(operation) }) { operation.cancel() }
    }

    func cancel() {
        state.withLock { $0.end() }.operation?.cancel()
    }

    private func deliver(_ result: Result<Success, Failure>) {
        guard state.withLock({ $0.isRunning }) else { return }
        if case .success(let value) = result { receiveValue(value) }
        guard state.withLock({ $0.end() }).wasRunning else { return }
        switch result {
        case .success: receiveCompletion(.finished)
        case .failure(let error): receiveCompletion(.failure(error))
        }
    }
}

extension RequestQueue {
    /// Makes a publisher of the result of a request, which is run for each subscription, as soon as that has demand.
    ///
    /// ```swift
    /// client.publisher(for: GetUser(id: 1)).receive(on: DispatchQueue.main).sink { … } receiveValue: { … }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, is the queue's.
    ///   - completionQueue: The queue of values and completions, as with `addRequest`.
    /// - Returns: The publisher; nothing is sent before it has a subscriber with demand.
    public func publisher<R: NetworkRequest>(
        for request: R,
        session: (any HTTPTransport)? = nil,
        completionQueue: DispatchQueue? = nil
    ) -> RequestPublisher<R> {
        RequestPublisher { completion in
            self.addRequest(request, session: session, completionQueue: completionQueue, completion: completion)
        }
    }
}
#endif
