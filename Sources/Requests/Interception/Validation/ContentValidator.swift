// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
