// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transport that creates a private `URLSession` from a configuration.
///
/// Use this transport if you need your own configuration, but not a `URLSession` with a delegate. The session exists as
/// long as the transport. When the transport is deallocated, running transfers still complete. On Apple platforms,
/// requests with a ``TrustPolicy`` other than `.system` use separate sessions, one for each origin, with the same
/// configuration but without its URL cache.
///
/// On Linux, the transport works around these bugs in `URLSession`:
///
/// | bug in `URLSession` on Linux | behavior of this transport |
/// |---|---|
/// | a 401 with a Basic challenge and without a credential never completes | it completes like any other response |
/// | timeouts are truncated to whole seconds, so 0.5 s becomes 1 ms | the transport measures them exactly |
/// | redirects send every header field to any origin, and lose bodies | the session follows no redirects, because the library follows them itself |
/// | a cancellation that races with the end of a cached task crashes the process | the URL cache is disabled |
/// | a cancelled `async` method blocks every session of the process | no `async` method is used |
/// | header names and methods with line breaks are sent verbatim | such requests fail |
/// | a GET with a body fails with an unrelated error | it fails with the code `unsupported` |
/// | `Proxy-Authorization` of a request is sent to the origin (on all platforms) | the request fails with the code `unsupported` |
/// | a stream of known length is sent with contradictory lengths | it is sent chunked |
/// | a body that waits for its bytes blocks every session of the process | an asynchronous sequence is first written to a file |
/// | a stored cookie replaces the `Cookie` field of the request | the field of the request is sent |
///
/// These bugs on Linux have no workaround:
///
/// | bug in `URLSession` on Linux | consequence |
/// |---|---|
/// | trailers, and a connection that ends within a response head, cause a `fatalError` of Foundation (Swift 6.3 and earlier) | use only servers that you trust |
/// | transfers can't be paused | a fast server can fill memory up to the body limit, and exceed it until a cancellation takes effect |
/// | compressed content is always decoded, and its cancellation takes effect late | memory may briefly exceed the limit |
/// | TLS can't be configured: no pinning, no client certificates, no custom authorities | requests with a ``TrustPolicy`` other than `.system` fail |
/// | `http://[::1]` is rejected, and header lines like `Name:value` or with a bare LF are errors | use host names, and servers that send the usual format |
/// | the content of a 301 to 308 without a usable `Location` is discarded | such a response has no content |
/// | the wait for a free connection counts toward the timeout | send fewer concurrent requests than there are connections |
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let headers: HTTPHeaders
    #if canImport(FoundationNetworking)
    private let cookies: FoundationCookieStorage?
    private let sendsCookies: Bool
    #endif
    #if canImport(Security)
    private let trustedSessions = TrustedSessions()
    #endif

    /// Creates a transport with a private session.
    ///
    /// The configuration is copied. The headers of a request take precedence over the additional headers of the
    /// configuration. Of the latter, only non-sensitive fields are sent after a redirect to another origin. Background
    /// configurations aren't supported, because their tasks outlive the process, and operations don't.
    public init(configuration: URLSessionConfiguration) {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        headers = configuration.headers
        configuration.httpAdditionalHeaders = nil
        #if canImport(FoundationNetworking)
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // Handle cookies here. The session ignores `httpShouldHandleCookies`, so it would replace the `Cookie` field of
        // a request with its own cookies, and store the cookies of every response.
        cookies = FoundationCookieStorage(of: configuration)
        sendsCookies = configuration.httpShouldSetCookies
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        #endif
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "Requests.URLSessionTransport"
        delegate = SessionDelegate(queue: queue)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// The optional features that the transport supports.
    public var capabilities: TransportCapabilities { .ofURLSession }

    /// Starts a transfer, as documented by ``HTTPTransport``.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        var request = request
        addHeaders(to: &request)
        #if canImport(FoundationNetworking)
        let receive = addCookies(to: &request, receive)
        if case .stream(let stream) = request.body.content, stream.isAsynchronous {
            return spool(stream, of: request, receive)
        }
        #endif
        #if canImport(Security)
        do {
            if let member = try trustedSessions.member(for: request, like: session) {
                return SessionTransfer.start(request, in: member.session, delegate: member.delegate, receive: receive)
            }
        } catch {
            receive(.end(error))
            return EndedTransfer.shared
        }
        #endif
        return SessionTransfer.start(request, in: session, delegate: delegate, receive: receive)
    }

    #if !canImport(FoundationNetworking)
    /// Returns the session that must send a request, and adds the session's header fields to the request.
    package func session(for request: inout TransportRequest) throws(RequestError) -> URLSession {
        addHeaders(to: &request)
        #if canImport(Security)
        if let member = try trustedSessions.member(for: request, like: session) { return member.session }
        #endif
        return session
    }
    #endif

    #if canImport(FoundationNetworking)
    /// Writes the body of a request to a file, and then sends the request.
    private func spool(
        _ stream: HTTPBody.Stream,
        of request: TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let timeout = request.timeout ?? session.configuredTimeout
        return SpooledTransfer.start(stream, timeout: timeout, receive: receive) { [session, delegate] content in
            var request = request
            request.body = HTTPBody(.stream(content))
            return SessionTransfer.start(request, in: session, delegate: delegate, receive: receive)
        }
    }
    #endif

    private func addHeaders(to request: inout TransportRequest) {
        guard !headers.isEmpty else { return }
        var merged = headers
        _ = merged.removeFields(leftBehindBy: request.originChange, withContent: !request.body.isEmpty)
        merged.merge(request.headers)
        request.headers = merged
    }

    #if canImport(FoundationNetworking)
    /// Adds the session's cookies to a request without cookies, and returns a receiver that stores the cookies of the
    /// response.
    private func addCookies(
        to request: inout TransportRequest,
        _ receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> @Sendable (TransferEvent) -> Void {
        guard let cookies, request.usesCookies else { return receive }
        let url = request.url
        if sendsCookies, !request.headers.contains(.cookie), let field = cookies.field(for: url) {
            request.headers.add(field)
        }
        return { event in
            if case .head(let head) = event { cookies.store(head, from: url) }
            receive(event)
        }
    }
    #endif
}

