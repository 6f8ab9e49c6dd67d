// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A validator made of a closure that checks complete responses, or only their heads.
///
/// ```swift
/// environment.validators = [
///     .statusCodes,
///     .head { head, _ in if head.headers["X-Portal"] != nil { throw BehindPortal() } },
///     .closure { response, _ in response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept },
/// ]
/// ```
public struct ClosureValidator: ResponseValidator {
    /// Validates a response.
    public typealias Judge = @Sendable (HTTPResponse<Data>, ValidationContext) throws -> ValidationResult
    /// Validates the head of a response, and throws an error that the request fails with.
    public typealias JudgeHead = @Sendable (HTTPResponseHead, ValidationContext) throws -> Void

    private let judge: Judge?
    private let judgeHead: JudgeHead?

    /// Creates a validator from a closure that checks complete responses, including their content.
    public init(_ judge: @escaping Judge) {
        (self.judge, judgeHead) = (judge, nil)
    }

    /// Creates a validator from a closure that checks only the head, and therefore also applies to downloads and
    /// streams.
    public init(head judgeHead: @escaping JudgeHead) {
        (judge, self.judgeHead) = (nil, judgeHead)
    }

    /// Wraps another validator, so that the library's factory methods don't need separate public types.
    init(_ base: some ResponseValidator) {
        (judge, judgeHead) = (base.validate(_:context:), base.validate(head:context:))
    }

    /// Calls the closure.
    ///
    /// - Throws: Any error that the closure throws.
    public func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult {
        if let judge { return try judge(response, context) }
        try judgeHead?(response.head, context)
        return .accept
    }

    /// Calls the closure if it checks only the head.
    ///
    /// - Throws: Any error that the closure throws.
    public func validate(head: HTTPResponseHead, context: ValidationContext) throws {
        try judgeHead?(head, context)
    }
}
