// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What one attempt took: when each phase ended, and how many bytes went each way.
///
/// ```swift
/// if let metrics = operation.metrics, let wait = metrics.duration(of: .wait) {
///     print("the server thought for \(wait)")
/// }
/// ```
///
/// The times of `start`, `firstByte` and `end` are the library's own and there on every platform; a response without
/// content has its first byte and its end at about the same time. The others are the transport's: over libcurl and, on
/// Apple platforms, a `URLSession` they are there, but for phases that didn't happen, such as `connected` on a
/// connection that was kept, and the addresses of a connection. A `URLSession` on Linux has none of them.
public struct Metrics: Sendable, Hashable {
    /// When the attempt was handed to the transport.
    public var start: Date
    /// When the transport began to work on it, which before that waited for its turn; since the start, as all that
    /// follows.
    public var dispatched: Duration?
    /// When the name of the host had been resolved.
    public var nameResolved: Duration?
    /// When the connection was there.
    public var connected: Duration?
    /// When the connection was encrypted.
    public var secured: Duration?
    /// When the request had been sent, as far as this side knows.
    public var sent: Duration?
    /// When the response began.
    public var firstByte: Duration?
    /// When it was over.
    public var end: Duration?

    /// Whether the connection had served another attempt before; nil where the transport doesn't tell.
    public var isReusedConnection: Bool?
    /// The protocol by its ALPN name, such as `http/1.1` and `h2`; nil where the transport doesn't tell.
    public var networkProtocol: String?
    /// The address of the other end of the connection, that of a proxy if there is one; `nil` if the transport doesn't
    /// tell, as of all that follow.
    public var remoteAddress: String?
    /// The port of the other end.
    public var remotePort: Int?
    /// The address of this end of the connection.
    public var localAddress: String?
    /// The port of this end.
    public var localPort: Int?
    /// The version of TLS, such as `TLSv1.3`; `nil` also without TLS.
    public var tlsVersion: String?
    /// The cipher suite of TLS by its registered name, such as `TLS_AES_256_GCM_SHA384`; `nil` also without TLS.
    public var tlsCipherSuite: String?
    /// Whether the connection goes to a proxy.
    ///
    /// libcurl before 8.7 tells only of a tunnel.
    public var isProxyConnection: Bool?

    /// How many bytes the head of the request had; nil, like the other three, where the transport doesn't tell.
    public var requestHeadSize: Int64?
    /// How many bytes of content were sent.
    public var requestBodySize: Int64?
    /// How many bytes the head of the response had, those before it included.
    public var responseHeadSize: Int64?
    /// How many bytes of content came, before decoding.
    public var responseBodySize: Int64?

    /// Makes metrics of an attempt that begins.
    public init(start: Date = Date()) {
        self.start = start
    }
}

extension Metrics {
    /// A phase of an attempt, named by what it waits for.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The transport's turn.
        case queue
        /// The name of the host.
        case nameLookup
        /// The connection, that of a proxy included.
        case connect
        /// The handshake of TLS.
        case secureConnect
        /// The request to be sent.
        case request
        /// The response to begin.
        case wait
        /// The response to end.
        case response
    }

    /// From when to when a phase was, since the start; nil for one that didn't happen, or isn't known of.
    ///
    /// A phase begins where the last one before it that is known ended.
    public subscript(phase: Phase) -> Range<Duration>? {
        let index = Phase.allCases.firstIndex(of: phase) ?? 0
        let ends = ends
        guard let end = ends[index] else { return nil }
        let begin = ends[..<index].lazy.compactMap { $0 }.last ?? .zero
        return min(begin, end)..<end
    }

    /// How long a phase took; nil for one that didn't happen, or isn't known of.
    public func duration(of phase: Phase) -> Duration? {
        self[phase].map { $0.upperBound - $0.lowerBound }
    }

    /// How long the attempt took; nil as long as it isn't over.
    public var duration: Duration? { end }

    /// The end of each phase, in the order of the phases.
    private var ends: [Duration?] {
        [dispatched, nameResolved, connected, secured, sent, firstByte, end]
    }
}

