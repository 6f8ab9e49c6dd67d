// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The state machine of a subscription to one operation's result, following the rules of Combine.
///
/// Nothing starts before the subscriber has demand. The subscriber then receives one value and one completion, and
/// nothing after a cancellation. The type doesn't depend on Combine, so that tests can run without it.
struct ResultSubscription: Sendable {
    private enum State: Sendable {
        case idle
        case running(Operation?)
        case ended
    }

    private var state = State.idle

    /// Records demand; returns whether the caller should start the operation now.
    mutating func request(isPositive: Bool) -> Bool {
        guard case .idle = state, isPositive else { return false }
        state = .running(nil)
        return true
    }

    /// Stores the started operation; returns `false` if the subscription has ended, in which case the caller must
    /// cancel the operation.
    mutating func store(_ operation: Operation) -> Bool {
        guard isRunning else { return false }
        state = .running(operation)
        return true
    }

    /// Whether the subscriber may still receive values.
    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// Ends the subscription after its completion or a cancellation.
    ///
    /// - Returns: Whether the subscription was running, and its operation, which the caller must release outside the
    ///   lock.
    mutating func end() -> (wasRunning: Bool, operation: Operation?) {
        defer { state = .ended }
        guard case .running(let operation) = state else { return (false, nil) }
        return (true, operation)
    }
}

#if canImport(Combine)
import Combine

/// A publisher of a request's result, which runs the request once per subscription with demand.
///
/// Cancelling a subscription cancels its operation, and nothing more is delivered. Values and completions are delivered
/// on the completion queue.
public struct RequestPublisher<R: NetworkRequest>: Publisher {
    /// The type of the request's value.
    public typealias Output = R.Success
    /// The type of the request's error.
    public typealias Failure = R.Failure

    fileprivate typealias Completion = @Sendable (Result<R.Success, R.Failure>) -> Void
    fileprivate let start: @Sendable (@escaping Completion) -> Operation

    /// Creates a subscription for the subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == R.Success, S.Failure == R.Failure {
        let subscription = RequestSubscription<R.Success, R.Failure>(start) {
            _ = subscriber.receive($0)
        } receiveCompletion: {
            subscriber.receive(completion: $0)
        }
        subscriber.receive(subscription: subscription)
    }
}

// Sendable: any thread may call a subscription, so a lock guards its state. Combine allows calls to a subscriber on any
// thread, but only one at a time, which the state machine behind the lock ensures.
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
    /// Returns a publisher that runs the request for each subscription as soon as the subscriber has demand.
    ///
    /// ```swift
    /// client.publisher(for: GetUser(id: 1)).receive(on: DispatchQueue.main).sink { … } receiveValue: { … }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request to run.
    ///   - session: The transport; `nil`, the default, uses the queue's.
    ///   - completionQueue: The queue that delivers values and completions, as with `addRequest`.
    /// - Returns: The publisher. Nothing is sent before a subscriber has demand.
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
