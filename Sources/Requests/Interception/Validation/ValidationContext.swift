// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// The facts about the request that a validator can read.
public struct ValidationContext: Sendable {
    /// The request that was sent, after redirects.
    public let request: HTTPRequest
    /// The identifier of the request.
    ///
    /// It may be computed at each access: for a ready-made request it is a digest of all that is sent.
    public var identifier: String { run.identifier ?? "" }
    /// The number of the attempt; 1 is the first, and followed redirects don't count.
    public let attempt: Int
    /// The statuses that the request accepts; `nil` if it accepts all.
    public let validStatusCodes: [Int]?
    /// The application's data about the request, typed by key.
    public var userInfo: HTTPRequest.UserInfo { run.settings.userInfo }
    private let run: any InterceptedRun

    /// Makes a context, for tests of a validator.
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

    /// Whether the request accepts a status: one of its own, or 304 if it was conditional.
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
