// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension ServerSentEvent {
    /// The reconnection of a ``ServerSentEvent/Stream`` if the server ends its connections, or can't be reached.
    ///
    /// Only GET and HEAD are sent again: any other request has one event stream.
    public struct Reconnection: Sendable, Hashable {
        /// The wait before the next connection if the server doesn't send one; 3 seconds by default.
        public var wait: Duration
        /// The maximum wait, whatever the server sends; a minute by default.
        public var maximumWait: Duration
        /// The number of connections that may end or fail in a row before the stream fails, 10 by default; `nil` for
        /// any number.
        ///
        /// A connection with a good response resets the count.
        public var limit: Int?
        /// The wait after the second and each further connection in a row without an event, if it is longer than the
        /// time that the server asked for.
        ///
        /// By default it begins with a second, and doubles each time.
        public var backoff: RetryPolicy.Backoff

        /// Makes a policy.
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

        /// Reconnection like that of a browser, except that servers that can't be reached are given up after a while.
        public static let `default` = Reconnection()

        /// One event stream only: its proper end is the end of the events, and a connection that breaks is an error.
        public static let never = Reconnection(limit: 0)
    }
}
