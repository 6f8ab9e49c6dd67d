// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An operation from whose result a later request is created, or a view of such an operation.
///
/// A ``RequestOperation`` provides its value; if the operation fails, the dependent request isn't created. Its
/// ``RequestOperation/outcome`` provides the result, success or failure. Don't conform your own types to this protocol.
public protocol RequestDependency<Value>: Sendable {
    /// The type of the value that a later request is created from.
    associatedtype Value: Sendable

    /// The operation that must finish before the value can be read.
    var awaitedOperation: Operation { get }

    /// Returns the value once the operation is finished.
    ///
    /// - Throws: A ``RequestError`` with the code `dependencyFailed`, whose underlying error is the root cause.
    func valueOfDependency() throws -> Value
}
