// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
