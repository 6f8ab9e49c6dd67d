// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What an interceptor knows about the operation that it works for.
public struct InterceptorContext: Sendable {
    let source: any ContextSource
    private let asked: Box<HTTPRequest>?

    init(_ source: any ContextSource, request: HTTPRequest? = nil) {
        self.source = source
        asked = request.map(Box.init)
    }

    /// Makes a context, for tests of an interceptor.
    ///
    /// - Parameters:
    ///   - identifier: The identifier of the request.
    ///   - attempt: The number of the attempt; 1 is the first.
    ///   - baseURL: What relative addresses are appended to; nil by default.
    ///   - request: The request, for ``Interceptor/retry(_:context:)`` and ``Interceptor/transform(_:context:)``.
    ///   - userInfo: What the application says about the request.
    public init(
        identifier: String,
        attempt: Int,
        baseURL: URL? = nil,
        request: HTTPRequest? = nil,
        userInfo: UserInfo = UserInfo()
    ) {
        let source = TestContext(identifier: identifier, attempt: attempt, baseURL: baseURL, userInfo: userInfo)
        self.init(source, request: request)
    }

    /// The identifier of the request.
    ///
    /// It may be computed at each access: for a ready-made request it is a digest of all that is sent.
    public var identifier: String { source.identifier }

    /// The number of the attempt; 1 is the first, and redirects that are followed don't count.
    public var attempt: Int { source.attempt }

    /// The base URL of the operation's environment; nil if it has none.
    ///
    /// Credentials that aren't a request's own belong to this origin, and to no other that a request may name.
    public var baseURL: URL? { source.baseURL }

    /// The request that the operation has sent; nil before it was sent.
    ///
    /// For a retry it is what would be sent again, whatever redirects have led to: what is decided, is decided about
    /// this request. For a response to be transformed, it is the one that the redirects have led to.
    public var request: HTTPRequest? { asked?.value }

    /// What the application says about the request, typed by key.
    public var userInfo: UserInfo { source.userInfo }

    /// The refreshes that wait for the operation, which must not wait for them.
    var refreshing: Set<ObjectIdentifier> { source.scope?.refreshes ?? [] }
    /// Makes the encoder of JSON for bodies that bring none; nil takes a plain one.
    var makeEncoder: (@Sendable () -> JSONEncoder)? { source.makeEncoder }
    /// What interceptors remember about the operation.
    var notes: InterceptorNotes { source.notes }

    /// Sends a request on behalf of the operation, and returns its response.
    ///
    /// For what an interceptor has to ask a server for before it can go on: a token, a nonce, a configuration. The request
    /// runs in the operation's environment, over its transport, and beside its queue: it waits for no place there, since
    /// the operation that waits for it holds one. The interceptor that sends it isn't applied to it. Requests that are
    /// added to a client or an `OperationQueue` meanwhile are treated likewise, but that an interceptor that is a structure
    /// can't be told from another there, and has to leave its own requests alone.
    ///
    /// Work of this kind may be nested eight deep. Cancelling the operation cancels it.
    ///
    /// - Parameter request: The request; a relative address is resolved against the operation's base URL.
    /// - Returns: The response, with an acceptable status.
    /// - Throws: The failure of the request, a ``RequestError``; of code `nestingLimitReached` if it is nested too deep.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        try await source.send(request)
    }

    /// Sends a request that outlives the operation, one at a time for a resource.
    ///
    /// For what is useful beyond this one request: a stored answer that is validated while a stale one is used, a
    /// configuration that is read ahead. It runs as with ``send(_:)``, but the operation doesn't wait for it, and
    /// cancelling the operation doesn't cancel it. It ends with the client that the operation belongs to, and all
    /// clients derived from that.
    ///
    /// - Parameters:
    ///   - request: The request; a relative address is resolved against the operation's base URL.
    ///   - completion: Called with the outcome, once, on no thread in particular; not if false is returned.
    /// - Returns: False, and nothing is sent, while a request of the same interceptor with the same method and address
    ///   is under way, or if the client is gone.
    @discardableResult
    public func detached(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void = { _ in }
    ) -> Bool {
        source.detach(request, completion: completion)
    }

    /// Reports to monitors that the operation waits for a credential, or no longer.
    func report(_ report: AuthenticationReport) { source.report(report) }
}

extension InterceptorContext: CustomStringConvertible, CustomReflectable {
    /// The number of the attempt, and the request where there is one, without secrets.
    public var description: String { "attempt \(attempt)\(request.map { ": \($0)" } ?? "")" }

