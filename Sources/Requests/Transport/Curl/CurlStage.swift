// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl

/// The stage of a transfer on its way to libcurl and through it, with the maximum silence there.
struct CurlStage: Sendable {
    /// The stage of a transfer.
    enum Place: Sendable, Hashable {
        /// It waits for its turn, without a limit.
        case inLine
        /// It waits for the confirmation that its content is empty, as announced.
        case awaitingContent
        /// It waits for the addresses of its host.
        case awaitingName
        /// libcurl has it, and makes or awaits a connection for it.
        case connecting
        /// It has a connection, over which its request may be sent.
        case connected

        /// Whether libcurl has it.
        var isTaken: Bool { self == .connecting || self == .connected }
        /// Whether it has been admitted, and has no connection yet.
        var isUnconnected: Bool { self == .awaitingName || self == .connecting }
    }

    private(set) var place = Place.inLine
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

    mutating func lineUp() { place = .inLine }
    mutating func awaitContent() { place = .awaitingContent }
    mutating func awaitName(at now: UInt64) { (place, since) = (.awaitingName, now) }
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
        case .inLine: nil
        case .awaitingName, .connecting: connectTimeout - waited(until: now)
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
    var holdPeer: Bool { !isDisjoint(with: Self.receiving) }

    /// The directions that libcurl is to pause.
    var bits: Int32 {
        (holdPeer ? Int32(CCURL_PAUSE_RECEIVING) : 0)
            | (isDisjoint(with: Self.sending) ? 0 : Int32(CCURL_PAUSE_SENDING))
    }
}
#endif
