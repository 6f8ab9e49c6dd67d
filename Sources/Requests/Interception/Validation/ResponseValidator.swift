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

/// What a validator makes of a response.
public enum Verdict: Sendable {
    /// The next validator judges, or the response is decoded; another one in its place, where there is one.
    case accept(replacing: HTTPResponse<Data>?)
    /// The request fails, unless an interceptor or the retry policy has it tried again.
    case fail(any Error)
    /// The request is tried again, whatever its method is, as long as the strategy's limit and its body allow.
    ///
    /// Neither interceptors nor the retry policy are asked.
    case retry(RetryStrategy)

    /// The next validator judges, or the response is decoded.
    public static let accept = Verdict.accept(replacing: nil)
}

/// What a validator knows about the request.
public struct ValidationContext: Sendable {
    /// What was sent, redirects followed.
    public let request: HTTPRequest
    /// The identifier of the request.
    ///
    /// It may be computed at each access: for a ready-made request it is a digest of all that is sent.
    public var identifier: String { makeIdentifier() }
    /// Which try this is; 1 is the first, and redirects that are followed don't count.
    public let attempt: Int
    /// The statuses that are answers for the request; nil where all are.
    public let validStatusCodes: [Int]?
    private let makeIdentifier: @Sendable () -> String

    /// Makes a context, for tests of a validator.
    public init(
        request: HTTPRequest,
        identifier: String = "",
        attempt: Int = 1,
        validStatusCodes: [Int]? = Array(200..<300)
    ) {
        self.init(request: request, attempt: attempt, validStatusCodes: validStatusCodes) { identifier }
    }

    init(
        request: HTTPRequest,
        attempt: Int,
        validStatusCodes: [Int]?,
        identifier: @escaping @Sendable () -> String
    ) {
        self.request = request
        self.attempt = attempt
        self.validStatusCodes = validStatusCodes
        makeIdentifier = identifier
    }

    /// Whether the request is content with a status: one of its own, or 304 where it was conditional.
    public func accepts(_ status: HTTPStatus) -> Bool {
        guard let validStatusCodes else { return true }
        return validStatusCodes.contains(status.code) || status == .notModified && request.isConditional
    }
}

extension HTTPRequest {
    /// Whether the caller has a representation already, and 304 is an answer (RFC 9110, 13.1).
    var isConditional: Bool {
        headers.contains(.ifNoneMatch) || headers.contains(.ifModifiedSince)
    }
}

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

/// A validator that looks at the head of a response alone, and so judges downloads and streams like everything else.
///
/// ```swift
/// environment.validators.append(.head { head, _ in
///     guard head.headers["X-Portal"] == nil else { throw BehindPortal() }
/// })
/// ```
public struct HeadValidator: ResponseValidator {
    private let judge: @Sendable (HTTPResponseHead, ValidationContext) throws -> Void

    /// Makes a validator of a closure, which throws what the request is to fail with.
    public init(_ judge: @escaping @Sendable (HTTPResponseHead, ValidationContext) throws -> Void) {
        self.judge = judge
    }

    /// Asks the closure about the head of the response.
    ///
    /// - Throws: What the closure throws.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict {
        try judge(response.head, context)
        return .accept
    }

    /// Asks the closure.
    ///
    /// - Throws: What the closure throws.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        try judge(head, context)
    }
}

extension ResponseValidator where Self == HeadValidator {
    /// Judges the head of a response as a closure does, before any content goes to a file or to a stream.
    public static func head(
        _ judge: @escaping @Sendable (HTTPResponseHead, ValidationContext) throws -> Void
    ) -> HeadValidator {
        HeadValidator(judge)
    }
}

/// Fails responses without content where there should be some.
///
/// No content is right with 204, 205 and 304, as the answer to HEAD (RFC 9110, 6.4.1), and with the statuses that are
/// named besides. What becomes of empty content otherwise is up to the request: `Void` never decodes, and an optional
/// is nil.
public struct ContentValidator: ResponseValidator {
    private let statuses: Set<HTTPStatus>

    /// Makes a validator; the statuses may come without content, besides those that have none anyway.
    public init(allowingNoneWith statuses: Set<HTTPStatus> = []) {
        self.statuses = statuses.union([.noContent, .resetContent, .notModified])
    }

    /// Fails empty content, with the code `emptyResponse`.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) -> Verdict {
        guard response.body.isEmpty, context.request.method != .head, !statuses.contains(response.status),
            context.accepts(response.status)
        else { return .accept }
        return .fail(RequestError(.emptyResponse, phase: .validating))
    }
}

extension ResponseValidator where Self == ContentValidator {
    /// Fails responses without content, but for those that have none by their nature.
    public static var content: ContentValidator { ContentValidator() }

    /// Fails responses without content, but for those that have none by their nature, or with one of these statuses.
    public static func content(allowingNoneWith statuses: Set<HTTPStatus>) -> ContentValidator {
        ContentValidator(allowingNoneWith: statuses)
    }
}

/// A validator that is a closure.
public struct ClosureValidator: ResponseValidator {
    private let judge: @Sendable (HTTPResponse<Data>, ValidationContext) throws -> Verdict

    /// Makes a validator of a closure.
    public init(_ judge: @escaping @Sendable (HTTPResponse<Data>, ValidationContext) throws -> Verdict) {
        self.judge = judge
    }

    /// Asks the closure.
    ///
    /// - Throws: What the closure throws.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict {
        try judge(response, context)
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Judges as a closure does.
    public static func closure(
        _ judge: @escaping @Sendable (HTTPResponse<Data>, ValidationContext) throws -> Verdict
    ) -> ClosureValidator {
        ClosureValidator(judge)
    }
}
