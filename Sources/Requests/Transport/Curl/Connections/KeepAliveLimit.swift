// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// How long a server keeps an unused connection, by its field `Keep-Alive` (RFC 2068, 19.7.1.1).
struct KeepAliveLimit: Sendable, Hashable {
    /// The time before the announced end in which a request may arrive too late, in nanoseconds: servers count in whole
    /// seconds.
    private static let margin: UInt64 = 1_000_000_000

    /// The time without a request, in nanoseconds; `nil` for no limit.
    private(set) var timeout: UInt64?
    /// The number of further requests; `nil` for no limit.
    private(set) var requests: Int?

    /// Reads the field; `nil` without one.
    init?(_ head: HTTPResponseHead) {
        guard head[.keepAlive] != nil else { return nil }
        for element in FieldScanner.members(of: head[values: .keepAlive]) {
            let parts = element.split(separator: "=", maxSplits: 1).map { String($0).trimmedOfBlanks }
            guard parts.count == 2, let number = UInt32(parts[1]) else { continue }
            switch parts[0].lowercased() {
            case "timeout": timeout = UInt64(number) * 1_000_000_000
            case "max": requests = Int(number)
            default: break
            }
        }
        if timeout == nil, requests == nil { return nil }
    }

    /// Returns the limit of a response that follows another on its connection.
    ///
    /// Some servers count down, and others repeat the first number.
    func following(_ previous: KeepAliveLimit?) -> KeepAliveLimit {
        var limit = self
        if let left = previous?.requests { limit.requests = min(requests ?? left, left - 1) }
        return limit
    }

    /// Whether a request might arrive when the server has just ended the connection.
    ///
    /// - Parameters:
    ///   - idle: The time since the last response, in nanoseconds.
    ///   - roundTrip: The round trip of the connection, in nanoseconds.
    /// - Returns: Whether the announced end is near.
    func isEnding(after idle: UInt64, roundTrip: UInt64) -> Bool {
        if let requests, requests <= 0 { return true }
        return timeout.map { idle + roundTrip + Self.margin >= $0 } ?? false
    }
}
#endif
