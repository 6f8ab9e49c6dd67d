// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// An event of a stream of server-sent events, `text/event-stream` (WHATWG HTML, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` if the server doesn't send one.
    public var event: String
    /// The content: its lines, joined with LF; it may be empty.
    public var data: String
    /// The last identifier that the server sent, with this event or with an earlier one.
    ///
    /// It is sent to the server after a reconnection, so that the server continues from there. `nil` if there was no
    /// identifier, or an empty one has removed it.
    public var id: String?
    /// The reconnection time that the server sent with this event.
    public var retry: Duration?
    /// The operation that received the event; `nil` for an event that was made by hand.
    private var context = IgnoredInEquality<ReceivingContext?>(value: nil)

    /// Creates an event.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// The content, decoded from JSON.
    ///
    /// ```swift
    /// for try await event in client.serverSentEvents(Feed()) { show(try event.decode(Reading.self)) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value; usually inferred.
    ///   - decoder: The decoder; `nil`, the default, is the decoder of the environment that the request ran in.
    /// - Returns: The value.
    /// - Throws: ``RequestError`` of code `decoding`, with the decoder's error as the underlying one, and with the
    ///   request and the response that the event came with.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        using decoder: JSONDecoder? = nil
    ) throws(RequestError) -> Value {
        let context = context.value
        return try RequestError.catching(type) {
            try (decoder ?? context?.makeDecoder() ?? JSONDecoder()).decode(type, from: Data(data.utf8))
        }.mapError { context?.addContext(to: $0) ?? $0 }.get()
    }

    /// Returns the same event, as one that an operation received.
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
    /// The event as it is sent.
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
    /// A mirror of the values that the server sent, which are also what is printed.
    public var customMirror: Mirror {
        let children: KeyValuePairs = ["event": event, "data": data, "id": id as Any, "retry": retry as Any]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}
