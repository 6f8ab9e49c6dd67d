// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

// Names from other libraries, unavailable here with the replacement as the message.

extension TypedRequest where Tag: HTTPMethod.Tag {
    /// Write ``ModifiableRequest/body(_:)-(HTTPBody)``.
    @available(*, unavailable, message: "write the content as a modifier: Post<User>(\"users\").body(user)")
    public init(_ path: HTTPRequest.Path, body: Any) {
        self.init(HTTPRequest(path), decoding: ResponseDecoder { _ in throw CancellationError() })
    }
}

extension HTTPResponse {
    /// Write ``HTTPStatus/code``.
    @available(*, unavailable, message: "write `status`, or `status.code` for the number")
    public var statusCode: Int { status.code }
}

extension HTTPResponseHead {
    /// Write ``HTTPStatus/code``.
    @available(*, unavailable, message: "write `status`, or `status.code` for the number")
    public var statusCode: Int { status.code }
}

extension RequestError {
    /// Write ``response``.
    @available(*, unavailable, message: "write `response?.status`, or `response?.status.code` for the number")
    public var statusCode: Int? { response?.status.code }
}

extension RequestEnvironment.Settings {
    /// Write ``makeDecoder``.
    @available(*, unavailable, message: "a decoder is made for each response: write `makeDecoder = { … }`")
    public var decoder: JSONDecoder {
        get { makeDecoder() }
        set {}
    }

    /// Write ``makeEncoder``.
    @available(*, unavailable, message: "an encoder is made for each body: write `makeEncoder = { … }`")
    public var encoder: JSONEncoder {
        get { JSONEncoder() }
        set {}
    }
}
