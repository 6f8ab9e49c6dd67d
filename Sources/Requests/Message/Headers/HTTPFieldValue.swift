// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A value that knows how it stands in a header field, such as ``MediaType`` or ``CacheControl``.
///
/// Conform a type of your own to it where a field of your service has a structure. It can then be the value of an
/// ``HTTPField``, which refuses it when the request is built where ``validated()`` does:
///
/// ```swift
/// struct Priority: HTTPFieldValue {
///     var urgency: Int
///     var rawValue: String { "u=\(urgency)" }
/// }
/// let field = HTTPField("Priority", Priority(urgency: 1))
/// ```
public protocol HTTPFieldValue: Sendable {
    /// The value as it stands in the field.
    var rawValue: String { get }

    /// The value itself, where it can be sent; by default where ``rawValue`` has no control character.
    ///
    /// - Throws: ``InvalidRequest`` that names the piece at fault.
    func validated() throws(InvalidRequest) -> Self
}

extension HTTPFieldValue {
    /// The value itself, where ``rawValue`` has no control character.
    ///
    /// - Throws: ``InvalidRequest`` where it has one.
    public func validated() throws(InvalidRequest) -> Self {
        guard rawValue.isFieldValue else { throw InvalidRequest(.headerValue, "has a control character") }
        return self
    }
}
