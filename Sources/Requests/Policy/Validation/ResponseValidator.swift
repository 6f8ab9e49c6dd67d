// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Judges responses: the last word before a response is decoded.
///
/// ```swift
/// environment.validators = [.contentType, .errors(APIError.self)]
/// ```
///
/// Validators are asked in their order, after redirects and after the interceptors' `transform`, and before the request's
/// own `validHTTPStatusCodes`, which judge last unless ``StatusValidator`` stands somewhere in the chain. The first that
/// doesn't accept ends the chain. They may be called from several operations at once, on threads where they may take
/// their time.
public protocol ResponseValidator: Sendable {
    /// Judges a response.
    ///
    /// - Returns: What to do with it.
    /// - Throws: The failure of the request, as with ``Verdict/fail(_:)``.
    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict
}
