// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation that later requests are made from, or a view of one.
///
/// A ``RequestOperation`` is one, with its value; if it failed, the dependent request isn't made. Its
/// ``RequestOperation/outcome`` is one with the result, success or failure. Don't adopt it.
public protocol RequestDependency<Value>: Sendable {
    /// The value for a later request.
    associatedtype Value: Sendable

    /// The operation that must finish before.
    var awaitedOperation: Operation { get }

    /// Returns the value, when the operation is finished.
    ///
    /// - Throws: ``RequestError`` of code `dependencyFailed`, with the first cause behind it.
    func valueOfDependency() throws -> Value
}
