// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Names from other libraries. They are unavailable here, and the compiler's message names the replacement.

extension TypedRequest where Tag: HTTPMethod.Tag {
    /// Use ``ModifiableRequest/body(_:)-(HTTPBody)``.
    @available(*, unavailable, message: "add the body with a modifier: Post<User>(\"users\").body(user)")
    public init(_ path: HTTPRequest.Path, body: Any) {
        self.init(HTTPRequest(path), decoding: ResponseDecoder { _ in throw CancellationError() })
    }
}

extension HTTPResponse {
    /// Use ``HTTPStatus/code``.
    @available(*, unavailable, message: "use `status`, or `status.code` for the number")
    public var statusCode: Int { status.code }
}

extension HTTPResponseHead {
    /// Use ``HTTPStatus/code``.
    @available(*, unavailable, message: "use `status`, or `status.code` for the number")
    public var statusCode: Int { status.code }
}

extension RequestError {
    /// Use ``response``.
    @available(*, unavailable, message: "use `response?.status`, or `response?.status.code` for the number")
    public var statusCode: Int? { response?.status.code }
}

extension RequestEnvironment.Settings {
    /// Use ``makeDecoder``.
    @available(*, unavailable, message: "a decoder is created for each response: use `makeDecoder = { … }`")
    public var decoder: JSONDecoder {
        get { makeDecoder() }
        set {}
    }

    /// Use ``makeEncoder``.
    @available(*, unavailable, message: "an encoder is created for each body: use `makeEncoder = { … }`")
    public var encoder: JSONEncoder {
        get { JSONEncoder() }
        set {}
    }
}
