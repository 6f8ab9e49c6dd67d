// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The stage of a transfer on its way to libcurl and through it, with the maximum silence there.
struct CurlStage: Sendable {
    /// The stage of a transfer.
    enum Place: Sendable, Hashable {
        /// It waits for its turn, without a limit.
        case queued
        /// It waits for the confirmation that its content is empty, as announced.
        case awaitingContent
        /// It waits for the addresses of its host.
        case awaitingAddresses
        /// libcurl has it, and makes or awaits a connection for it.
        case connecting
        /// It has a connection, over which its request may be sent.
        case connected

        /// Whether libcurl has it.
        var isTaken: Bool { self == .connecting || self == .connected }
        /// Whether it has been admitted, and has no connection yet.
        var isUnconnected: Bool { self == .awaitingAddresses || self == .connecting }
    }

    private(set) var place = Place.queued
    private let timeout: Duration
    let connectTimeout: Duration
    /// The beginning of the wait for a connection, without pauses.
    private var since: UInt64 = 0

    /// - Parameters:
    ///   - timeout: The maximum time without data.
    ///   - connectTimeout: The maximum time for making a connection, including the look-up.
    init(timeout: Duration, connectTimeout: Duration) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
    }

    mutating func lineUp() { place = .queued }
    mutating func awaitContent() { place = .awaitingContent }
    mutating func awaitName(at now: UInt64) { (place, since) = (.awaitingAddresses, now) }
    mutating func take() { place = .connecting }
    mutating func connect() { place = .connected }
    /// Records that the connection was lost, and another one is being made.
    mutating func reconnect(at now: UInt64) { (place, since) = (.connecting, now) }

    /// Records that a pause has ended: its duration doesn't count as the server's.
    mutating func waitAnew(at now: UInt64) { since = now }

    /// The maximum silence from now on; `nil` for no limit.
    ///
    /// The time for a connection begins once, whatever libcurl does meanwhile: it lets transfers wait for the
    /// connection of another, and before 8.8 begins the time anew for each of them when that one fails.
    func patience(at now: UInt64) -> Duration? {
        switch place {
        case .queued: nil
        case .awaitingAddresses, .connecting: connectTimeout - waited(until: now)
        case .awaitingContent, .connected: timeout
        }
    }

    /// The time spent waiting for a connection.
    func waited(until now: UInt64) -> Duration { .nanoseconds(Int64(clamping: now &- since)) }
}

/// The reasons why a transfer is paused.
struct CurlPauses: OptionSet, Sendable {
    let rawValue: Int
    /// The caller has requested it.
    static let caller = CurlPauses(rawValue: 1)
    /// The receiver's mailbox is full.
    static let mailbox = CurlPauses(rawValue: 2)
    /// The content of the request has no bytes at the moment.
    static let body = CurlPauses(rawValue: 4)
    private static let receiving: CurlPauses = [.caller, .mailbox]
    private static let sending: CurlPauses = [.caller, .body]

    /// Whether the peer may be silent because this side paused it.
    ///
    /// If the content of the request stalls, it may not.
    var pausesReceiving: Bool { !isDisjoint(with: Self.receiving) }

    /// The directions that libcurl is to pause.
    var bits: Int32 {
        (pausesReceiving ? Int32(CCURL_PAUSE_RECEIVING) : 0)
            | (isDisjoint(with: Self.sending) ? 0 : Int32(CCURL_PAUSE_SENDING))
    }
}

// MARK: - Times

/// Measures the steps of a transfer that libcurl doesn't, and makes metrics of both.
///
/// libcurl measures from the time when it gets the transfer; the metrics include the waits before.
struct CurlStopwatch: Sendable {
    private let date = Date()
    private let submitted = DispatchTime.now().uptimeNanoseconds
    private var dispatched: UInt64?
    /// The time at which libcurl got the transfer.
    private(set) var taken: UInt64?
    private var lastRead: UInt64?

    /// Records that the transfer was admitted.
    mutating func dispatch(at now: UInt64) {
        dispatched = now
    }

    /// Records that libcurl has got the transfer.
    mutating func take(at now: UInt64) {
        taken = now
    }

    /// Records that libcurl gets the transfer again, and measures from here.
    mutating func restart(at now: UInt64) {
        (taken, lastRead) = (now, nil)
    }

    /// Records that a piece of the request's content was read.
    mutating func read(at now: UInt64) {
        lastRead = now
    }

    /// Returns the metrics of the transfer.
    ///
    /// - Parameters:
    ///   - measured: libcurl's figures.
    ///   - connection: Its connection; `nil` if it has none, or none with addresses.
    ///   - session: The TLS session of the connection.
    ///   - stop: The time at which the transfer was stopped, which libcurl doesn't know yet; `nil` if it wasn't.
    /// - Returns: The metrics.
    func metrics(
        _ measured: CCurlMetrics,
        over connection: CurlTransfer.Connection?,
        _ session: CCurlSession,
        stoppedAt stop: UInt64?
    ) -> TransferRecord.Metrics {
        let dispatched = dispatched.map(sinceSubmission) ?? .zero
        let queued = taken.map(sinceSubmission) ?? dispatched
        func moment(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? queued + .microseconds(microseconds) : nil
        }
        var metrics = TransferRecord.Metrics(start: date)
        // If a name had to be looked up, the transfer was admitted before.
        metrics.fetchStart = queued == dispatched ? moment(measured.queued) ?? queued : dispatched
        // For a kept connection, libcurl reports times for these steps although they weren't needed.
        if measured.new_connections > 0 || measured.ready == 0 {
            metrics.domainLookupEnd = moment(measured.name_resolved)
            metrics.connectEnd = moment(measured.connected)
            metrics.secureConnectionEnd = moment(measured.secured)
        }
        metrics.responseStart = moment(measured.first_byte)
        // libcurl before 8.10 doesn't report when a request was sent, but asks for its content piece by piece.
        let ready = moment(measured.ready)
        metrics.requestEnd = moment(measured.sent) ?? lastRead.map { max(sinceSubmission($0), ready ?? .zero) } ?? ready
        let end = stop.map(sinceSubmission) ?? queued + .microseconds(measured.end)
        metrics.end = max(end, metrics.responseStart ?? .zero)
        if measured.ready > 0 { metrics.isReusedConnection = measured.new_connections == 0 }
        metrics.networkProtocol = Self.name(ofVersion: measured.http_version)
        metrics.requestHeadSize = Int64(measured.head_sent)
        metrics.requestBodySize = measured.body_sent
        metrics.responseHeadSize = Int64(measured.head_received)
        metrics.responseBodySize = measured.body_received
        if let connection {
            (metrics.remoteAddress, metrics.remotePort) = (connection.remote, Int(connection.remotePort))
            (metrics.localAddress, metrics.localPort) = (connection.local, Int(connection.localPort))
        }
        metrics.tlsVersion = session.version.map { String(cString: $0) }
        metrics.tlsCipherSuite = session.cipher_suite.map { String(cString: $0) }
        if measured.ready > 0, measured.used_proxy >= 0 { metrics.isProxyConnection = measured.used_proxy == 1 }
        return metrics
    }

    private func sinceSubmission(_ time: UInt64) -> Duration {
        .nanoseconds(time > submitted ? Int64(time - submitted) : 0)
    }

    // The names of ALPN (RFC 7301, 6); the numbers are libcurl's.
    private static func name(ofVersion version: Int) -> String? {
        switch version {
        case 1: "http/1.0"
        case 2: "http/1.1"
        case 3: "h2"
        case 30: "h3"
        default: nil
        }
    }
}
#endif
