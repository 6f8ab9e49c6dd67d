// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ServerSentEvent {
    /// The policy for reconnecting a ``ServerSentEvent/Stream`` if the server ends the connection, or can't be reached.
    ///
    /// Only GET and HEAD requests are sent again; any other request has a single event stream.
    public struct Reconnection: Sendable, Hashable {
        /// The delay before reconnecting, unless the server sends a delay; 3 seconds by default.
        public var wait: Duration
        /// The maximum delay, whatever the server sends; a minute by default.
        public var maximumWait: Duration
        /// The number of connections that may end or fail in a row before the stream fails; 10 by default, `nil` for no
        /// limit.
        ///
        /// A connection with a successful response resets the count.
        public var limit: Int?
        /// The minimum delay after the second and each further connection in a row without an event.
        ///
        /// By default, the delay begins with 1 second, and doubles each time.
        public var backoff: RetryPolicy.Backoff

        /// Creates a policy.
        public init(
            wait: Duration = .seconds(3),
            maximumWait: Duration = .seconds(60),
            limit: Int? = 10,
            backoff: RetryPolicy.Backoff = .exponential(from: .seconds(1))
        ) {
            self.wait = wait
            self.maximumWait = maximumWait
            self.limit = limit
            self.backoff = backoff
        }

        /// Reconnects like a browser, but gives up after a while if the server can't be reached.
        public static let `default` = Reconnection()

        /// Doesn't reconnect: the regular end of the event stream ends the events, and a lost connection is an error.
        public static let never = Reconnection(limit: 0)
    }
}
