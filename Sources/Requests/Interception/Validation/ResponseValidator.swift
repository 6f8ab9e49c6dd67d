// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Judges responses before they are decoded.
///
/// ```swift
/// environment.validators = [.contentType, .errors(APIError.self)]
/// ```
///
/// Validators are called in their order, after redirects and after the interceptors' `transform`, and before the
/// request's own `validHTTPStatusCodes`, which judge last unless the chain contains `.statusCodes`. The first that
/// doesn't accept ends the chain. They may be called from several operations at once, on threads that may be blocked.
///
/// The content of a download and of a stream isn't in memory, and isn't judged after it was delivered: for these, only
/// ``validate(head:context:)`` can refuse content, such as the page of a captive portal with the status 200.
public protocol ResponseValidator: Sendable {
    /// Judges a response.
    ///
    /// - Returns: What to do with the response.
    /// - Throws: The failure of the request, as with ``ValidationResult/fail(_:)``.
    func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult

    /// Judges the head of a response before its content goes to a file or to a stream; accepts it by default.
    ///
    /// Called only for downloads and streams, if the request accepts the status. Refused content goes to memory
    /// instead, up to the environment's limit. The whole response is then judged like any other, so that it can become
    /// a more specific error, or be retried; it fails in any case.
    ///
    /// Called on the thread of the transport: don't block it.
    ///
    /// - Throws: The reason why the content is refused. It is the failure of the request, unless a validator throws
    ///   another one for the whole response.
    func validate(head: HTTPResponseHead, context: ValidationContext) throws
}

extension ResponseValidator {
    /// Accepts the head.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {}
}

/// The judgement of a validator about a response.
public enum ValidationResult: Sendable {
    /// The next validator judges, or the response is decoded; if another response is given, it replaces this one.
    case accept(replacing: HTTPResponse<Data>?)
    /// The request fails, unless an interceptor or the retry policy retries it.
    case fail(any Error)
    /// The request is retried, whatever its method is, as long as the strategy's limit and its body allow.
    ///
    /// Neither interceptors nor the retry policy are asked.
    case retry(RetryPolicy.Strategy)

    /// The next validator judges, or the response is decoded.
    public static let accept = ValidationResult.accept(replacing: nil)
}

extension HTTPRequest {
    /// Whether the caller already has a representation, so that 304 is an answer (RFC 9110, 13.1).
    var isConditional: Bool {
        headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Judges with a closure.
    public static func closure(_ judge: @escaping ClosureValidator.Judge) -> ClosureValidator {
        ClosureValidator(judge)
    }

    /// Judges the head of a response with a closure, before any content goes to a file or to a stream.
    ///
    /// The closure throws the failure of the request.
    public static func head(_ judge: @escaping ClosureValidator.JudgeHead) -> ClosureValidator {
        ClosureValidator(head: judge)
    }

    /// Fails responses with a status that the request doesn't accept, with the code `unacceptableStatus`.
    ///
    /// Every chain ends with it. Put it earlier to keep other validators from seeing such responses.
    public static var statusCodes: ClosureValidator {
        ClosureValidator(head: { head, context in
            guard context.accepts(head.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
        })
    }

    /// Fails responses without content, with the code `emptyResponse`.
    ///
    /// Responses that never have content (101, 204, 205, 304, and answers to `HEAD`) are accepted, and so are these
    /// statuses. A request that decodes JSON does the same itself; this is for requests that accept any content.
    public static func content(allowingNoneWith statuses: Set<HTTPStatus> = []) -> ClosureValidator {
        let statuses = statuses.union([.switchingProtocols, .noContent, .resetContent, .notModified])
        return ClosureValidator { response, context in
            guard response.body.isEmpty, context.request.method != .head, !statuses.contains(response.status),
                context.accepts(response.status)
            else { return .accept }
            return .fail(RequestError(.emptyResponse, phase: .validating))
        }
    }

    /// Fails responses without content, except those that never have any.
    public static var content: ClosureValidator { content() }
}
