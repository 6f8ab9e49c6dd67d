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
///
/// The content of a download and of a stream isn't in memory, and isn't judged once it went to its file or its reader:
/// there, only ``validate(head:context:)`` keeps out what isn't wanted, such as the page of a captive portal that comes
/// with the status 200.
public protocol ResponseValidator: Sendable {
    /// Judges a response.
    ///
    /// - Returns: What to do with it.
    /// - Throws: The failure of the request, as with ``Verdict/fail(_:)``.
    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict

    /// Judges the head of a response before its content goes to a file or to a stream; accepts it by default.
    ///
    /// Asked for downloads and streams alone, where the status is one that the request accepts. The content of what is
    /// refused goes to memory instead, up to the environment's limit. The whole response is judged then as that of any
    /// other request, so that it can become an error that says more, or be retried; it fails in any case.
    ///
    /// Called on the thread of the transport: don't take long.
    ///
    /// - Throws: Why the content isn't wanted. It is the failure of the request, unless a validator makes another one of
    ///   the whole response.
    func validate(head: HTTPResponseHead, context: ValidationContext) throws
}

extension ResponseValidator {
    /// Accepts the head.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {}
}
