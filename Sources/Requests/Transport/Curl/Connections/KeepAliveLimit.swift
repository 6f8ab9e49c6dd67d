// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The limits for reusing a connection that a server announces in its `Keep-Alive` field (RFC 2068, 19.7.1.1).
struct KeepAliveLimit: Sendable, Hashable {
    /// A safety margin before the announced timeout, in nanoseconds, because servers count in whole seconds.
    private static let margin: UInt64 = 1_000_000_000

    /// The idle timeout in nanoseconds; `nil` for no limit.
    private(set) var timeout: UInt64?
    /// The number of remaining requests; `nil` for no limit.
    private(set) var requests: Int?

    /// Parses the field; returns `nil` if the response has no such field, or the field has no limit.
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

    /// Returns the limit that applies now, given the limit after the previous response on the same connection.
    ///
    /// Some servers decrement the number of requests with each response, and others repeat the initial number.
    func following(_ previous: KeepAliveLimit?) -> KeepAliveLimit {
        var limit = self
        if let remaining = previous?.requests { limit.requests = min(requests ?? remaining, remaining - 1) }
        return limit
    }

    /// Returns whether a new request might arrive only after the server has closed the connection.
    ///
    /// - Parameters:
    ///   - idle: The time since the last response, in nanoseconds.
    ///   - roundTrip: The round-trip time of the connection, in nanoseconds.
    /// - Returns: `true` if no requests remain, or the timeout is too near.
    func isEnding(after idle: UInt64, roundTrip: UInt64) -> Bool {
        if let requests, requests <= 0 { return true }
        return timeout.map { idle + roundTrip + Self.margin >= $0 } ?? false
    }
}
#endif