    /// A mirror of what the description says.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// The operation behind a context.
protocol ContextSource: AnyObject, Sendable {
    var identifier: String { get }
    var attempt: Int { get }
    var baseURL: URL? { get }
    var userInfo: UserInfo { get }
    /// What the operation is made on behalf of; nil if it isn't.
    var scope: CallScope? { get }
    var makeEncoder: (@Sendable () -> JSONEncoder)? { get }
    var notes: InterceptorNotes { get }
    /// The urgency of the operation, for those that let one go before another.
    var urgency: Int { get }
    /// How long a transfer may stay silent, where its request doesn't say; nil leaves it to the transport.
    var timeout: Duration? { get }
    /// The way to the proxy of the operation's transport; `nil` if credentials can't be brought to one.
    var proxyRoute: ProxyRoute? { get }

    func report(_ report: AuthenticationReport)
    /// Records that a response without a transfer answers a request.
    func recordAnswer(to request: HTTPRequest)
    /// Sends a request on behalf of the operation.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data>
    /// Sends a request that outlives the operation.
    func detach(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void
    ) -> Bool
    /// Carries on from a place of the chain in a call of its own, which outlives the operation and keeps its options.
    ///
    /// - Parameters:
    ///   - name: What is worked on; one such call runs at a time.
    ///   - request: The request that it is for.
    ///   - next: The place in the chain.
    ///   - work: What the call does; it sends with its argument.
    func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> HTTPResponse<ResponseContent>
    )
    /// Lets an interceptor adapt a request once more, which it has answered a challenge for.
    func adapt(
        _ request: HTTPRequest,
        again interceptor: any Interceptor,
        at position: Int
    ) async throws -> HTTPRequest
}

/// The way to a proxy: the transport that talks to it.
///
/// Two transports may have two proxies, so that what one of them was answered with is no business of the other. The way
/// ends with its transport: a later one at the same place in memory is another.
struct ProxyRoute: Sendable, Hashable {
    private weak var transport: (any AnyObject & Sendable)?
    private let identity: ObjectIdentifier

    /// Makes the way over a transport that can bring credentials to a proxy.
    init(over transport: any AnyObject & Sendable) {
        self.transport = transport
        identity = ObjectIdentifier(transport)
    }

    static func == (lhs: ProxyRoute, rhs: ProxyRoute) -> Bool {
        lhs.identity == rhs.identity && lhs.transport != nil && rhs.transport != nil
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// The context of a test, behind which there is no operation.
private final class TestContext: ContextSource {
    let identifier: String
    let attempt: Int
    let baseURL: URL?
    let userInfo: UserInfo
    let notes = InterceptorNotes()

    init(identifier: String, attempt: Int, baseURL: URL?, userInfo: UserInfo) {
        self.identifier = identifier
        self.attempt = attempt
        self.baseURL = baseURL
        self.userInfo = userInfo
    }

    var scope: CallScope? { nil }
    var makeEncoder: (@Sendable () -> JSONEncoder)? { nil }
    var urgency: Int { 0 }
    var timeout: Duration? { nil }
    var proxyRoute: ProxyRoute? { nil }

    func report(_ report: AuthenticationReport) {}
    func recordAnswer(to request: HTTPRequest) {}

    func send(_ request: HTTPRequest) async throws -> HTTPResponse<Data> {
        throw RequestError(.unsupported, phase: .building, reason: "the context of a test sends nothing")
    }

    func detach(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (Result<HTTPResponse<Data>, RequestError>) -> Void
    ) -> Bool { false }

    func detach(
        _ name: String,
        _ request: HTTPRequest,
        through next: Next,
        _ work: @escaping @Sendable (Next) async throws -> HTTPResponse<ResponseContent>
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

/// What interceptors remember about one operation, from one of its attempts to the next.
///
/// An interceptor serves many operations, and never learns that one has ended; what it kept of them itself would stay.
final class InterceptorNotes: Sendable {
    private let notes = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// What an interceptor has noted, if it has.
    func note<Note: Sendable>(of author: ObjectIdentifier, as type: Note.Type = Note.self) -> Note? {
        notes.withLock { $0[author] } as? Note
    }

    /// Notes something in the place of what was noted before.
    ///
    /// No two threads write for one author: the attempts of an operation come one after the other.
    func write(_ note: some Sendable, of author: ObjectIdentifier) {
        notes.withLock { $0[author] = note }
    }
}

/// What an interceptor tells of its waiting.
enum AuthenticationReport: Sendable {
    /// The operation waits from now on.
    case started(AuthenticationStep)
    /// It waits no longer; without a start, it didn't have to.
    case ended(isGranted: Bool)
}
