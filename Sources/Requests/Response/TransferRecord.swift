// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The record of one request that was sent for an operation, with its outcome.
///
/// An operation has one record for its first request, and one for every redirect, every retry, and every other request
/// that an interceptor sends with ``InterceptorChain``.
public struct TransferRecord: Sendable {
    /// The reason for a transfer.
    public enum Cause: Sendable, Hashable {
        /// The first transfer of the operation.
        case initial
        /// The previous transfer was redirected to this URL.
        case redirect
        /// The previous transfer failed.
        case retry
        /// A redirect led to a challenge. The challenge is answered without retrying the operation.
        case challenge
    }

    /// The reason for the transfer.
    public let cause: Cause
    /// The request that was sent.
    public let request: HTTPRequest
    /// The head of the response, if one was received.
    public internal(set) var response: HTTPResponseHead?
    /// The error of the transfer, if it failed.
    public internal(set) var error: RequestError?
    /// The metrics of the transfer; `nil` if the record was created without any.
    public internal(set) var metrics: TransferRecord.Metrics?
    /// The received content if it is in memory, for monitors only; otherwise `nil`.
    public internal(set) var content: Data?

    /// Creates the record of a transfer.
    public init(
        cause: Cause,
        request: HTTPRequest,
        response: HTTPResponseHead? = nil,
        error: RequestError? = nil,
        metrics: TransferRecord.Metrics? = nil
    ) {
        self.cause = cause
        self.request = request
        self.response = response
        self.error = error
        self.metrics = metrics
    }
}

/// An object that has performed a transfer, and knows its outcome.
protocol TransferRecorder: AnyObject, Sendable {
    var record: TransferRecord { get }
}

/// The transfers of a response, as values or as a recorder that creates a record on demand.
///
/// Records are large and rarely read, so creating them eagerly would be wasteful.
struct TransferHistory: Sendable {
    private let values: [TransferRecord]
    private let recorder: (any TransferRecorder)?

    init(_ records: [TransferRecord] = []) {
        values = records
        recorder = nil
    }

    init(_ recorder: any TransferRecorder) {
        values = []
        self.recorder = recorder
    }

    var isEmpty: Bool { recorder == nil && values.isEmpty }
    var records: [TransferRecord] { recorder.map { [$0.record] } ?? values }
    var last: TransferRecord? { recorder?.record ?? values.last }
}

extension TransferRecord {
    /// The names of the header fields that weren't sent to this origin.
    ///
    /// The fields were set for a different origin. A redirect, a link to a page, an absolute URL or an interceptor then
    /// changed the origin. If the server needs one of these fields, add its name to
    /// ``RequestOptions/crossOriginHeaders``.
    public var withheldHeaders: [HTTPField.Name] { request.fields.notes.withheldHeaders }
}

extension TransferRecord: CustomStringConvertible {
    /// The request and its outcome, in one line without secrets.
    public var description: String {
        let outcome = error.map { $0.summary } ?? response.map { "\($0.status)" } ?? "no response"
        return ["\(cause): \(request)", outcome, request.withheldText].compactMap(\.self).joined(separator: ", ")
    }
}
