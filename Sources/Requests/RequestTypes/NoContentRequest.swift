// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request without content in its answer: any success status means that it was done.
///
/// ```swift
/// struct DeleteRecipeRequest: NoContentRequest {
///     let recipeID: String
///     var identifier: String { recipeID }
///     …
/// }
/// ```
public protocol NoContentRequest: DataRequest where Success == Void {
    /// ``NoContentOperation``, unless the request brings a subclass.
    associatedtype OperationType = NoContentOperation<Self>

    /// Whether content is an error of code `unexpectedBody`; true by default. Otherwise it is ignored.
    var shouldEnforceNoContent: Bool { get }
}

extension NoContentRequest {
    /// Content is an error.
    public var shouldEnforceNoContent: Bool { true }

    /// Checks that there is no content; it is never decoded.
    ///
    /// - Throws: A ``RequestError`` of code `unexpectedBody` if there is content, and the request doesn't allow it.
    ///   Missing content isn't an error.
    public func processData(_ data: Data) throws {
        guard data.isEmpty || !shouldEnforceNoContent else {
            throw RequestError(.unexpectedBody, phase: .decoding, reason: "\(data.count) bytes of content")
        }
    }
}

/// The operation of a ``NoContentRequest``.
///
/// It does what ``DataOperation`` does; it is a type of its own so that requests without content can be distinguished,
/// and subclassed, by their operation.
// Sendable: Operation requires restating it; nothing is added here.
open class NoContentOperation<R: NoContentRequest>: DataOperation<R>, @unchecked Sendable {}
