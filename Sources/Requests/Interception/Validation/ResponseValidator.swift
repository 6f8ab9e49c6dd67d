// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A type that validates responses before they are decoded.
///
/// ```swift
/// environment.validators = [.contentType, .errors(APIError.self)]
/// ```
///
/// Validators run in the order of the list, after redirects and after the interceptors' `transform`. The request's
/// `validHTTPStatusCodes` are checked last, unless the list contains `.statusCodes`. The first validator that doesn't
/// accept the response ends the validation. Several operations may call a validator simultaneously, on threads that you
/// may block.
///
/// The content of a download or a stream isn't in memory, and isn't validated after its delivery. Only
/// ``validate(head:context:)`` can reject such content, for example the page of a captive portal with the status 200.
public protocol ResponseValidator: Sendable {
    /// Validates a response.
    ///
    /// - Returns: What should happen to the response.
    /// - Throws: An error that the request fails with, as with ``ValidationResult/fail(_:)``.
    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult

    /// Validates the head of a response before its content goes to a file or a stream; accepts it by default.
    ///
    /// This method is called only for downloads and streams, if the request accepts the status. Rejected content is
    /// stored in memory instead, up to the environment's limit. The complete response is then validated like any other,
    /// which can lead to a more specific error or a retry. In any case, the response isn't accepted.
    ///
    /// This method is called on a thread of the transport, so it must not block.
    ///
    /// - Throws: The reason why the content is rejected. The request fails with this error, unless a validator throws
    ///   another error for the complete response.
    func validate(head: HTTPResponseHead, context: ValidationContext) throws
}

extension ResponseValidator {
    /// Accepts the head.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {}
}

/// The result of validating a response.
public enum ValidationResult: Sendable {
    /// Accept the response, or replace it with another response. The next validator runs, or the response is decoded.
    case accept(replacing: HTTPResponse<Data>?)
    /// Fail with this error, unless an interceptor or the retry policy retries the request.
    case fail(any Error)
    /// Retry the request, whatever its method, if the strategy's limit and the body allow it.
    ///
    /// Interceptors and the retry policy aren't consulted.
    case retry(RetryPolicy.Strategy)

    /// Accept the response.
    ///
    /// The next validator runs, or the response is decoded.
    public static let accept = ValidationResult.accept(replacing: nil)
}

extension HTTPRequest {
    /// Whether the caller already has a representation, in which case 304 is an acceptable response (RFC 9110, 13.1).
    var isConditional: Bool {
        headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Returns a validator that checks complete responses with a closure.
    public static func closure(_ judge: @escaping ClosureValidator.Judge) -> ClosureValidator {
        ClosureValidator(judge)
    }

    /// Returns a validator that checks the head of a response with a closure, before any content goes to a file or a
    /// stream.
    ///
    /// The closure throws an error to reject the response.
    public static func head(_ judge: @escaping ClosureValidator.JudgeHead) -> ClosureValidator {
        ClosureValidator(head: judge)
    }

    /// A validator that rejects a response if the request doesn't accept its status.
    ///
    /// The request then fails with the code `unacceptableStatus`. This check runs last, even if the list doesn't
    /// contain the validator. Put the validator earlier in the list to keep other validators from seeing such
    /// responses.
    public static var statusCodes: ClosureValidator {
        ClosureValidator(head: { head, context in
            guard context.accepts(head.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
        })
    }

    /// Returns a validator that rejects responses without content.
    ///
    /// The request then fails with the code `emptyResponse`. Responses that never have content (101, 204, 205, 304, and
    /// responses to `HEAD`) are accepted, and so are responses with the given statuses. Requests that decode JSON
    /// already reject empty responses; use the validator for requests that accept any content.
    public static func content(allowingNoneWith statuses: Set<HTTPStatus> = []) -> ClosureValidator {
        let statuses = statuses.union([.switchingProtocols, .noContent, .resetContent, .notModified])
        return ClosureValidator { response, context in
            guard response.body.isEmpty, context.request.method != .head, !statuses.contains(response.status),
                context.accepts(response.status)
            else { return .accept }
            return .fail(RequestError(.emptyResponse, phase: .validating))
        }
    }

    /// A validator that rejects responses without content, except those that never have any.
    public static var content: ClosureValidator { content() }
}