extension URLSessionTransport: CustomReflectable {
    /// A mirror that shows only the capabilities, because Foundation's session can't be read safely while it is in use.
    public var customMirror: Mirror { Mirror(self, children: ["capabilities": capabilities], displayStyle: .class) }
}

/// The private transports that replace sessions of the caller.
///
/// A session is replaced for all requests on Linux, and on other platforms for requests with custom trust requirements.
/// The private transport is created from the session's configuration at the first use, and released after the session
/// has been deallocated. The session is referenced weakly, because its address may be reused.
final class PrivateSessions: Sendable {
    private struct Entry {
        weak var session: URLSession?
        let transport: URLSessionTransport
    }

    static let shared = PrivateSessions()
    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// Returns the transport that replaces a session.
    func transport(for session: URLSession) -> URLSessionTransport {
        let id = ObjectIdentifier(session)
        if let transport = entries.withLock({ $0[id]?.session === session ? $0[id]?.transport : nil }) {
            return transport
        }
        // Create the transport outside of the lock. If two threads do so simultaneously, both use the transport that is
        // stored first.
        let fresh = URLSessionTransport(configuration: session.configuration)
        let (transport, deallocated) = entries.withLock { entries in
            let deallocated = entries.filter { $0.value.session == nil }
            for id in deallocated.keys { entries[id] = nil }
            if let known = entries[id] { return (known.transport, deallocated) }
            entries[id] = Entry(session: session, transport: fresh)
            return (fresh, deallocated)
        }
        withExtendedLifetime(deallocated) {}  // Invalidates their sessions here, outside of the lock.
        return transport
    }
}

// MARK: - HTTPTransport

/// Makes every session a transport, whether it is `URLSession.shared` or your own.
///
/// On Apple platforms, the session performs the task itself, with its cookies, its cache and its configuration. On
/// Linux, only a session's own delegate receives data. So a private session performs the tasks, with the
/// *configuration* of your session: protocol classes, headers, proxy, cookies and limits. The delegate of your session
/// isn't called, and its URL cache isn't used. On Apple platforms, the same applies to requests with a ``TrustPolicy``
/// other than `.system`, because their connections must not be shared. ``URLSessionTransport`` documents the
/// consequences.
extension URLSession: HTTPTransport {
    /// The optional features that a session supports.
    public var capabilities: TransportCapabilities { .ofURLSession }

    /// Starts a transfer, as documented by ``HTTPTransport``.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        #if canImport(FoundationNetworking)
        PrivateSessions.shared.transport(for: self).send(request, receive: receive)
        #else
        guard request.trust == .system else {
            return PrivateSessions.shared.transport(for: self).send(request, receive: receive)
        }
        return SessionTransfer.start(request, in: self, delegate: .shared, receive: receive)
        #endif
    }
}

#if !canImport(FoundationNetworking)
/// A transport that is based on `URLSession`, and can therefore create WebSocket tasks.
package protocol SessionTransport: HTTPTransport {
    /// Returns the session that must send a request, and adds the session's header fields to the request.
    func session(for request: inout TransportRequest) throws(RequestError) -> URLSession
}

extension URLSessionTransport: SessionTransport {}

extension URLSession: SessionTransport {
    package func session(for request: inout TransportRequest) throws(RequestError) -> URLSession {
        guard request.trust != .system else { return self }
        return try PrivateSessions.shared.transport(for: self).session(for: &request)
    }
}
#endif

extension HTTPTransport where Self == URLSession {
    /// The shared session, `URLSession.shared`.
    public static var shared: URLSession { URLSession.shared }
}

extension TransportCapabilities {
    #if canImport(FoundationNetworking)
    static let ofURLSession: TransportCapabilities = []
    #else
    static let ofURLSession: TransportCapabilities = [.pausing]
    #endif
}
