// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The interface between operations and the network, which sends requests and receives responses.
///
/// ### Choose a transport
///
/// Pass one as the `session` of `addRequest`: a `URLSession` is a transport, `.shared` is `URLSession.shared`. Without
/// one, ``HTTPClient/defaultTransport`` is used, the best that the platform has. Tests take the in-memory transport of
/// `RequestsTesting`.
///
/// ### Write a transport
///
/// Write one to run requests over another client library, over a socket of your own, or without a network. It sends
/// exactly the request that it is given and reports exactly the response. It follows no redirects, keeps no cookies,
/// answers no challenges, retries nothing and caches nothing: the library does these itself, in the same way on every
/// platform.
///
/// ``send(_:receive:)`` starts a transfer and returns at once. Events are reported to `receive` by these rules:
///
/// - Events of one transfer come one after the other, each call ending before the next begins, on any thread, also
///   before `send` has returned.
/// - The order is: any number of `informational` and `sent`, then at most one `head`, any number of `data` mixed with
///   `sent`, at most one `trailers`, at most one `metrics`, and exactly one `end`, after which nothing comes. A
///   transfer that ends without an error has had a head.
/// - ``TransferHandle/cancel()`` leads to the `end` too, with an error of code `cancelled`, in bounded time and
///   whatever the peer does: the operation isn't finished, and keeps its place in the queue, until then.
/// - The transport's own settings for an origin, such as credentials, client certificates and header fields that aren't
///   harmless elsewhere, are not sent if ``TransportRequest/hasLeftOrigin`` says that redirects have led elsewhere. Cookies of its own are left out
///   if ``TransportRequest/usesCookies`` is false.
/// - Content is delivered decoded (gzip and the like), unless the request disables it. Content in a coding that the
///   transport doesn't support is delivered encoded; content that ends inside its coding is an error.
/// - If the request has an ``TransportRequest/upgrade`` and the response is a 101, the bytes that the peer then sends
///   in the other protocol are the content, as they arrive, and the bytes of the upgrade are sent. The metrics of the
///   handshake come before the head.
/// - A limit of connections to a host that the transport sets by default, and not its user, doesn't apply to a request
///   with ``TransportRequest/hasOwnLimit``. It doesn't apply to one with ``TransportRequest/isOpenEnded`` either, once
///   its head has been received: otherwise a few feeds could stop all other requests.
/// - No event is delivered under a lock, since the receiver may call back into the transfer.
///
/// If the transport doesn't support something that the request requires, it reports an `end` with an error of code
/// `unsupported`, before anything is sent. Its limitations are declared in ``capabilities``.
///
/// ### Test a transport
///
/// Run `TransportConformance` of the module `RequestsConformance` on it: the rules above as named checks, each against
/// a scripted server that answers, stalls, sends slowly, and closes the connection at every point.
/// <doc:TestingYourRequests> shows the few lines that it takes.
public protocol HTTPTransport: AnyObject, Sendable {
    /// The features that the transport supports.
    var capabilities: TransportCapabilities { get }

    /// Starts a transfer.
    ///
    /// - Parameters:
    ///   - request: The request, already checked: method, header names and values are valid.
    ///   - receive: Receives the events, by the rules above. It returns quickly and may be called from any thread.
    /// - Returns: A handle to cancel and to pause the transfer.
    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle
}
