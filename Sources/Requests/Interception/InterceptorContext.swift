// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The facts about an operation that its interceptors can read.
public struct InterceptorContext: Sendable {
    let source: any InterceptedRun
    private let subject: Subject?

    /// Rarely used properties, boxed because contexts are copied often.
    private final class Subject: Sendable {
        let request: HTTPRequest?
        let defaultStep: DefaultStep?

        init(_ request: HTTPRequest?, _ defaultStep: DefaultStep?) {
            (self.request, self.defaultStep) = (request, defaultStep)
        }
    }

    init(_ source: any InterceptedRun, request: HTTPRequest? = nil, noting defaultStep: DefaultStep? = nil) {
        self.source = source
        subject = request == nil && defaultStep == nil ? nil : Subject(request, defaultStep)
    }

    /// Makes a context, for tests of an interceptor.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request.
    ///   - attempt: The number of the attempt; 1 is the first.
    ///   - baseURL: The URL that relative addresses are appended to; `nil` by default.
    ///   - request: The request, for ``Interceptor/retry(_:context:)`` and ``Interceptor/transform(_:context:)``.
    ///   - userInfo: The application's data about the request.
    public init(
        identifier: String,
        attempt: Int,
        baseURL: URL? = nil,
        request: HTTPRequest? = nil,
        userInfo: HTTPRequest.UserInfo = HTTPRequest.UserInfo()
    ) {
        let run = ClosureRun(identifier: identifier, attempt: attempt, baseURL: baseURL, userInfo: userInfo)
        self.init(run, request: request)
    }

    /// The identifier of the request.
    ///
    /// It may be computed at each access: for a ready-made request it is a digest of all that is sent.
    public var identifier: String { source.identifier }

    /// The number of the attempt; 1 is the first, and followed redirects don't count.
    public var attempt: Int { source.attempt }

    /// The base URL of the operation's environment; `nil` if it has none.
    ///
    /// Credentials that aren't a request's own belong to this origin, and to no other that a request may name.
    public var baseURL: URL? { source.baseURL }

    /// The request that the operation has sent; `nil` before it was sent.
    ///
    /// For a retry it is the request that would be sent again, whatever redirects it went through. For a response to be
    /// transformed, it is the one that the redirects have led to.
    public var request: HTTPRequest? { subject?.request }

    /// Records that a default implementation ran, for `urlRequest(for:)`.
    func reachDefault() { subject?.defaultStep?.reach() }

    /// The application's data about the request, typed by key.
    public var userInfo: HTTPRequest.UserInfo { source.userInfo }

    /// The refreshes that wait for the operation; it must not wait for them.
    var refreshing: Set<ObjectIdentifier> { source.scope?.refreshes ?? [] }
    /// Makes the JSON encoder for bodies without one of their own; `nil` takes a plain one.
    var makeEncoder: (@Sendable () -> JSONEncoder)? { source.makeEncoder }
    /// The values that interceptors have stored for the operation.
    var notes: InterceptorNotes { source.notes }

    /// Sends a request on behalf of the operation, and returns its response.
    ///
    /// Use it if an interceptor needs a response before it can continue: a token, a nonce, a configuration. The request
    /// runs in the operation's environment, over its transport, and outside its queue: it needs no place there, since
    /// the waiting operation holds one. The interceptor that sends it isn't applied to it. The same applies to requests
    /// that are added to a client or an `OperationQueue` meanwhile. But there, interceptors that are structures can't
    /// be identified, and have to ignore their own requests.
    ///
    /// Such requests may be nested eight deep. Cancelling the operation cancels them.
    ///
    /// - Parameter request: The request; a relative address is resolved against the operation's base URL.
    /// - Returns: The response, with an acceptable status.
    /// - Throws: The failure of the request, a ``RequestError``; of code `nestingLimitReached` if it is nested too
    ///   deep.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await source.exchange(request)
    }

    /// Sends a request that outlives the operation, one at a time for a resource.
    ///
    /// Use it for work beyond this one request: to validate a stored answer while a stale one is used, or to prefetch a
    /// configuration. It runs as with ``send(_:)``, but the operation doesn't wait for it, and cancelling the operation
    /// doesn't cancel it. It ends with the client of the operation, and all clients derived from that.
    ///
    /// - Parameters:
    ///   - request: The request; a relative address is resolved against the operation's base URL.
    ///   - completion: Called once with the outcome, on no particular thread; not called if the method returns `false`.
    /// - Returns: `false`, without sending the request, while a request of the same interceptor with the same method
    ///   and address is running, or if the client was deallocated.
    @discardableResult
    public func detached(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void = { _ in }
    ) -> Bool {
        source.detach(request, completion: completion)
    }

    /// Reports to monitors that the operation waits for a credential, or has stopped waiting.
    func report(_ report: AuthenticationReport) { source.report(report) }
}

extension InterceptorContext: CustomStringConvertible, CustomReflectable {
    /// The number of the attempt, and the request if there is one, without secrets.
    public var description: String { "attempt \(attempt)\(request.map { ": \($0)" } ?? "")" }

