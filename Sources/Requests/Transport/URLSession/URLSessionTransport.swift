// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A transport over a session of its own, made from a configuration.
///
/// Use it for a configuration of your own if a `URLSession` with a delegate isn't needed. The session exists as long as
/// the transport; when the transport is deallocated, running transfers still complete. On Apple platforms, requests
/// with a ``TrustPolicy`` but `.system` have sessions of their own with the same configuration, one for each origin,
/// without its URL cache.
///
/// On Linux the session is set up to avoid the faults of `URLSession` there, as far as that is possible from outside:
///
/// | what `URLSession` does on Linux | what happens here |
/// |---|---|
/// | a 401 with a Basic challenge and no credential never completes | it is a response like any other |
/// | timeouts are cut to whole seconds, so that 0.5 s becomes 1 ms | exact, measured by the transport |
/// | redirects carry every header anywhere, and lose bodies | none is followed here: the pipeline follows them |
/// | a cancel that races with the end of a cached task ends the process | there is no URL cache |
/// | an `async` method that is cancelled blocks every session of the process | none is used |
/// | header names and methods with line breaks are sent as they are | such requests are refused |
/// | a GET with a body fails with an unrelated error | an error of code `unsupported` |
/// | `Proxy-Authorization` of a request goes to the origin, here as everywhere | an error of code `unsupported` |
/// | a stream of known length is sent with two contradicting lengths | it is sent in chunks |
/// | a body that waits for its bytes stalls every session of the process | an asynchronous sequence is first written to a file |
/// | a stored cookie takes the place of the request's own `Cookie` field | the request's own is sent |
///
/// These faults on Linux can't be avoided from outside:
///
/// | fault | consequence |
/// |---|---|
/// | trailers, or an end in the middle of a response head, are a `fatalError` of Foundation (Swift 6.3 and older) | talk to servers that you trust |
/// | a transfer can't be paused | a fast peer fills memory up to the limit of the body, and past it while a cancel takes effect |
/// | compressed content is always decoded, and a cancel of it comes late | memory may exceed the limit for a moment |
/// | no control over TLS: no pinning, no client certificate, no own certificate authority | a ``TrustPolicy`` but `.system` is refused |
/// | `http://[::1]` is refused, and LF-only or `Name:value` header lines are errors | use names, and servers that keep to the form |
/// | the content of a 301 to 308 without a usable `Location` is dropped | such a response comes without content |
/// | the wait for a free connection counts towards the timeout | keep fewer requests in flight than connections |
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let headers: HTTPHeaders
    #if canImport(FoundationNetworking)
    private let cookies: FoundationCookieStorage?
    private let sendsCookies: Bool
    #endif
    #if canImport(Security)
    private let trusted = TrustedSessions()
    #endif

    /// Makes a transport with a session of its own.
    ///
    /// The configuration is copied. A request's headers take precedence over its additional headers, and of these, only
    /// fields that are harmless there follow a redirect to another origin. A background configuration isn't supported:
    /// its tasks outlive the process, and operations don't.
    public init(configuration: URLSessionConfiguration) {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        headers = configuration.headers
        configuration.httpAdditionalHeaders = nil
        #if canImport(FoundationNetworking)
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // The session would replace a `Cookie` field of the request by its own cookies, and store those of any
        // response: it ignores `httpShouldHandleCookies`.
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

    /// The features that the transport supports.
    public var capabilities: TransportCapabilities { .ofURLSession }

    /// Starts a transfer, as ``HTTPTransport`` says.
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
            if let member = try trusted.member(for: request, like: session) {
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
    /// Returns the session of a request, with the headers and the trust that apply to it.
    package func session(for request: inout TransportRequest) throws(RequestError) -> URLSession {
        addHeaders(to: &request)
        #if canImport(Security)
        if let member = try trusted.member(for: request, like: session) { return member.session }
        #endif
        return session
    }
    #endif

    #if canImport(FoundationNetworking)
    /// Sends a request whose content is written to a file first.
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
    /// Adds the cookies of the session to a request without any, and returns the storage for those of its response.
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
    /// A mirror of the capabilities, for `dump`.
    ///
    /// Foundation's session can't be read while it works.
    public var customMirror: Mirror { Mirror(self, children: ["capabilities": capabilities], displayStyle: .class) }
}

/// The private sessions that run the tasks of injected ones: all of them on Linux, and on other platforms those whose
/// trust isn't just the system's.
///
/// There is one for each injected session, made from its configuration at its first use, and released with it. The
/// injected session is referenced weakly: its address alone may be reused.
final class PrivateSessions: Sendable {
    private struct Entry {
        weak var session: URLSession?
        let transport: URLSessionTransport
    }

    static let shared = PrivateSessions()
    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    /// The transport that replaces a session.
    func transport(for session: URLSession) -> URLSessionTransport {
        let id = ObjectIdentifier(session)
        if let transport = entries.withLock({ $0[id]?.session === session ? $0[id]?.transport : nil }) {
            return transport
        }
        // Made outside the lock; if two threads come at once, the first to store wins.
        let fresh = URLSessionTransport(configuration: session.configuration)
        let (transport, gone) = entries.withLock { entries in
            let gone = entries.filter { $0.value.session == nil }
            for id in gone.keys { entries[id] = nil }
            if let known = entries[id] { return (known.transport, gone) }
            entries[id] = Entry(session: session, transport: fresh)
            return (fresh, gone)
        }
        withExtendedLifetime(gone) {}  // Their sessions are invalidated here, outside the lock.
        return transport
    }
}

// MARK: - HTTPTransport

/// Any session is a transport: one of your own, with its configuration, or `URLSession.shared`.
///
/// On Apple platforms the session runs the task itself, and its cookies, its cache and its configuration stay in force.
/// On Linux only a session's own delegate sees data. A private session therefore runs the tasks, with the session's
/// *configuration*: protocol classes, headers, proxy, cookies, limits. The session's own delegate isn't called, and its
/// URL cache isn't used. The same applies on Apple platforms to a request with a ``TrustPolicy`` but `.system`, whose
/// connections must not be shared. ``URLSessionTransport`` lists the consequences.
extension URLSession: HTTPTransport {
    /// The features that a session supports.
    public var capabilities: TransportCapabilities { .ofURLSession }

    /// Starts a transfer, as ``HTTPTransport`` says.
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
/// A transport over sessions, for the tasks of WebSockets.
package protocol SessionTransport: HTTPTransport {
    /// Returns the session of a request, with the headers and the trust that apply to it.
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
    /// `URLSession.shared`.
    public static var shared: URLSession { URLSession.shared }
}

extension TransportCapabilities {
    #if canImport(FoundationNetworking)
    static let ofURLSession: TransportCapabilities = []
    #else
    static let ofURLSession: TransportCapabilities = [.pausing]
    #endif
}
