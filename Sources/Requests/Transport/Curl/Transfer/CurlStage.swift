// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The current phase of a transfer before and inside libcurl, and the idle timeout of that phase.
struct CurlStage: Sendable {
    /// The phase of a transfer.
    enum Phase: Sendable, Hashable {
        /// Waits for a slot within the connection limits, without a timeout.
        case queued
        /// Waits until it is confirmed that the content is empty, as declared.
        case awaitingContent
        /// Waits for the addresses of its host or proxy.
        case awaitingAddresses
        /// Added to libcurl, which is opening a connection for the transfer, or waiting for one.
        case connecting
        /// Has a connection over which the request may be sent.
        case connected

        /// Whether the transfer has been added to libcurl.
        var isAddedToCurl: Bool { self == .connecting || self == .connected }
        /// Whether the transfer has been admitted, but has no connection yet.
        var awaitsConnection: Bool { self == .awaitingAddresses || self == .connecting }
    }

    private(set) var phase = Phase.queued
    private let timeout: Duration
    let connectTimeout: Duration
    /// The time at which the wait for a connection started, or was last resumed after a pause.
    private var waitStart: UInt64 = 0

    /// - Parameters:
    ///   - timeout: The maximum time without data.
    ///   - connectTimeout: The maximum time for establishing a connection, including the name lookup.
    init(timeout: Duration, connectTimeout: Duration) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
    }

    mutating func enqueue() { phase = .queued }
    mutating func awaitContent() { phase = .awaitingContent }
    mutating func awaitAddresses(at now: UInt64) { (phase, waitStart) = (.awaitingAddresses, now) }
    mutating func startConnecting() { phase = .connecting }
    mutating func didConnect() { phase = .connected }
    /// Records that the connection was lost, and that libcurl is opening a new connection.
    mutating func reconnect(at now: UInt64) { (phase, waitStart) = (.connecting, now) }

    /// Restarts the waiting time after a pause, because the duration of the pause must not count as the server's idle
    /// time.
    mutating func restartWait(at now: UInt64) { waitStart = now }

    /// Returns the maximum idle time from now on; `nil` for no limit.
    ///
    /// The connect timeout starts once for a transfer, whatever libcurl does. libcurl may let transfers wait for
    /// another transfer's connection, and versions before 8.8 restart the timeout of each of them when that connection
    /// fails.
    func idleTimeout(at now: UInt64) -> Duration? {
        switch phase {
        case .queued: nil
        case .awaitingAddresses, .connecting: connectTimeout - waitingTime(until: now)
        case .awaitingContent, .connected: timeout
        }
    }

    /// Returns the time that the transfer has waited for a connection.
    func waitingTime(until now: UInt64) -> Duration { .nanoseconds(Int64(clamping: now &- waitStart)) }
}

/// The reasons why a transfer is paused.
struct CurlPauses: OptionSet, Sendable {
    let rawValue: Int
    /// Paused by the caller.
    static let caller = CurlPauses(rawValue: 1)
    /// Paused because the receiver's mailbox is full.
    static let mailbox = CurlPauses(rawValue: 2)
    /// Paused because the request's content currently has no bytes.
    static let body = CurlPauses(rawValue: 4)
    private static let receiving: CurlPauses = [.caller, .mailbox]
    private static let sending: CurlPauses = [.caller, .body]

    /// Whether receiving is paused, in which case a silent peer must not time out.
    ///
    /// A stalled request body doesn't pause receiving, so the idle timeout still applies.
    var pausesReceiving: Bool { !isDisjoint(with: Self.receiving) }

    /// The directions that libcurl must pause.
    var bits: Int32 {
        (pausesReceiving ? Int32(CCURL_PAUSE_RECEIVING) : 0)
            | (isDisjoint(with: Self.sending) ? 0 : Int32(CCURL_PAUSE_SENDING))
    }
}

// MARK: - Metrics

/// Measures the steps of a transfer that libcurl doesn't measure, and creates the metrics from both measurements.
///
/// libcurl measures from the time at which the transfer is added to it, but the metrics include the waits before that.
struct CurlStopwatch: Sendable {
    private let date = Date()
    private let submitted = DispatchTime.now().uptimeNanoseconds
    private var admitted: UInt64?
    /// The time at which the transfer was added to libcurl.
    private(set) var curlStart: UInt64?
    private var lastRead: UInt64?

    mutating func recordAdmission(at now: UInt64) {
        admitted = now
    }

    /// Records that the transfer is added to libcurl.
    mutating func recordCurlStart(at now: UInt64) {
        curlStart = now
    }

    /// Records that the transfer is added to libcurl again, which restarts libcurl's measurement.
    mutating func recordRestart(at now: UInt64) {
        (curlStart, lastRead) = (now, nil)
    }

    /// Records that a part of the request's content was read.
    mutating func recordBodyRead(at now: UInt64) {
        lastRead = now
    }

    /// Returns the metrics of the transfer.
    ///
    /// - Parameters:
    ///   - measured: libcurl's measurements.
    ///   - connection: The transfer's connection; `nil` if there is none, or if it has no addresses.
    ///   - session: The TLS session of the connection.
    ///   - stop: The time at which the transfer was stopped, which libcurl doesn't know yet; `nil` if the transfer
    ///     wasn't stopped.
    /// - Returns: The metrics.
    func metrics(
        _ measured: CCurlMetrics,
        over connection: CurlTransfer.Connection?,
        _ session: CCurlSession,
        stoppedAt stop: UInt64?
    ) -> TransferRecord.Metrics {
        let admitted = admitted.map(sinceSubmission) ?? .zero
        let startOffset = curlStart.map(sinceSubmission) ?? admitted
        func moment(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? startOffset + .microseconds(microseconds) : nil
        }
        var metrics = TransferRecord.Metrics(start: date)
        // If a name had to be looked up, the transfer was admitted before it was added to libcurl.
        metrics.fetchStart = startOffset == admitted ? moment(measured.queued) ?? startOffset : admitted
        // Skipped for a reused connection, for which libcurl reports times of steps that weren't needed.
        if measured.new_connections > 0 || measured.ready == 0 {
            metrics.domainLookupEnd = moment(measured.name_resolved)
            metrics.connectEnd = moment(measured.connected)
            metrics.secureConnectionEnd = moment(measured.secured)
        }
        metrics.responseStart = moment(measured.first_byte)
        // libcurl before 8.10 doesn't report when a request was sent. So the last read of the request's content counts
        // as the end of the request.
        let ready = moment(measured.ready)
        metrics.requestEnd = moment(measured.sent) ?? lastRead.map { max(sinceSubmission($0), ready ?? .zero) } ?? ready
        let end = stop.map(sinceSubmission) ?? startOffset + .microseconds(measured.end)
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

    // Returns the ALPN name of a protocol (RFC 7301, 6) for libcurl's version number.
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
