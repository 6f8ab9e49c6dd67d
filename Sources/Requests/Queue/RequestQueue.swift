// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Something that runs requests: an `OperationQueue`, or a stand-in for one.
///
/// All that can be done with requests is done by extensions of this protocol, on whatever adopts it. A queue for tests
/// needs two members, and may finish the operations that it is given with ``RequestOperation/finish(with:)``, or with a
/// whole response, ``NetworkOperation/finish(with:)``:
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
/// An `OperationQueue` inherits an environment without changes, also where a subclass declares one: a class can't
/// change what its superclass adopts. To give requests an environment of your own, write a class that holds an
/// operation queue, hands `operations` and `addOperation` on to it, and has `environment` and `transport`.
public protocol RequestQueue: AnyObject, Sendable {
    /// The operations that aren't finished.
    var operations: [Operation] { get }
    /// Where completions go that name no queue; nil, the default, is the global queue of utility quality.
    var underlyingQueue: DispatchQueue? { get }
    /// What carries requests that name no transport; by default ``DefaultTransport``.
    var transport: any HTTPTransport { get }
    /// What every request inherits; by default an environment without changes.
    var environment: RequestEnvironment { get }

    /// Takes an operation, to start it when its turn has come.
    func addOperation(_ operation: Operation)
}

extension RequestQueue {
    /// Nil: the global queue of utility quality.
    public var underlyingQueue: DispatchQueue? { nil }
    /// The platform's best.
    public var transport: any HTTPTransport { DefaultTransport.shared }
    /// An environment without changes.
    public var environment: RequestEnvironment { .unchanged }
}

extension OperationQueue: RequestQueue {}

extension RequestEnvironment {
    fileprivate static let unchanged = RequestEnvironment()
}
