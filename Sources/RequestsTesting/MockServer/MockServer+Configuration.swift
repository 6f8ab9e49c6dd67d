// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension MockServer {
    /// What a server does with its connections, whatever it answers on them.
    ///
    /// The defaults are those of a patient server without limits; a test changes what it is about:
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.requestsPerConnection = 2
    /// let server = try MockServer(configuration: configuration) { _ in .text("hello") }
    /// ```
    public struct Configuration: Sendable, Hashable {
        /// The port to listen on; 0, the default, takes one that is free.
        public var port = 0

        /// How many bytes a head, the line of a chunk or the trailers may have; 1 MiB by default.
        ///
        /// A larger one is answered with 431, and the connection closes.
        public var headLimit = 1 << 20

        /// How many bytes the content of a request may have; nil, the default, sets no limit.
        ///
        /// A larger one is answered with 413 as soon as it is known to be larger, and the connection closes: with a
        /// `Content-Length`, that is before the first byte of it.
        public var bodyLimit: Int?

        /// How many requests a connection carries; nil, the default, sets no limit.
        ///
        /// The answer to the last one says `Connection: close`, and then the connection closes.
        public var requestsPerConnection: Int?

        /// How long a connection waits for bytes of a request before the server closes it; nil, the default, is for
        /// ever.
        ///
        /// The time between two requests counts, and the time between two pieces of one.
        public var idleTimeout: Duration?

        /// How many connections are open at once; nil, the default, sets no limit.
        ///
        /// Those beyond it wait to be accepted, as they do in front of a busy server: their clients are connected and
        /// can send, but nobody reads.
        public var connectionLimit: Int?

        /// How many requests are recorded, the first ones; there is no limit by default.
        ///
        /// What comes later is answered and counted all the same. For a server that runs for long.
        public var recordLimit = Int.max

        /// Makes the configuration of a patient server without limits.
        public init() {}
    }
}
