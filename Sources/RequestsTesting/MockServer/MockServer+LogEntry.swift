// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension MockServer {
    /// A request that a server received, with when things happened to it and what was sent.
    ///
    /// All times are counted from the start of the server, so those of different connections can be compared.
    public struct LogEntry: Sendable, Hashable {
        /// The request, which has the number of its connection.
        public var request: RecordedRequest
        /// When the connection was accepted.
        public var accepted: Duration
        /// When the head of the request was there.
        public var headRead: Duration
        /// When the content was there too; nil where the answer was ``MockResponse/early``.
        public var bodyRead: Duration?
        /// When the system had taken the last byte of the answer; nil where that hasn't happened, and where a fault, the
        /// client or the end of the server prevented it.
        public var answered: Duration?
        /// How many bytes of the answer the system has taken, head and framing included; 0 until the answer has ended.
        public var sentByteCount: Int
    }

    /// The requests so far, in the order in which they were complete, each with its times.
    ///
    /// ```swift
    /// let entry = server.log[0]
    /// entry.answered.map { $0 - entry.headRead }      // what the answer took
    /// ```
    ///
    /// An answer may be with its client a moment before the log tells of it.
    public var log: [LogEntry] { core.state.withLock { $0.log } }

    /// How many requests were received since the start, recorded or not.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }
}
