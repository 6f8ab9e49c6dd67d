// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

// Stands in for Apple's module Combine in Scripts/apple-check: what the sources use of it, and no more.
// Nothing of it is ever run.

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error

    func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    associatedtype Input
    associatedtype Failure: Error

    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Cancellable {
    func cancel()
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    func request(_ demand: Subscribers.Demand)
}

public struct CombineIdentifier: Hashable, Sendable {}

public protocol CustomCombineIdentifierConvertible {
    var combineIdentifier: CombineIdentifier { get }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
    public var combineIdentifier: CombineIdentifier { CombineIdentifier() }
}

public enum Subscribers {
    public struct Demand: Comparable, Sendable {
        public static let none = Demand()

        public static func < (lhs: Demand, rhs: Demand) -> Bool { false }
    }

    public enum Completion<Failure: Error> {
        case finished
        case failure(Failure)
    }
}