    /// A mirror of the description.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The run behind an interceptor's context and its `next`: one of the engine's, or a closure.
///
/// It is a protocol, since the engine is above the interceptors: it uses them, and not the other way round.
protocol InterceptedRun: Sendable {
    var identifier: String { get }
    var attempt: Int { get }
    var baseURL: URL? { get }
    var userInfo: HTTPRequest.UserInfo { get }
    /// The work on whose behalf the operation runs; `nil` if it runs on its own.
    var scope: RunScope? { get }
    var makeEncoder: (@Sendable () -> JSONEncoder)? { get }
    var notes: InterceptorNotes { get }
    /// The priority of the operation, for limiters.
    var urgency: Int { get }
    /// The maximum time without data for requests without one of their own; `nil` lets the transport decide.
    var timeout: Duration? { get }
    /// The route to the proxy of the operation's transport; `nil` if credentials can't be sent to one.
    var proxyRoute: ProxyRoute? { get }

    /// Sends a request from a position of the chain.
    func send(_ request: HTTPRequest, from next: Next) async throws -> Answer
    func report(_ report: AuthenticationReport)
    /// Records that a request was answered without a transfer.
    func recordAnswer(to request: HTTPRequest)
    /// Sends a request on behalf of the operation.
    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data>
    /// Sends a request that outlives the operation.
    func detach(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void
    ) -> Bool
    /// Continues at a position of the chain in a run of its own, which outlives the operation and keeps its options.
    ///
    /// - Parameters:
    ///   - name: The name of the work; it is done once at a time.
    ///   - request: The request of the work.
    ///   - next: The position in the chain.
    ///   - work: The work; it sends with its argument.
    func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> Answer
    )
    /// Lets an interceptor adapt a request once more, whose challenge it has answered.
    func adapt(
        _ request: HTTPRequest,
        again interceptor: any Interceptor,
        at position: Int
    ) async throws -> HTTPRequest
}

/// The route to a proxy: the transport that connects to it.
///
/// Two transports may have two proxies, and must not share credentials. The route ends with its transport: a later one
/// at the same memory address is different.
struct ProxyRoute: Sendable, Hashable {
    private weak var transport: (any AnyObject & Sendable)?
    private let identity: ObjectIdentifier

    /// Makes the route over a transport that can send credentials to a proxy.
    init(over transport: any AnyObject & Sendable) {
        self.transport = transport
        identity = ObjectIdentifier(transport)
    }

    static func == (lhs: ProxyRoute, rhs: ProxyRoute) -> Bool {
        lhs.identity == rhs.identity && lhs.transport != nil && rhs.transport != nil
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// A run without an operation, whose chain is a closure: that of a test, or one that another run carries out.
final class ClosureRun: InterceptedRun {
    let identifier: String
    let attempt: Int
    let baseURL: URL?
    let userInfo: HTTPRequest.UserInfo
    let notes = InterceptorNotes()
    private let send: @Sendable (HTTPRequest, Next) async throws -> Answer

    init(
        identifier: String = "",
        attempt: Int = 1,
        baseURL: URL? = nil,
        userInfo: HTTPRequest.UserInfo = HTTPRequest.UserInfo(),
        send: @escaping @Sendable (HTTPRequest, Next) async throws -> Answer = { _, _ in
            throw RequestError(.unsupported, phase: .building, reason: "the context of a test sends nothing")
        }
    ) {
        (self.identifier, self.attempt, self.baseURL, self.userInfo) = (identifier, attempt, baseURL, userInfo)
        self.send = send
    }

    var scope: RunScope? { nil }
    var makeEncoder: (@Sendable () -> JSONEncoder)? { nil }
    var urgency: Int { 0 }
    var timeout: Duration? { nil }
    var proxyRoute: ProxyRoute? { nil }

    func send(_ request: HTTPRequest, from next: Next) async throws -> Answer {
        try await send(request, next)
    }

    func exchange(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await send(request, Next(self, because: .initial)).map { $0.data ?? Data() }
    }

    func report(_ report: AuthenticationReport) {}
    func recordAnswer(to request: HTTPRequest) {}

    func detach(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void
    ) -> Bool { false }

    func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> Answer
    ) {}

    func adapt(
        _ request: HTTPRequest,
        again interceptor: any Interceptor,
        at position: Int
    ) async throws -> HTTPRequest {
        var adapted = request
        try await interceptor.adapt(&adapted, context: InterceptorContext(self, request: request))
        return adapted
    }
}

/// The values that interceptors store for one operation, from one of its attempts to the next.
///
/// An interceptor serves many operations, and isn't notified of their end; values in the interceptor itself would never
/// be released.
final class InterceptorNotes: Sendable {
    private let notes = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// The value that an interceptor has stored, if any.
    func note<Note: Sendable>(of author: ObjectIdentifier, as type: Note.Type = Note.self) -> Note? {
        notes.withLock { $0[author] } as? Note
    }

    /// Stores a value, which replaces a former one.
    ///
    /// No two threads write for one author: the attempts of an operation come one after the other.
    func write(_ note: some Sendable, of author: ObjectIdentifier) {
        notes.withLock { $0[author] = note }
    }
}

/// A change in an interceptor's wait for a credential.
enum AuthenticationReport: Sendable {
    /// The operation begins to wait.
    case started(Authorization.Step)
    /// It has stopped waiting; without a start, it didn't have to wait.
    case ended(isGranted: Bool)
}
