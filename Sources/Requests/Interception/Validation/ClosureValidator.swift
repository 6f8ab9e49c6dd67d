// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
