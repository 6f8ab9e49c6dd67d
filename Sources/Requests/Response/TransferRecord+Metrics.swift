// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension TransferRecord {
    /// The metrics of one transfer, with the end of each phase and the byte counts in both directions.
    ///
    /// ```swift
    /// if let metrics = operation.metrics, let wait = metrics.duration(of: .wait) {
    ///     print("the server thought for \(wait)")
    /// }
    /// ```
    ///
    /// The library measures `start`, `responseStart` and `end` on every platform. For a response without content,
    /// `responseStart` and `end` are about the same. The transport measures the other times. Libcurl and, on Apple
    /// platforms, `URLSession` provide them, except for phases that didn't happen, such as `connectEnd` on a reused
    /// connection, and addresses that aren't known. `URLSession` on Linux provides none of them.
    public struct Metrics: Sendable, Hashable {
        /// The time at which the transfer was passed to the transport.
        public var start: Date
        /// The time at which the transport started the transfer, which may first have waited in the transport's queue.
        ///
        /// The time is relative to `start`, like all following times.
        public var fetchStart: Duration?
        /// The time at which the host name was resolved.
        public var domainLookupEnd: Duration?
        /// The time at which the connection was established.
        public var connectEnd: Duration?
        /// The time at which the TLS handshake was complete.
        public var secureConnectionEnd: Duration?
        /// The time at which the request was sent, according to the client.
        public var requestEnd: Duration?
        /// The time at which the response started.
        public var responseStart: Duration?
        /// The time at which the transfer ended.
        public var end: Duration?

        /// Whether the connection had been used for an earlier transfer; `nil` if the transport doesn't report it.
        public var isReusedConnection: Bool?
        /// The protocol by its ALPN name, such as `http/1.1` or `h2`; `nil` if the transport doesn't report it.
        public var networkProtocol: String?
        /// The IP address of the server, or of the proxy if there is one.
        ///
        /// The address and all following values are `nil` if the transport doesn't report them.
        public var remoteAddress: String?
        /// The port of the server or proxy.
        public var remotePort: Int?
        /// The local IP address of the connection.
        public var localAddress: String?
        /// The local port of the connection.
        public var localPort: Int?
        /// The TLS version, such as `TLSv1.3`; `nil` without TLS.
        public var tlsVersion: String?
        /// The TLS cipher suite by its registered name, such as `TLS_AES_256_GCM_SHA384`; `nil` without TLS.
        public var tlsCipherSuite: String?
        /// Whether the connection goes through a proxy.
        ///
        /// Before version 8.7, libcurl reports this only for tunnels.
        public var isProxyConnection: Bool?

        /// The size of the request head in bytes.
        ///
        /// All four sizes are `nil` if the transport doesn't report them.
        public var requestHeadSize: Int64?
        /// The number of content bytes sent.
        public var requestBodySize: Int64?
        /// The size of the response head in bytes, including earlier heads, such as those of interim responses.
        public var responseHeadSize: Int64?
        /// The number of content bytes received, before decoding.
        public var responseBodySize: Int64?

        /// Creates the metrics of a transfer that is about to start.
        public init(start: Date = Date()) {
            self.start = start
        }
    }
}

extension TransferRecord.Metrics {
    /// A phase of a transfer.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Waiting for the transport to start the transfer.
        case queue
        /// Resolving the host name.
        case domainLookup
        /// Connecting to the server, including a proxy.
        case connect
        /// The TLS handshake.
        case secureConnection
        /// Sending the request.
        case request
        /// Waiting for the first byte of the response.
        case wait
        /// Receiving the response.
        case response
    }

    /// The start and end of a phase, relative to the start of the transfer; `nil` if the phase didn't happen or isn't
    /// known.
    ///
    /// A phase starts at the end of the last known phase before it.
    public subscript(phase: Phase) -> Range<Duration>? {
        let index = Phase.allCases.firstIndex(of: phase) ?? 0
        let ends = phaseEnds
        guard let end = ends[index] else { return nil }
        let begin = ends[..<index].lazy.compactMap { $0 }.last ?? .zero
        return min(begin, end)..<end
    }

    /// Returns the duration of a phase; `nil` if the phase didn't happen or isn't known.
    public func duration(of phase: Phase) -> Duration? {
        self[phase].map { $0.upperBound - $0.lowerBound }
    }

    /// The duration of the transfer; `nil` if it hasn't ended yet.
    public var duration: Duration? { end }

    /// The end times of all phases, in order.
    private var phaseEnds: [Duration?] {
        [fetchStart, domainLookupEnd, connectEnd, secureConnectionEnd, requestEnd, responseStart, end]
    }
}

extension TransferRecord.Metrics: CustomStringConvertible {
    /// The phases with their durations, in one line.
    public var description: String {
        let phases = Phase.allCases.compactMap { phase in
            duration(of: phase).map { "\(phase.rawValue) \($0 / .milliseconds(1)) ms" }
        }
        return phases.joined(separator: ", ")
    }
}

extension HTTPRequest {
    /// The names of the fields that weren't sent to this origin, for display; `nil` if there are none.
    var withheldText: String? {
        guard !fields.notes.withheldHeaders.isEmpty else { return nil }
        return "not sent to this origin: "
            + fields.notes.withheldHeaders.map { $0.rawValue.shortened() }.joined(separator: ", ")
    }
}

extension Authorization {
    /// A step of authentication that an operation is waiting for.
    public enum Step: Sendable, Hashable {
        /// Responding to a challenge of the server, which may involve the user.
        case challenge(Authorization.Challenge)
        /// Refreshing credentials or running a recovery, either for this operation only, or shared with others.
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
