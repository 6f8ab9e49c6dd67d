// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// One request that was sent on behalf of an operation, with its outcome.
///
/// An operation has one for its first request, one for every followed redirect, one for every retry, and one for every
/// further request that an interceptor sends by ``InterceptorChain``.
public struct TransferRecord: Sendable {
    /// The cause of a transfer.
    public enum Cause: Sendable, Hashable {
        /// It is the first.
        case initial
        /// The one before was redirected here.
        case redirect
        /// The one before failed.
        case retry
        /// A redirect led to a challenge, which is answered without a retry of the operation.
        case challenge
    }

    /// The cause of the transfer.
    public let cause: Cause
    /// The request that was sent.
    public let request: HTTPRequest
    /// The head of the response, if one was received.
    public internal(set) var response: HTTPResponseHead?
    /// The error of the transfer, if it failed.
    public internal(set) var error: RequestError?
    /// The metrics of the transfer; `nil` if the record was made without any.
    public internal(set) var metrics: TransferRecord.Metrics?
    /// The received content, if it is in memory; only monitors get it, elsewhere it is `nil`.
    public internal(set) var content: Data?

    /// Makes the record of a transfer.
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

/// An object that has made a transfer, and knows its outcome.
protocol TransferRecorder: AnyObject, Sendable {
    var record: TransferRecord { get }
}

/// The transfers of a response: values, or a recorder that creates one on demand.
///
/// A transfer is large, and is seldom read.
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
    /// The names of the header fields that stayed behind when the request came to its origin.
    ///
    /// A redirect, a link to a page, an absolute address or an interceptor has led there from an origin that the fields
    /// were set for. If the server needs one of them, name it in ``RequestOptions/crossOriginHeaders``.
    public var withheldHeaders: [HTTPField.Name] { request.fields.notes.withheldHeaders }
}

extension TransferRecord: CustomStringConvertible {
    /// The request and its outcome, in a line without secrets.
    public var description: String {
        let outcome = error.map { $0.summary } ?? response.map { "\($0.status)" } ?? "no answer"
        return ["\(cause): \(request)", outcome, request.withheldText].compactMap(\.self).joined(separator: ", ")
    }
}
