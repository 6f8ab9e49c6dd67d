// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A response as it came, with its content in memory: what an ``ExchangeRecorder`` keeps of it.
public struct RecordedResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// The header fields, those included that describe how the content was framed and compressed on its way.
    public var headers: HTTPHeaders
    /// The content, decoded, as far as it was kept.
    public var body: Data
    /// How many bytes the content had, decoded; more than ``body`` where not all of it was kept.
    public var bodySize: Int64

    /// Makes a response whose content is all there.
    public init(status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) {
        (self.status, self.headers, self.body) = (status, headers, body)
        bodySize = Int64(body.count)
    }

    /// Whether all of the content was kept.
    public var isComplete: Bool { bodySize <= Int64(body.count) }

    /// The content as text; what isn't UTF-8 becomes U+FFFD.
    public var text: String { String(decoding: body, as: UTF8.self) }
}
