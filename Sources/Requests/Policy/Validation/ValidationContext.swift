// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What a validator knows about the request.
public struct ValidationContext: Sendable {
    /// What was sent, redirects followed.
    public let request: HTTPRequest
    /// The identifier of the request.
    public let identifier: String
    /// Which try this is; 1 is the first, and redirects that are followed don't count.
    public let attempt: Int
    /// The statuses that are answers for the request; nil where all are.
    public let validStatusCodes: [Int]?

    /// Makes a context, for tests of a validator.
    public init(
        request: HTTPRequest,
        identifier: String = "",
        attempt: Int = 1,
        validStatusCodes: [Int]? = Array(200..<300)
    ) {
        self.request = request
        self.identifier = identifier
        self.attempt = attempt
        self.validStatusCodes = validStatusCodes
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
