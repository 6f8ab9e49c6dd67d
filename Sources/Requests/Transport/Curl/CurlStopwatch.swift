// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// Measures of a transfer what libcurl doesn't, and makes metrics of both.
///
/// libcurl counts from when it has the transfer; a caller wants to know of the waits before that, too.
struct CurlStopwatch: Sendable {
    private let date = Date()
    private let submitted = DispatchTime.now().uptimeNanoseconds
    private var dispatched: UInt64?
    private var taken: UInt64?
    private var lastRead: UInt64?

    /// Notes that it is the transfer's turn.
    mutating func dispatch(at now: UInt64) {
        dispatched = now
    }

    /// Notes that libcurl has the transfer.
    mutating func take(at now: UInt64) {
        taken = now
    }

    /// Notes that a piece of the request's content was read.
    mutating func read(at now: UInt64) {
        lastRead = now
    }

    /// What the transfer took, by what libcurl measured.
    ///
    /// - Parameters:
    ///   - measured: libcurl's figures.
    ///   - connection: Its connection; nil if it has none, or none with addresses.
    ///   - session: What was agreed on for the encryption of the connection.
    ///   - stop: When the transfer was stopped, which libcurl doesn't know yet; nil where it came to its own end.
    /// - Returns: The metrics.
    func metrics(
        _ measured: CCurlMetrics,
        over connection: CurlTransfer.Connection?,
        _ session: CCurlSession,
        stoppedAt stop: UInt64?
    ) -> Metrics {
        let dispatched = dispatched.map(sinceSubmission) ?? .zero
        let queued = taken.map(sinceSubmission) ?? dispatched
        func moment(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? queued + .microseconds(microseconds) : nil
        }
        var metrics = Metrics(start: date)
        // Where the look-up of a name was waited for, its turn had come before.
        metrics.dispatched = queued == dispatched ? moment(measured.queued) ?? queued : dispatched
        // On a connection that was kept, libcurl tells when these steps would have been done had they been needed.
        if measured.new_connections > 0 || measured.ready == 0 {
            metrics.nameResolved = moment(measured.name_resolved)
            metrics.connected = moment(measured.connected)
            metrics.secured = moment(measured.secured)
        }
        metrics.firstByte = moment(measured.first_byte)
        // Before 8.10 libcurl doesn't tell when a request had been sent, but asks for its content piece by piece.
        metrics.sent = moment(measured.sent) ?? max(lastRead.map(sinceSubmission), moment(measured.ready))
        let end = stop.map(sinceSubmission) ?? queued + .microseconds(measured.end)
        metrics.end = max(end, metrics.firstByte ?? .zero)
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

    private func max(_ first: Duration?, _ second: Duration?) -> Duration? {
        guard let first, let second else { return first ?? second }
        return Swift.max(first, second)
    }

    private func max(_ first: Duration, _ second: Duration) -> Duration {
        Swift.max(first, second)
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
