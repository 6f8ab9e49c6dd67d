// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
    public typealias Judge = @Sendable (HTTPResponse<Data>, ValidationContext) throws -> ValidationResult
    /// Throws the failure of the request because of a head.
    public typealias JudgeHead = @Sendable (HTTPResponseHead, ValidationContext) throws -> Void

    private let judge: Judge?
    private let judgeHead: JudgeHead?

    /// Makes a validator of a closure, which sees responses with their content.
    public init(_ judge: @escaping Judge) {
        (self.judge, judgeHead) = (judge, nil)
    }

    /// Makes a validator of a closure that judges the head alone, and so applies to downloads and streams too.
    public init(head judgeHead: @escaping JudgeHead) {
        (judge, self.judgeHead) = (nil, judgeHead)
    }

    /// Makes a validator that is another one, so that the factories of the library need no types of their own.
    init(_ base: some ResponseValidator) {
        (judge, judgeHead) = (base.validate(_:context:), base.validate(head:context:))
    }

    /// Asks the closure.
    ///
    /// - Throws: Any error that the closure throws.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult {
        if let judge { return try judge(response, context) }
        try judgeHead?(response.head, context)
        return .accept
    }

    /// Calls the closure, if it judges the head alone.
    ///
    /// - Throws: Any error that the closure throws.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        try judgeHead?(head, context)
    }
}
