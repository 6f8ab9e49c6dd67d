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
/// own `validHTTPStatusCodes`, which judge last unless `.statusCodes` stands somewhere in the chain. The first that
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
    /// What the application says about the request, typed by key.
    public let userInfo: UserInfo
    private let makeIdentifier: @Sendable () -> String

    /// Makes a context, for tests of a validator.
    public init(
        request: HTTPRequest,
        identifier: String = "",
        attempt: Int = 1,
        validStatusCodes: [Int]? = Array(200..<300),
        userInfo: UserInfo = UserInfo()
    ) {
        self.init(
            request: request,
            attempt: attempt,
            validStatusCodes: validStatusCodes,
            userInfo: userInfo
        ) { identifier }
    }

    init(
        request: HTTPRequest,
        attempt: Int,
        validStatusCodes: [Int]?,
        userInfo: UserInfo,
        identifier: @escaping @Sendable () -> String
    ) {
        self.request = request
        self.attempt = attempt
        self.validStatusCodes = validStatusCodes
        self.userInfo = userInfo
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

/// A validator that is a closure, of whole responses, of their heads, or of both.
///
/// ```swift
/// environment.validators = [
///     .statusCodes,
///     .head { head, _ in if head.headers["X-Portal"] != nil { throw BehindPortal() } },
///     .closure { response, _ in response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept },
/// ]
/// ```
public struct ClosureValidator: ResponseValidator {
    /// Judges a response.
    public typealias Judge = @Sendable (HTTPResponse<Data>, ValidationContext) throws -> Verdict
    /// Throws what the request is to fail with because of a head.
    public typealias JudgeHead = @Sendable (HTTPResponseHead, ValidationContext) throws -> Void

    private let judge: Judge?
    private let judgeHead: JudgeHead?

    /// Makes a validator of a closure, which sees responses with their content.
    public init(_ judge: @escaping Judge) {
        (self.judge, judgeHead) = (judge, nil)
    }

    /// Makes a validator of a closure that looks at the head alone, and so judges downloads and streams like everything
    /// else.
    public init(head judgeHead: @escaping JudgeHead) {
        (judge, self.judgeHead) = (nil, judgeHead)
    }

    /// Makes a validator that is another one, so that the factories of the library need no types of their own.
    init(_ base: some ResponseValidator) {
        (judge, judgeHead) = (base.validate(_:context:), base.validate(head:context:))
    }

    /// Asks the closure.
    ///
    /// - Throws: What the closure throws.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> Verdict {
        if let judge { return try judge(response, context) }
        try judgeHead?(response.head, context)
        return .accept
    }

    /// Asks the closure, if it looks at the head alone.
    ///
    /// - Throws: What the closure throws.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        try judgeHead?(head, context)
    }
}

extension ResponseValidator where Self == ClosureValidator {
    /// Judges as a closure does.
    public static func closure(_ judge: @escaping ClosureValidator.Judge) -> ClosureValidator {
        ClosureValidator(judge)
    }

    /// Judges the head of a response as a closure does, before any content goes to a file or to a stream.
    ///
    /// The closure throws what the request is to fail with.
    public static func head(_ judge: @escaping ClosureValidator.JudgeHead) -> ClosureValidator {
        ClosureValidator(head: judge)
    }

    /// Fails responses with a status that the request doesn't accept, with the code `unacceptableStatus`.
    ///
    /// Every chain ends with it. Put it further to the front to keep other validators from seeing such responses.
    public static var statusCodes: ClosureValidator {
        ClosureValidator(head: { head, context in
            guard context.accepts(head.status) else { throw RequestError(.unacceptableStatus, phase: .validating) }
        })
    }

    /// Fails responses without content, with the code `emptyResponse`, but for those that have none by their nature (204,
    /// 205, 304, and what answers a `HEAD`), or with one of these statuses.
    ///
    /// A request that decodes JSON does the same by itself; this is for those that take whatever comes.
    public static func content(allowingNoneWith statuses: Set<HTTPStatus> = []) -> ClosureValidator {
        let statuses = statuses.union([.noContent, .resetContent, .notModified])
        return ClosureValidator { response, context in
            guard response.body.isEmpty, context.request.method != .head, !statuses.contains(response.status),
                context.accepts(response.status)
            else { return .accept }
            return .fail(RequestError(.emptyResponse, phase: .validating))
        }
    }

    /// Fails responses without content, but for those that have none by their nature.
    public static var content: ClosureValidator { content() }
}
