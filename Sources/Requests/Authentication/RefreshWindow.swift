// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How often credentials may be refreshed before it is taken for a fault.
///
/// A server that rejects what it has just handed out would otherwise be asked for more without end, by one request
/// after the other.
public struct RefreshWindow: Sendable, Hashable {
    /// How many refreshes may begin within the duration.
    public let limit: Int
    /// How long a refresh counts.
    public let duration: Duration

    /// Makes a window.
    ///
    /// - Parameters:
    ///   - limit: How many refreshes may begin within the duration, failed ones included; at least one.
    ///   - duration: How long a refresh counts.
    public init(limit: Int, duration: Duration) {
        self.limit = max(1, limit)
        self.duration = duration
    }

    /// Five refreshes in thirty seconds.
    public static let `default` = RefreshWindow(limit: 5, duration: .seconds(30))
}
