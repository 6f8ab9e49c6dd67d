// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that decodes itself from a response.
///
/// Conform to this protocol for formats other than JSON, and for values that need a header field or the status:
///
/// ```swift
/// struct Page: HTTPDecodableResponse {
///     let text: String
///     let next: String?
///
///     static func decode(_ response: HTTPResponse<Data>) throws -> Page {
///         Page(text: try response.text(), next: response.headers[.link])
///     }
/// }
///
/// let page = try await queue.fetch(Get<Page>("pages/1"))
/// ```
public protocol HTTPDecodableResponse: Sendable {
    /// Decodes a value from a response.
    ///
    /// - Throws: The error with which the request should fail.
    static func decode(_ response: HTTPResponse<Data>) throws -> Self
}
