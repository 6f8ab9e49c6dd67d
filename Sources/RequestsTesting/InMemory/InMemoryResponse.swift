// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What an ``InMemoryTransport`` answers.
public struct InMemoryResponse: Sendable {
    private enum Outcome: Sendable {
        case response(HTTPStatus, HTTPHeaders, [Data])
        case failure(RequestError)
    }

    private let outcome: Outcome
    let gate: Gate?

    private init(_ outcome: Outcome, gate: Gate? = nil) {
        self.outcome = outcome
        self.gate = gate
    }

    /// A status, with headers and content where there are any.
    public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [], body: Data = Data()) -> InMemoryResponse
    {
        chunks(body.isEmpty ? [] : [body], status: status, headers: headers)
    }

    /// JSON, as text.
    public static func json(_ text: String, status: HTTPStatus = .ok) -> InMemoryResponse {
        chunks([Data(text.utf8)], status: status, headers: [.contentType: "application/json"])
    }

    /// Content that comes in several pieces.
    public static func chunks(
        _ chunks: [Data],
        status: HTTPStatus = .ok,
        headers: HTTPHeaders = []
    ) -> InMemoryResponse {
        InMemoryResponse(.response(status, headers, chunks))
    }

    /// No response, but an error.
    public static func failure(_ error: RequestError) -> InMemoryResponse {
        InMemoryResponse(.failure(error))
    }

    /// Nothing, until the transfer is cancelled.
    public static var never: InMemoryResponse {
        status(.ok).held(by: Gate())
    }

    /// The same response, but not before the gate is open.
    public func held(by gate: Gate) -> InMemoryResponse {
        InMemoryResponse(outcome, gate: gate)
    }

    func deliver(to receive: (TransferEvent) -> Void, url: URL) {
        switch outcome {
        case .failure(let error):
            receive(.end(error))
        case .response(let status, let headers, let chunks):
            receive(.head(HTTPResponseHead(status: status, headers: headers, url: url)))
            for chunk in chunks { receive(.data(chunk)) }
            receive(.end(nil))
        }
    }
}
