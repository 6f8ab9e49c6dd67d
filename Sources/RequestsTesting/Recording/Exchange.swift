// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// One request on the wire, with its response or its error.
///
/// A redirect that is followed and a retry are separate exchanges, as on the wire. An ``ExchangeRecorder`` makes
/// exchanges, an ``HTTPArchive`` stores them, and a test asserts on them:
///
/// ```swift
/// try recorder.exchanges.map(\.request).expect(.post, "/users", .jsonBody(["name": "Ada"]))
/// ```
public struct Exchange: Sendable {
    /// The request that was sent, with its content as far as it was kept.
    public var request: ReceivedRequest
    /// The byte count of the content that was sent; more than the request has here if not all of it was kept.
    public var requestBodySize: Int64
    /// The response; `nil` if there was none.
    public var response: Response?
    /// The error; `nil` if the exchange didn't fail.
    ///
    /// A response is present too, if the exchange failed during it.
    public var error: RequestError?
    /// The start and the durations of the phases; of one that was read from a file, only the start.
    public var metrics: TransferRecord.Metrics

    /// Makes an exchange.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response; `nil`, the default, if there was none.
    ///   - error: The error; `nil` by default.
    ///   - metrics: The start and the durations of the phases; by default it begins now.
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
    /// The request and its outcome, such as `GET https://example.com/users: 200 OK`; without secrets.
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
        /// The header fields, including those of the framing and the compression on the wire.
        public var headers: HTTPHeaders
        /// The content, decoded, as far as it was kept.
        public var body: Data
        /// The byte count of the decoded content; more than ``body`` has if not all of it was kept.
        public var bodySize: Int64

        /// Makes a response whose content is complete.
        public init(status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) {
            (self.status, self.headers, self.body) = (status, headers, body)
            bodySize = Int64(body.count)
        }

        /// Whether all of the content was kept.
        public var isComplete: Bool { bodySize <= Int64(body.count) }

        /// The content as text; invalid UTF-8 becomes U+FFFD.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }
}
