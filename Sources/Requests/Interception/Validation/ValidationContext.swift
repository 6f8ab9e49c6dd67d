// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
