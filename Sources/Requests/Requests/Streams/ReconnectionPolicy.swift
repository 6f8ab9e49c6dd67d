// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// How patient an ``EventStream`` is with a server that ends its connections, or can't be reached.
public struct ReconnectionPolicy: Sendable, Hashable {
    /// How long to wait for the next connection where the server says nothing; 3 seconds by default.
    public var wait: Duration
    /// What is waited at most, whatever the server says; a minute by default.
    public var longestWait: Duration
    /// How many connections may end or fail in a row before the stream fails, 10 by default; nil for any number.
    ///
    /// One that gives a good response counts anew.
    public var limit: Int?
    /// What is waited after the second connection in a row that gave no event and after those behind it, if it is longer
    /// than the time that the server asked for; by default from a second on, twice as long each time.
    public var backoff: Backoff

    /// Makes a policy.
    public init(
        wait: Duration = .seconds(3),
        longestWait: Duration = .seconds(60),
        limit: Int? = 10,
        backoff: Backoff = .exponential(from: .seconds(1))
    ) {
        self.wait = wait
        self.longestWait = longestWait
        self.limit = limit
        self.backoff = backoff
    }

    /// The patience of a browser, but for servers that can't be reached: those are given up after a while.
    public static let `default` = ReconnectionPolicy()

    /// One connection only: its end is a failure of code `connectionLost`.
    public static let never = ReconnectionPolicy(limit: 0)
}
