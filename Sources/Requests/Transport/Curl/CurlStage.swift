// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl

/// How far a transfer has come on its way to libcurl and through it, and how long it may be silent there.
struct CurlStage: Sendable {
    /// Where a transfer is.
    enum Place: Sendable, Hashable {
        /// It waits for its turn, however long that takes.
        case inLine
        /// It waits to know that its content has no bytes, as announced.
        case awaitingContent
        /// It waits for the addresses of its host.
        case awaitingName
        /// libcurl has it.
        case taken
    }

    private(set) var place = Place.inLine
    private let timeout: Duration
    private let connectTimeout: Duration
    /// Since when the addresses are waited for, without a pause.
    private var since: UInt64 = 0

    /// - Parameters:
    ///   - timeout: How long it may be silent.
    ///   - connectTimeout: How long a connection may take to be made, its look-up included.
    init(timeout: Duration, connectTimeout: Duration) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
    }

    mutating func lineUp() { place = .inLine }
    mutating func awaitContent() { place = .awaitingContent }
    mutating func awaitName(at now: UInt64) { (place, since) = (.awaitingName, now) }
    mutating func take() { place = .taken }

    /// Notes that a pause has ended: the time that it took isn't the server's.
    mutating func waitAnew(at now: UInt64) { since = now }

    /// How long it may be silent where it is; nil for as long as it takes.
    var patience: Duration? {
        switch place {
        case .inLine: nil
        case .awaitingName: connectTimeout
        case .awaitingContent, .taken: timeout
        }
    }

    /// How long the addresses have been waited for.
    func waited(until now: UInt64) -> Duration { .nanoseconds(Int64(clamping: now &- since)) }
}

/// Why a transfer doesn't go on.
struct CurlPauses: OptionSet, Sendable {
    let rawValue: Int
    /// The caller wants it so.
    static let caller = CurlPauses(rawValue: 1)
    /// As much waits for the receiver as may.
    static let mailbox = CurlPauses(rawValue: 2)
    /// The content of the request has no bytes at the moment.
    static let body = CurlPauses(rawValue: 4)
    private static let receiving: CurlPauses = [.caller, .mailbox]
    private static let sending: CurlPauses = [.caller, .body]

    /// Whether the peer may be silent because this side asked it to be.
    ///
    /// That the content of the request stalls is no reason.
    var holdPeer: Bool { !isDisjoint(with: Self.receiving) }

    /// What libcurl is to pause.
    var bits: Int32 {
        (holdPeer ? Int32(CCURL_PAUSE_RECEIVING) : 0)
            | (isDisjoint(with: Self.sending) ? 0 : Int32(CCURL_PAUSE_SENDING))
    }
}
#endif
