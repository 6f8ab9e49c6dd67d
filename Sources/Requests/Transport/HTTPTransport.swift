// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
///   `sent`, at most one `trailers`, at most one `metrics`, and exactly one `end`, after which nothing comes. A transfer that
///   ends without an error has had a head.
/// - ``Transfer/cancel()`` leads to the `end` too, with an error of code `cancelled`, in bounded time and whatever the
///   peer does: the operation isn't finished, and keeps its place in the queue, until then.
/// - What the transport has of its own for an origin, such as credentials, client certificates and header fields, stays at
///   home where ``TransportRequest/hasLeftOrigin`` says that redirects have led elsewhere. Cookies of its own are left out
///   where ``TransportRequest/usesCookies`` is false.
/// - Content is delivered decoded (gzip and the like), unless the request wants it as it comes. Content in a coding that
///   the transport doesn't know is delivered as it comes; content that ends inside its coding is an error.
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

/// What a transport can do beyond sending a request and reporting the response.
///
/// Honest on every platform: what isn't here is refused with an error, or is known not to happen; it never happens by
/// half.
public struct TransportCapabilities: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// Makes a set of bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Events come on threads where a slow receiver delays no other transfer, so that content may be decoded there.
    ///
    /// Without this, the operation moves to a global queue of its quality of service before it decodes.
    public static let concurrentDelivery = TransportCapabilities(rawValue: 1 << 0)
    /// ``Transfer/pause()`` stops the peer.
    public static let pausing = TransportCapabilities(rawValue: 1 << 1)
    /// A GET or HEAD request may have a body.
    public static let bodyWithAnyMethod = TransportCapabilities(rawValue: 1 << 2)
    /// Bodies that are streams of a known length are sent with `Content-Length` rather than in chunks.
    public static let sizedStreams = TransportCapabilities(rawValue: 1 << 3)
    /// Repeated header fields are sent one by one, in their order.
    public static let orderedHeaders = TransportCapabilities(rawValue: 1 << 4)
    /// `Proxy-Authorization` of a request goes to the proxy, and never to the origin.
    ///
    /// Without this, ``CredentialInterceptor`` doesn't answer challenges of proxies.
    public static let proxyAuthorization = TransportCapabilities(rawValue: 1 << 5)
}

/// A running transfer, seen from the side that started it.
///
/// All calls are safe from any thread, and at any time.
public protocol Transfer: AnyObject, Sendable {
    /// Asks for the end; a transfer that has ended, or was cancelled before, stays as it is.
    func cancel()

    /// Asks for no more content until ``resume()``: back-pressure, where ``TransportCapabilities/pausing`` says that
    /// there is such a thing. By default nothing happens.
    func pause()

    /// Asks for content again.
    func resume()
}

extension Transfer {
    /// Does nothing: the transport can't pause.
    public func pause() {}

    /// Does nothing: the transport can't pause.
    public func resume() {}
}

/// What happens in a transfer; ``HTTPTransport`` has the rules of their order.
public enum TransferEvent: Sendable {
    /// A response that isn't the final one came: 100, 103 (RFC 9110, 15.2).
    case informational(HTTPResponseHead)
    /// So many bytes of the content have been sent, of so many, where that is known.
    case sent(Int64, of: Int64?)
    /// The final response began.
    case head(HTTPResponseHead)
    /// A piece of its content came.
    case data(Data)
    /// Fields came behind the content, which is complete with them (RFC 9110, 6.5).
    ///
    /// A transport that doesn't see them tells nothing.
    case trailers(HTTPHeaders)
    /// What the transfer took, as far as the transport can tell.
    indirect case metrics(Metrics)
    /// The transfer is over; with no error, the response is complete.
    case end(RequestError?)
}

/// The handle of a transfer that couldn't begin.
final class EndedTransfer: Transfer {
    func cancel() {}
}

/// The transport of requests that name none: the best that the platform has.
///
/// On Apple platforms that is `URLSession.shared`. On Linux it is ``CurlTransport``; where libcurl can't be loaded, as
/// in statically linked programs, it is a ``URLSessionTransport``, whose documentation lists what is worse there.
public enum DefaultTransport {
    /// The one of the process.
    public static let shared: any HTTPTransport = {
        #if os(Linux)
        if CurlTransport.isAvailable { return CurlTransport.shared }
        return URLSessionTransport(configuration: .private)
        #else
        return URLSession.shared
        #endif
    }()

    /// One for a client of its own: it shares no cookies, cache or credentials with anybody.
    static func `private`() -> any HTTPTransport {
        #if os(Linux)
        shared
        #else
        URLSessionTransport(configuration: .private)
        #endif
    }
}

extension URLSessionConfiguration {
    /// Nothing that is kept or shared: no cookies, no cache, no credentials.
    fileprivate static var `private`: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        return configuration
    }
}
