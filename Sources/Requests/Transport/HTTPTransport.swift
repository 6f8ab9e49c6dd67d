// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How bytes move: the one seam between operations and the network.
///
/// ### Choose a transport
///
/// Pass one as the `session` of `addRequest`: a `URLSession` is a transport, `.shared` is `URLSession.shared`, and none
/// is ``DefaultTransport``, the best that the platform has. Tests take the in-memory transport of `RequestsTesting`.
///
/// ### Write a transport
///
/// Write one to run requests over another client library, over a socket of your own, or over nothing at all. It sends
/// exactly the request that it is given and reports exactly what came back. It follows no redirect, keeps no cookie,
/// answers no challenge, retries nothing and caches nothing: what of these is done at all, the pipeline does, the same
/// on every platform.
///
/// ``send(_:receive:)`` starts a transfer and returns at once. What happens is reported to `receive` by these rules:
///
/// - Events of one transfer come one after the other, each call ending before the next begins, on any thread, also
///   before `send` has returned.
/// - The order is: any number of `informational` and `sent`, then at most one `head`, any number of `data` mixed with
///   `sent`, at most one `metrics`, and exactly one `end`, after which nothing comes. A transfer that ends without an
///   error has had a head.
/// - ``Transfer/cancel()`` leads to the `end` too, with an error of code `cancelled`, in bounded time and whatever the
///   peer does: the operation isn't finished, and keeps its place in the queue, until then.
/// - Content is delivered decoded (gzip and the like), unless ``TransportCapabilities`` says otherwise.
/// - No event is delivered under a lock, since the receiver may call back into the transfer.
///
/// What the request asks for and the transport can't do is an `end` with an error of code `unsupported`, before
/// anything is sent. What it does less well than it should, ``capabilities`` tells.
///
/// ### Test a transport
///
/// Put it to `TransportConformance` of `RequestsTesting`: the rules above as named checks, each against a scripted server
/// that answers, stalls, drips, and hangs up at every point. <doc:TestingYourRequests> shows the few lines that it takes.
public protocol HTTPTransport: AnyObject, Sendable {
    /// What the transport can and can't do.
    var capabilities: TransportCapabilities { get }

    /// Starts a transfer.
    ///
    /// - Parameters:
    ///   - request: What to send; checked already: method, header names and values are fit for the wire.
    ///   - receive: Takes the events, by the rules above. It returns quickly and may be called from any thread.
    /// - Returns: The handle with which to cancel and to pause.
    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer
}
