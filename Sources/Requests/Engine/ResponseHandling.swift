// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Tells the engine how to build one kind of request, and how to handle its response.
///
/// Each operation class passes its handling type to the engine once, in its initializer. A conforming value stores only
/// the operation, typed as its concrete class, so the engine can create one per call without allocating.
protocol ResponseHandling: Sendable {
    /// The class of the operations.
    associatedtype Owner: AnyRequestOperation

    /// Where the content of a response goes.
    static var content: ContentDelivery { get }

    /// Whether the operations ignore a client's concurrency limit, because they may run for hours.
    static var ignoresConcurrencyLimit: Bool { get }

    /// Whether the operations send a request when they start.
    static var sendsRequest: Bool { get }

    var operation: Owner { get }

    init(operation: Owner)

    // MARK: The request

    /// Creates a deferred request, and returns the settings of the run.
    ///
    /// - Returns: The settings, or `nil` if the operation already has its result.
    /// - Throws: The failure of the operation.
    func resolve() throws -> RunConfiguration?

    /// Builds the request, usually by calling its `makeHTTPRequest` and waiting for the completion handler to be
    /// called.
    ///
    /// - Throws: The failure of the operation.
    func makeRequest() async throws -> HTTPRequest

    /// Returns the transport for a transfer, by default the operation's transport; may add header fields to the
    /// request.
    ///
    /// - Throws: An error that prevents the transfer.
    func transport(for request: inout HTTPRequest) throws -> (any HTTPTransport)?

    /// Sends a request through the built-in interceptors, by default once.
    ///
    /// Called only if the content isn't collected in memory.
    func send(_ request: HTTPRequest, through next: InterceptorChain) async throws -> RawResponse

    /// Whether a failed request may be sent again; true by default.
    var isRetryable: Bool { get }

    /// The priority of the request for limiters; by default, the priority of the operation.
    var urgency: Int { get }

    // MARK: The response

    /// Returns whether to create a receiver for a response; by default, only if the request accepts the status.
    func acceptsHead(_ head: HTTPResponseHead) -> Bool

    /// Returns why a status isn't accepted, if the status itself doesn't explain it, for example because it is 2xx.
    func refusalReason(of status: HTTPStatus) -> String?

    /// Creates the receiver for the content of an accepted response.
    ///
    /// - Throws: The failure of the operation.
    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)?

    // MARK: The end

    /// Creates the value of a valid, complete response, and finishes the operation.
    func conclude(_ response: RawResponse, of request: HTTPRequest) async throws(RunFailure)

    /// Adds the details of the run to a failure, and finishes the operation with it.
    func fail(_ failure: RunFailure)

    /// Called once, as soon as there is a result, before anything else is notified of it.
    func willDeliver(_ result: OperationCore.AnyResult?)

    /// Releases resources; called once, after the completions have been enqueued.
    func didDeliver()
}

/// Where the content of a response goes.
enum ContentDelivery: Sendable {
    /// In memory, up to the limit. A cache may provide the content, and several operations may share it.
    case inMemory
    /// To a receiver, as the content arrives.
    case streamed
    /// To a receiver, as the content arrives. The content may have no end, as in an event stream.
    case openEnded
}

extension ResponseHandling {
    static var content: ContentDelivery { .inMemory }
    static var ignoresConcurrencyLimit: Bool { false }
    static var sendsRequest: Bool { true }

    func resolve() throws -> RunConfiguration? { operation.configuration }

    func transport(for request: inout HTTPRequest) throws -> (any HTTPTransport)? { operation.ownTransport }

    func send(_ request: HTTPRequest, through next: InterceptorChain) async throws -> RawResponse {
        try await next(request)
    }

    var isRetryable: Bool { true }

    var urgency: Int { operation.queuePriority.rawValue }

    func acceptsHead(_ head: HTTPResponseHead) -> Bool { acceptsStatus(of: head) }

    /// Returns whether a response isn't a redirect, and has a status that the request accepts.
    func acceptsStatus(of head: HTTPResponseHead) -> Bool {
        guard head.status.category != .redirection else { return false }
        return operation.configuration.acceptsStatus(of: head)
    }

    func refusalReason(of status: HTTPStatus) -> String? {
        guard successfulStatusCodes.contains(status.code) else { return nil }
        let codes = operation.configuration.validStatusCodes
        return "the request accepts only \(codes.prefix(5).map(String.init).joined(separator: ", "))"
            + (codes.count > 5 ? ", …" : "")
    }

    func makeReceiver(
        for head: HTTPResponseHead,
        to sent: HTTPRequest,
        flow: FlowControl
    ) throws -> (any ContentReceiver)? { nil }

    func willDeliver(_ result: OperationCore.AnyResult?) {}
    func didDeliver() {}

    /// Creates the handling of an operation that was initialized with this type.
    // Only this initializer converts an operation to its concrete class. The conversion is unchecked, because a check
    // would take longer than most calls.
    fileprivate init(of operation: AnyRequestOperation) {
        self.init(operation: unsafeDowncast(operation, to: Owner.self))
    }
}

extension AnyRequestOperation {
    /// The handling of the operation, which knows the operation's concrete class.
    final var handling: any ResponseHandling { kind.init(of: self) }
}

/// The handling of an operation that sends no request, that is, a group or a subclass of ``RequestOperation`` itself.
protocol LocalHandling: ResponseHandling {}

extension LocalHandling {
    static var sendsRequest: Bool { false }

    func makeRequest() async throws -> HTTPRequest { throw CancellationError() }
    func conclude(_ response: RawResponse, of request: HTTPRequest) async throws(RunFailure) {}
    func fail(_ failure: RunFailure) {}
}
