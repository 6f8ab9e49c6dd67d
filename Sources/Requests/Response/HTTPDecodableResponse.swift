// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that decodes itself from a response.
///
/// For formats that aren't JSON, and for values that need a header or the status:
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
    /// Makes the value of a response.
    ///
    /// - Throws: The failure of the request.
    static func decode(_ response: HTTPResponse<Data>) throws -> Self
}
