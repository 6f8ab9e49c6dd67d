// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TransferRecord {
    /// The metrics of one transfer: the end of each phase, and the byte counts in both directions.
    ///
    /// ```swift
    /// if let metrics = operation.metrics, let wait = metrics.duration(of: .wait) {
    ///     print("the server thought for \(wait)")
    /// }
    /// ```
    ///
    /// The times of `start`, `responseStart` and `end` are measured by the library, on every platform; a response
    /// without content has its first byte and its end at about the same time. The others are measured by the transport.
    /// Libcurl and, on Apple platforms, a `URLSession` provide them, except for phases that didn't happen, such as
    /// `connectEnd` on a kept connection, and addresses that aren't known. A `URLSession` on Linux provides none of
    /// them.
    public struct Metrics: Sendable, Hashable {
        /// The time at which the transfer was passed to the transport.
        public var start: Date
        /// The time at which the transport began to work on it, after a wait for its turn; since the start, like all
        /// following times.
        public var fetchStart: Duration?
        /// The time at which the name of the host was resolved.
        public var domainLookupEnd: Duration?
        /// The time at which the connection was made.
        public var connectEnd: Duration?
        /// The time at which the connection was encrypted.
        public var secureConnectionEnd: Duration?
        /// The time at which the request was sent, as far as the client knows.
        public var requestEnd: Duration?
        /// The time at which the response began.
        public var responseStart: Duration?
        /// The time at which the transfer ended.
        public var end: Duration?

        /// Whether the connection had served another transfer before; `nil` if the transport doesn't report it.
        public var isReusedConnection: Bool?
        /// The protocol by its ALPN name, such as `http/1.1` and `h2`; `nil` if the transport doesn't report it.
        public var networkProtocol: String?
        /// The address of the other end of the connection, that of a proxy if there is one; `nil`, like all following
        /// values, if the transport doesn't report it.
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
        /// libcurl before 8.7 reports only a tunnel.
        public var isProxyConnection: Bool?

        /// The byte count of the request's head; `nil`, like the other three, if the transport doesn't report it.
        public var requestHeadSize: Int64?
        /// The byte count of the sent content.
        public var requestBodySize: Int64?
        /// The byte count of the response's head, including earlier heads.
        public var responseHeadSize: Int64?
        /// The byte count of the received content, before decoding.
        public var responseBodySize: Int64?

        /// Makes the metrics of a transfer that begins.
        public init(start: Date = Date()) {
            self.start = start
        }
    }
}

extension TransferRecord.Metrics {
    /// A phase of a transfer, named after the awaited event.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The transport's turn.
        case queue
        /// The name of the host.
        case domainLookup
        /// The connection, that of a proxy included.
        case connect
        /// The handshake of TLS.
        case secureConnection
        /// The request to be sent.
        case request
        /// The response to begin.
        case wait
        /// The response to end.
        case response
    }

    /// The period of a phase, since the start; `nil` for one that didn't happen, or isn't known.
    ///
    /// A phase begins at the end of the last known phase before it.
    public subscript(phase: Phase) -> Range<Duration>? {
        let index = Phase.allCases.firstIndex(of: phase) ?? 0
        let ends = ends
        guard let end = ends[index] else { return nil }
        let begin = ends[..<index].lazy.compactMap { $0 }.last ?? .zero
        return min(begin, end)..<end
    }

    /// The duration of a phase; `nil` for one that didn't happen, or isn't known.
    public func duration(of phase: Phase) -> Duration? {
        self[phase].map { $0.upperBound - $0.lowerBound }
    }

    /// The duration of the transfer; `nil` before its end.
    public var duration: Duration? { end }

    /// The end of each phase, in the order of the phases.
    private var ends: [Duration?] {
        [fetchStart, domainLookupEnd, connectEnd, secureConnectionEnd, requestEnd, responseStart, end]
    }
}

extension TransferRecord.Metrics: CustomStringConvertible {
    /// The phases with their durations, in a line.
    public var description: String {
        let phases = Phase.allCases.compactMap { phase in
            duration(of: phase).map { "\(phase.rawValue) \($0 / .milliseconds(1)) ms" }
        }
        return phases.joined(separator: ", ")
    }
}

extension HTTPRequest {
    /// The names of the fields that stayed behind at another origin, for people; `nil` if there are none.
    var withheldText: String? {
        guard !fields.notes.withheldHeaders.isEmpty else { return nil }
        return "not sent to this origin: "
            + fields.notes.withheldHeaders.map { $0.rawValue.shortened() }.joined(separator: ", ")
    }
}

extension Authorization {
    /// A step of authentication that an operation waits for.
    public enum Step: Sendable, Hashable {
        /// The answer to the challenge of a server, for which a user may be asked.
        case challenge(Authorization.Challenge)
        /// The refresh of a credential, or the work of a recovery: its own, or one that others need too.
        case refresh
    }
}

extension Authorization.Step: CustomStringConvertible {
    /// The step in a few words, such as `challenge Basic`.
    public var description: String {
        switch self {
        case .challenge(let challenge): "challenge \(challenge.scheme.shortened(to: 32))"
        case .refresh: "refresh"
        }
    }
}
