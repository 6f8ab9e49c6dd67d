// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A server-sent event, received as `text/event-stream` (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server doesn't send one.
    public var event: String
    /// The content, whose lines are joined with LF; it may be empty.
    public var data: String
    /// The last identifier that the server sent, with this event or with an earlier event.
    ///
    /// After a reconnection, the client sends the identifier, so that the server continues from there. The value is
    /// `nil` if there was no identifier, or if an empty identifier cleared it.
    public var id: String?
    /// The reconnection time that the server sent with this event.
    public var retry: Duration?
    /// The context of the operation that received the event; `nil` for an event that was created by hand.
    private var context = IgnoredInEquality<ReceivingContext?>(value: nil)

    /// Creates an event.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// Decodes the content from JSON.
    ///
    /// ```swift
    /// for try await event in client.serverSentEvents(Feed()) { show(try event.decode(Reading.self)) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - decoder: The decoder; `nil`, the default, uses the decoder of the request's environment.
    /// - Returns: The value.
    /// - Throws: A ``RequestError`` with the code `decoding`, whose underlying error is the decoder's error. The error
    ///   includes the request and the response of the event.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        using decoder: JSONDecoder? = nil
    ) throws(RequestError) -> Value {
        let context = context.value
        return try RequestError.catching(type) {
            try (decoder ?? context?.makeDecoder() ?? JSONDecoder()).decode(type, from: Data(data.utf8))
        }.mapError { context?.addContext(to: $0) ?? $0 }.get()
    }

    /// Returns a copy of the event with the context of the operation that received it.
    func received(in context: ReceivingContext) -> ServerSentEvent {
        var event = self
        event.context.value = context
        return event
    }
}

extension ServerSentEvent: ExpressibleByStringInterpolation {
    /// Creates an event of the type `message` with this content.
    public init(stringLiteral data: String) { self.init(data: data) }
}

extension ServerSentEvent {
    /// The event, encoded as a server sends it.
    package var serialized: Data {
        var lines = data.split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n"].contains($0) }
            .map { "data: \($0)" }
        if event != "message" { lines.insert("event: \(event)", at: 0) }
        if let id { lines.append("id: \(id)") }
        if let retry { lines.append("retry: \(Int64(retry / .milliseconds(1)))") }
        return Data((lines.joined(separator: "\n") + "\n\n").utf8)
    }
}

extension ServerSentEvent: CustomReflectable {
    /// A mirror of the values that the server sent; printing an event shows the same values.
    public var customMirror: Mirror {
        let children: KeyValuePairs = ["event": event, "data": data, "id": id as Any, "retry": retry as Any]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
