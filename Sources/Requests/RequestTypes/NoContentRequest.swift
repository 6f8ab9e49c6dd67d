// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose response has no content; any success status means success.
///
/// ```swift
/// struct DeleteRecipeRequest: NoContentRequest {
///     let recipeID: String
///     var identifier: String { recipeID }
///     …
/// }
/// ```
public protocol NoContentRequest: DataRequest where Success == Void {
    /// The type of the operation: ``NoContentOperation``, unless the request specifies a subclass.
    associatedtype OperationType = NoContentOperation<Self>

    /// Whether content fails the request with the code `unexpectedBody`; `true` by default. With `false`, content is
    /// ignored.
    var shouldEnforceNoContent: Bool { get }
}

extension NoContentRequest {
    /// `true`, which makes content an error.
    public var shouldEnforceNoContent: Bool { true }

    /// Checks that there is no content, without decoding it.
    ///
    /// - Throws: A ``RequestError`` with the code `unexpectedBody` if there is content and the request doesn't allow
    ///   it. Missing content isn't an error.
    public func processData(_ data: Data) throws {
        guard data.isEmpty || !shouldEnforceNoContent else {
            throw RequestError(.unexpectedBody, phase: .decoding, reason: "\(data.count.counting("byte")) of content")
        }
    }
}

/// The operation of a ``NoContentRequest``.
///
/// It behaves like ``DataOperation``. As a separate type, it lets you distinguish and subclass the operations of
/// requests without content.
// Sendable: a subclass of `Operation` must restate the conformance. This class adds nothing.
open class NoContentOperation<R: NoContentRequest>: DataOperation<R>, @unchecked Sendable {}
