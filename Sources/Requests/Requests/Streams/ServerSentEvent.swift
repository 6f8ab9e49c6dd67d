// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// An event of a stream of server-sent events, `text/event-stream` (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` where the server says nothing else.
    public var event: String
    /// The content: its lines, joined with LF; it may be empty.
    public var data: String
    /// The identifier that the server gave last, with this event or with one before.
    ///
    /// It is what the server is told after a reconnection, so that it goes on from there. Nil where it gave none, or
    /// took it back with an empty one.
    public var id: String?
    /// How long the server wants to be left alone before a reconnection, where it says so with this event.
    public var retry: Duration?

    /// Makes an event.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}
