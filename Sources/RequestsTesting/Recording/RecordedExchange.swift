// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What was sent, and what came of it: one request on the wire with its response or its error.
///
/// A redirect that is followed and a retry are exchanges of their own, as they are on the wire. An ``ExchangeRecorder``
/// makes them, an ``HTTPArchive`` stores them, and a test asserts on them:
///
/// ```swift
/// try recorder.exchanges.expect(.post, path: "/users", json: ["name": "Ada"])
/// ```
public struct RecordedExchange: Sendable {
    /// What was sent, with its content as far as that was kept.
    public var request: StubbedRequest
    /// How many bytes of content were sent; more than the request has here where not all of it was kept.
    public var requestBodySize: Int64
    /// What came back; nil where nothing did.
    public var response: Response?
    /// Why the exchange failed; nil where it didn't.
    ///
    /// With a response too, where it failed in the middle of that.
    public var error: RequestError?
    /// Whether the exchange wasn't over when this was taken, so that more may have come of it; false by default.
    ///
    /// Such an exchange is in the ``ExchangeRecorder/archive`` of a recorder. A file keeps it with a remark, and the
    /// request that it would be replayed for fails, with an ``ArchiveError`` that says so.
    public var isUnderWay = false
    /// When it began, and what its phases took.
    public var metrics: Metrics

    /// Makes an exchange.
    ///
    /// - Parameters:
    ///   - request: What was sent.
    ///   - response: What came back; nil, the default, where nothing did.
    ///   - error: Why it failed; nil by default.
    ///   - metrics: When it began, and what its phases took; by default it begins now.
    public init(
        request: StubbedRequest,
        response: Response? = nil,
        error: RequestError? = nil,
        metrics: Metrics = Metrics()
    ) {
        (self.request, self.response, self.error, self.metrics) = (request, response, error, metrics)
        requestBodySize = Int64(request.body.count)
    }
}

extension RecordedExchange: CustomStringConvertible {
    /// The request and what came of it, such as `GET https://example.com/users: 200 OK`; without secrets.
    public var description: String {
        let words = [response.map { "\($0.status)" }, error?.code.name, isUnderWay ? "under way" : nil]
        let outcome = words.compactMap { $0 }.joined(separator: ", ")
        return "\(request): \(outcome.isEmpty ? "nothing" : outcome)"
    }
}

extension RecordedExchange {
    /// A response as it came, with its content in memory: what an ``ExchangeRecorder`` keeps of it.
    public struct Response: Sendable {
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
}
