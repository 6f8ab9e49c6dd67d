// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A request whose answer is that it was done: any success status, and no content.
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
    /// - Throws: A ``RequestError`` of code `unexpectedBody` where there is content, and that matters. No content is no
    ///   error.
    public func processData(_ data: Data) throws {
        guard data.isEmpty || !shouldEnforceNoContent else {
            throw RequestError(.unexpectedBody, phase: .decoding, reason: "\(data.count) bytes of content")
        }
    }
}