extension Metrics: CustomStringConvertible {
    /// The phases and how long each took, in a line.
    public var description: String {
        let phases = Phase.allCases.compactMap { phase in
            duration(of: phase).map { "\(phase.rawValue) \($0 / .milliseconds(1)) ms" }
        }
        return phases.joined(separator: ", ")
    }
}

/// One request that went to the transport on behalf of an operation, and what came of it.
///
/// An operation has one for its first try, one for every redirect that it follows, one for every retry, and one for every
/// further request that an interceptor sends by ``Next``.
public struct Attempt: Sendable {
    /// Why the attempt was made.
    public enum Cause: Sendable, Hashable {
        /// It is the first.
        case initial
        /// The one before was redirected here.
        case redirect
        /// The one before failed.
        case retry
        /// A redirect led to a challenge, which is answered without another attempt of the operation.
        case answer
    }

    /// Why the attempt was made.
    public let cause: Cause
    /// What was sent.
    public let request: HTTPRequest
    /// The head of what came back, if anything did.
    public internal(set) var response: HTTPResponseHead?
    /// Why the transfer failed, if it did.
    public internal(set) var error: RequestError?
    /// What the attempt took; nil where it was made up rather than sent.
    public internal(set) var metrics: Metrics?
    /// The content that came, as far as it is in memory; only monitors get it, and `nil` stands for it elsewhere.
    public internal(set) var content: Data?

    /// Makes the record of an attempt.
    public init(
        cause: Cause,
        request: HTTPRequest,
        response: HTTPResponseHead? = nil,
        error: RequestError? = nil,
        metrics: Metrics? = nil
    ) {
        self.cause = cause
        self.request = request
        self.response = response
        self.error = error
        self.metrics = metrics
    }

    /// Notes the end, and when it was, where the transport hasn't said.
    mutating func end(_ error: RequestError?, after duration: Duration) {
        self.error = error
        if metrics?.end == nil { metrics?.end = duration }
    }
}

/// What has made an attempt, and can tell its outcome.
protocol AttemptRecorder: AnyObject, Sendable {
    var attempt: Attempt { get }
}

/// The attempts behind a response: values, or what can make one when it is asked.
///
/// An attempt is large, and is seldom asked for.
struct AttemptHistory: Sendable {
    private let values: [Attempt]
    private let recorder: (any AttemptRecorder)?

    init(_ attempts: [Attempt] = []) {
        values = attempts
        recorder = nil
    }

    init(_ recorder: any AttemptRecorder) {
        values = []
        self.recorder = recorder
    }

    var isEmpty: Bool { recorder == nil && values.isEmpty }
    var attempts: [Attempt] { recorder.map { [$0.attempt] } ?? values }
    var last: Attempt? { recorder?.attempt ?? values.last }
}

extension Attempt: CustomStringConvertible {
    /// What was sent and what came of it, in a line without secrets.
    public var description: String {
        let outcome = error.map { $0.summary } ?? response.map { "\($0.status)" } ?? "no answer"
        return "\(cause): \(request), \(outcome)"
    }
}

/// What an operation waits for, that it may go on as somebody whom the server knows.
public enum AuthenticationStep: Sendable, Hashable {
    /// The answer to the challenge of a server, for which a user may be asked.
    case challenge(AuthenticationChallenge)
    /// The refresh of a credential, or what a recovery does: its own, or one that others need too.
    case refresh
}

extension AuthenticationStep: CustomStringConvertible {
    /// The step in a few words, such as `challenge Basic`.
    public var description: String {
        switch self {
        case .challenge(let challenge): "challenge \(challenge.scheme.shortened(to: 32))"
        case .refresh: "refresh"
        }
    }
}
