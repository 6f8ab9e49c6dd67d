// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Fails responses with a status that the request doesn't accept.
///
/// Every chain ends with it. Put it further to the front to keep other validators from seeing such responses.
public struct StatusValidator: ResponseValidator {
    /// Makes a validator.
    public init() {}

    /// Fails a status that isn't an answer, with the code `unacceptableStatus`.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> Verdict {
        context.accepts(response.status)
            ? .accept : .fail(RequestError(.unacceptableStatus, phase: .validating))
    }

    /// Refuses a status that isn't an answer.
    ///
    /// - Throws: ``RequestError`` of code `unacceptableStatus`.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        guard context.accepts(head.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
    }
}

extension ResponseValidator where Self == StatusValidator {
    /// Fails responses with a status that the request doesn't accept.
    public static var statusCodes: StatusValidator { StatusValidator() }
}
