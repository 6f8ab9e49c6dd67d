// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A transport without a network: a closure makes the response to every request, on the thread that sends it.
///
/// The fastest way to test what is made of a response, and never flaky:
///
/// ```swift
/// let transport = InMemoryTransport { request in
///     request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes"}"#) : .status(.notFound)
/// }
/// let recipe = try await queue.fetch(RecipeRequest(recipeID: "1"), session: transport)
/// ```
///
/// It has no sockets, timeouts or network faults: to test these, use a `MockServer`. Safe from any thread; the closure
/// may be called from several at once.
public final class InMemoryTransport: HTTPTransport {
    private let respond: @Sendable (TransportRequest) -> InMemoryResponse
    private let recorded: Locked<[TransportRequest]>?

    /// Makes a transport.
    ///
    /// - Parameters:
    ///   - recordsRequests: Whether ``requests`` is kept; true by default. A benchmark turns it off.
    ///   - respond: Makes the response to a request. It returns at once: it runs on the thread that sends.
    public init(
        recordsRequests: Bool = true,
        _ respond: @escaping @Sendable (TransportRequest) -> InMemoryResponse
    ) {
        self.respond = respond
        recorded = recordsRequests ? Locked([]) : nil
    }

    /// The requests that were sent, in their order.
    public var requests: [TransportRequest] { recorded?.withLock { $0 } ?? [] }

    /// All capabilities except pausing.
    public var capabilities: TransportCapabilities {
        [.concurrentDelivery, .bodyWithAnyMethod, .sizedStreams, .orderedHeaders, .proxyAuthorization]
    }

    /// Delivers the response before it returns, unless the response is held by a gate.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        recorded?.withLock { $0.append(request) }
        let response = respond(request)
        guard let gate = response.gate else {
            response.deliver(to: receive, url: request.url)
            return InMemoryTransfer.ended
        }
        let transfer = InMemoryTransfer(receive)
        _ = gate.whenOpen { transfer.end { response.deliver(to: $0, url: request.url) } }
        return transfer
    }
}

/// A transfer that waits for its gate or for a cancel; the first of the two ends it.
private final class InMemoryTransfer: Transfer {
    static let ended = InMemoryTransfer(nil)
    private let receive: Locked<(@Sendable (TransferEvent) -> Void)?>

    init(_ receive: (@Sendable (TransferEvent) -> Void)?) {
        self.receive = Locked(receive)
    }

    func cancel() {
        end { $0(.end(RequestError(.cancelled, phase: .sending))) }
    }

    func end(_ body: (@Sendable (TransferEvent) -> Void) -> Void) {
        let receive = receive.withLock { receive in
            defer { receive = nil }
            return receive
        }
        if let receive { body(receive) }
    }
}

/// A response of an ``InMemoryTransport``.
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

    /// A status, with optional headers and content.
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

    /// An error instead of a response.
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
