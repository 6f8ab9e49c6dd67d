// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The interface to the network that sends the requests of operations and receives the responses.
///
/// ### Choose a transport
///
/// Pass a transport as the `session` of `addRequest`. Every `URLSession` is a transport, and `.shared` is
/// `URLSession.shared`. By default, requests use ``HTTPClient/defaultTransport``, the best transport of the platform.
/// For tests, use the in-memory transport of `RequestsTesting`.
///
/// ### Write a transport
///
/// Implement this protocol to send requests with another client library, over your own socket, or without a network. A
/// transport sends exactly the request that it receives, and reports exactly the response. It must not follow
/// redirects, store cookies, respond to challenges, retry or cache, because the library itself does all that, in the
/// same way on every platform.
///
/// ``send(_:receive:)`` starts a transfer and returns immediately. The transport reports events to `receive` by these
/// rules:
///
/// - The events of a transfer are reported serially, on any thread, and possibly even before `send` has returned. Each
///   call returns before the next begins.
/// - The order is: any number of `informational` and `sent`, then at most one `head`, any number of `data` mixed with
///   `sent`, at most one `trailers`, at most one `metrics`, and finally exactly one `end`. A transfer can't end without
///   an error unless it has reported a head.
/// - ``TransferHandle/cancel()`` also results in an `end`, with the error code `cancelled`. The `end` must be reported
///   in bounded time, whatever the peer does, because until then, the operation doesn't finish and occupies its slot of
///   the queue.
/// - If ``TransportRequest/hasLeftOrigin`` is true, redirects have led to another origin. The transport then doesn't
///   send its own settings for the original origin, such as credentials, client certificates and sensitive header
///   fields. If ``TransportRequest/usesCookies`` is false, it doesn't send its own cookies.
/// - Content is delivered decoded (for example, from gzip), unless the request disables decoding. If the transport
///   doesn't support the content coding, it delivers the content encoded. Encoded content that is truncated is an
///   error.
/// - If the request has an upgrade source (``TransportRequest/upgrade``) and the response is a 101, the transport sends
///   the bytes that the source provides. As soon as the peer sends bytes in the upgraded protocol, the transport
///   reports them as content. The metrics of the handshake precede the head.
/// - If the transport limits the connections to a host by default, that limit doesn't apply to a request with
///   ``TransportRequest/hasOwnLimit``. It also doesn't apply to a request with ``TransportRequest/isOpenEnded`` after
///   the head has been received, because a few feeds could otherwise block all other requests. An explicitly configured
///   limit always applies.
/// - No event is reported under a lock, because the receiver may call back into the transfer.
///
/// If the transport doesn't support a requirement of the request, it reports an `end` with the error code `unsupported`
/// before anything is sent. Its optional features are declared in ``capabilities``.
///
/// ### Test a transport
///
/// Run `TransportConformance` from the module `RequestsConformance`. It verifies the rules above in named checks, each
/// against a scripted server that responds, stalls, sends slowly, or closes the connection at any point.
/// <doc:TestingYourRequests> shows the few lines of code that this requires.
public protocol HTTPTransport: AnyObject, Sendable {
    /// The optional features that the transport supports.
    var capabilities: TransportCapabilities { get }

    /// Starts a transfer.
    ///
    /// - Parameters:
    ///   - request: The request, whose method, header names and values were validated.
    ///   - receive: Receives the events, by the rules above. The closure returns quickly, and may be called from any
    ///     thread.
    /// - Returns: A handle that cancels and pauses the transfer.
    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle
}
