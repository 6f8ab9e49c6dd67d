// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A request that was sent to a server, with its response or its error.
///
/// Each followed redirect and each retry is a separate exchange. An ``ExchangeRecorder`` creates exchanges, an
/// ``HTTPArchive`` stores them, and a test can check them:
///
/// ```swift
/// try recorder.exchanges.map(\.request).expect(.post, "/users", .jsonBody(["name": "Ada"]))
/// ```
public struct Exchange: Sendable {
    /// The request that was sent, with the part of its content that was recorded.
    public var request: ReceivedRequest
    /// The byte count of the content that was sent; larger than the recorded content if that is incomplete.
    public var requestBodySize: Int64
    /// The response; `nil` if there was none.
    public var response: Response?
    /// The error; `nil` if the exchange didn't fail.
    ///
    /// If the exchange failed while the response was being received, there is both an error and a response.
    public var error: RequestError?
    /// The start and the durations of the phases; an exchange that was read from a file has only the start.
    public var metrics: TransferRecord.Metrics

    /// Creates an exchange.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response; `nil`, the default, if there was none.
    ///   - error: The error; `nil` by default.
    ///   - metrics: The start and the durations of the phases; by default, the exchange starts now.
    public init(
        request: ReceivedRequest,
        response: Response? = nil,
        error: RequestError? = nil,
        metrics: TransferRecord.Metrics = TransferRecord.Metrics()
    ) {
        (self.request, self.response, self.error, self.metrics) = (request, response, error, metrics)
        requestBodySize = Int64(request.body.count)
    }
}

extension Exchange: CustomStringConvertible {
    /// The request and its outcome without secrets, such as `GET https://example.com/users: 200 OK`.
    public var description: String {
        let words = [response.map { "\($0.status)" }, error?.code.name]
        let outcome = words.compactMap { $0 }.joined(separator: ", ")
        return "\(request): \(outcome.isEmpty ? "nothing" : outcome)"
    }
}

extension Exchange {
    /// A recorded response, with its content in memory.
    public struct Response: Sendable {
        /// The status.
        public var status: HTTPStatus
        /// The header fields, including those that describe the framing and the compression of the transferred content.
        public var headers: HTTPHeaders
        /// The recorded part of the decoded content.
        public var body: Data
        /// The byte count of the decoded content; larger than ``body`` if the recording is incomplete.
        public var bodySize: Int64

        /// Creates a response whose content is complete.
        public init(status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) {
            (self.status, self.headers, self.body) = (status, headers, body)
            bodySize = Int64(body.count)
        }

        /// Whether the entire content was recorded.
        public var isComplete: Bool { bodySize <= Int64(body.count) }

        /// The content as text; invalid UTF-8 becomes U+FFFD.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
