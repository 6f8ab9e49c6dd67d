// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The interface between operations and the network, which sends requests and receives responses.
///
/// ### Choose a transport
///
/// Pass one as the `session` of `addRequest`: a `URLSession` is a transport, `.shared` is `URLSession.shared`. Without
/// one, ``DefaultTransport`` is used, the best that the platform has. Tests take the in-memory transport of
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

/// The features of a transport beyond sending a request and reporting the response.
///
/// They must be exact on every platform: a missing feature is refused with an error, or known not to happen; it is
/// never supported partially.
public struct TransportCapabilities: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Events are delivered on threads where a slow receiver delays no other transfer, so that content may be decoded
    /// there.
    ///
    /// Without this, the operation moves to a global queue of its quality of service before it decodes.
    public static let concurrentDelivery = TransportCapabilities(rawValue: 1 << 0)
    /// ``TransferHandle/pause()`` stops the peer.
    public static let pausing = TransportCapabilities(rawValue: 1 << 1)
    /// A GET or HEAD request may have a body.
    public static let bodyWithAnyMethod = TransportCapabilities(rawValue: 1 << 2)
    /// Bodies that are streams of a known length are sent with `Content-Length` rather than in chunks.
    public static let sizedStreams = TransportCapabilities(rawValue: 1 << 3)
    /// Repeated header fields are sent one by one, in their order.
    public static let orderedHeaders = TransportCapabilities(rawValue: 1 << 4)
    /// `Proxy-Authorization` of a request goes to the proxy, and never to the origin.
    ///
    /// Without this, ``ChallengeInterceptor`` doesn't answer challenges of proxies.
    public static let proxyAuthorization = TransportCapabilities(rawValue: 1 << 5)
    /// A connection can be upgraded to another protocol, such as WebSocket, if ``TransportRequest/upgrade`` asks for it
    /// and the server agrees.
    public static let upgrades = TransportCapabilities(rawValue: 1 << 6)
}

/// A running transfer, seen from the side that started it.
///
/// All calls are safe from any thread, and at any time.
public protocol TransferHandle: AnyObject, Sendable {
    /// Requests the end; does nothing if the transfer has ended, or was cancelled before.
    func cancel()

    /// Stops delivering content until ``resume()``: back-pressure, if ``TransportCapabilities/pausing`` is supported.
    /// By default it does nothing.
    func pause()

    /// Resumes delivering content.
    func resume()
}

extension TransferHandle {
    /// Does nothing: the transport can't pause.
    public func pause() {}

    /// Does nothing: the transport can't pause.
    public func resume() {}
}

/// An event of a transfer; ``HTTPTransport`` has the rules of their order.
public enum TransferEvent: Sendable {
    /// A response before the final one was received: 100, 103 (RFC 9110, 15.2).
    case informational(HTTPResponseHead)
    /// A number of content bytes have been sent, of the given total, if that is known.
    case sent(Int64, of: Int64?)
    /// The final response began.
    case head(HTTPResponseHead)
    /// A piece of its content was received.
    case data(Data)
    /// Fields behind the content were received, which complete it (RFC 9110, 6.5).
    ///
    /// A transport that can't see them doesn't report them.
    case trailers(HTTPHeaders)
    /// The metrics of the transfer, as far as the transport measures them.
    indirect case metrics(Metrics)
    /// The transfer is over; with no error, the response is complete.
    case end(RequestError?)
}

/// The handle of a transfer that ended before `send` returned.
package final class EndedTransfer: TransferHandle {
    package static let shared = EndedTransfer()

    package func cancel() {}
}

/// The transport of requests that name none: the best that the platform has.
///
/// On Apple platforms that is `URLSession.shared`. On Linux it is ``CurlTransport``; if libcurl can't be loaded, as in
/// statically linked programs, it is a ``URLSessionTransport``, whose documentation lists its faults there.
public enum DefaultTransport {
    /// The shared transport of the process.
    public static let shared: any HTTPTransport = {
        #if os(Linux)
        if CurlTransport.isAvailable { return CurlTransport.shared }
        return URLSessionTransport(configuration: .private)
        #else
        return URLSession.shared
        #endif
    }()

    /// Makes a transport for a single client: it shares no cookies, cache or credentials with others.
    static func `private`() -> any HTTPTransport {
        #if os(Linux)
        shared
        #else
        URLSessionTransport(configuration: .private)
        #endif
    }
}

extension URLSessionConfiguration {
    /// A configuration without stored or shared state: no cookies, no cache, no credentials.
    fileprivate static var `private`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }
}
