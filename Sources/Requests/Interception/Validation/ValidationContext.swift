// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// Information about the request for a validator.
public struct ValidationContext: Sendable {
    /// The request that was sent, after redirects.
    public let request: HTTPRequest
    /// The identifier of the request.
    ///
    /// The identifier may be computed at each access; for a ready-made request, it is a digest of everything that is
    /// sent.
    public var identifier: String { run.identifier ?? "" }
    /// The number of the attempt, starting at 1; redirects don't start a new attempt.
    public let attempt: Int
    /// The statuses that the request accepts; `nil` if it accepts all statuses.
    public let validStatusCodes: [Int]?
    /// The application's data about the request, typed by key.
    public var userInfo: HTTPRequest.UserInfo { run.settings.userInfo }
    private let run: any InterceptedRun

    /// Creates a context, to test a validator.
    public init(
        request: HTTPRequest,
        identifier: String = "",
        attempt: Int = 1,
        validStatusCodes: [Int]? = Array(200..<300),
        userInfo: HTTPRequest.UserInfo = HTTPRequest.UserInfo()
    ) {
        let run = StubRun(identifier, InterceptedSettings(userInfo: userInfo))
        self.init(run, attempt: attempt, request: request, validStatusCodes: validStatusCodes)
    }

    init(_ run: any InterceptedRun, attempt: Int, request: HTTPRequest, validStatusCodes: [Int]?) {
        self.run = run
        self.attempt = attempt
        self.request = request
        self.validStatusCodes = validStatusCodes
    }

    /// Returns whether the request accepts a status: one of its valid statuses, or 304 if the request was conditional.
    public func accepts(_ status: HTTPStatus) -> Bool {
        guard let validStatusCodes else { return true }
        return validStatusCodes.contains(status.code) || status == .notModified && request.isConditional
    }
}

extension ValidationContext: CustomReflectable {
    /// A mirror of the request and the accepted statuses.
    public var customMirror: Mirror {
        let children: KeyValuePairs = ["request": request, "validStatusCodes": validStatusCodes as Any]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
