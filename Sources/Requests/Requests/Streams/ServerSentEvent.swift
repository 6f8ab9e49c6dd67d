// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

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
    /// Makes the decoder of JSON where the caller brings none: that of the environment.
    private var decoding = Decoding()

    /// Makes an event.
    public init(event: String = "message", data: String, id: String? = nil, retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }

    /// The content, decoded from JSON.
    ///
    /// ```swift
    /// for try await event in client.events(Feed()) { show(try event.decode(Reading.self)) }
    /// ```
    ///
    /// - Parameters:
    ///   - type: What it decodes to; known from the context, where there is one.
    ///   - decoder: What decodes it; `nil`, the default, is the decoder of the environment that the request ran in.
    /// - Returns: The value.
    /// - Throws: ``RequestError`` of code `decoding`, with the decoder's error as the underlying one.
    public func decode<Value: Decodable>(
        _ type: Value.Type = Value.self,
        using decoder: JSONDecoder? = nil
    ) throws(RequestError) -> Value {
        try RequestError.catching(type) {
            try (decoder ?? decoding.makeDecoder?() ?? JSONDecoder()).decode(type, from: Data(data.utf8))
        }.get()
    }

    /// The same event, which an environment's decoder decodes.
    func decoded(by makeDecoder: @escaping @Sendable () -> JSONDecoder) -> ServerSentEvent {
        var event = self
        event.decoding.makeDecoder = makeDecoder
        return event
    }

    /// What makes a decoder: no part of what events are compared by.
    private struct Decoding: Sendable, Hashable {
        var makeDecoder: (@Sendable () -> JSONDecoder)?

        static func == (lhs: Decoding, rhs: Decoding) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

extension ServerSentEvent: CustomReflectable {
    /// A mirror of what the server said.
    public var customMirror: Mirror {
        Mirror(self, children: ["event": event, "data": data, "id": id as Any, "retry": retry as Any])
    }
}

/// Reads a stream of server-sent events (WHATWG HTML, 9.2.6).
///
/// An event that the end of the stream cuts off isn't given, and its identifier doesn't count: the server sends it
/// again.
struct ServerSentEventParser: StreamParser {
    private(set) var failure: RequestError.OversizedElement?
    /// The identifier that the server gave last, with a complete event; for the next connection.
    ///
    /// An event without content counts too, which ``ServerSentEvent`` can't tell, since there is none.
    private(set) var lastEventID: String?
    /// How long the server wants to be left alone before a reconnection, as it said last.
    private(set) var retry: Duration?

    private let limit: Int
    private var lines: LineParser
    private var isAtStart = true
    private var data = Data()
    private var event = ""
    private var id: String?
    private var eventRetry: Duration?

    /// Starts at the beginning of a stream.
    ///
    /// - Parameters:
    ///   - limit: How many bytes the content of an event may have, and a line; 1 MiB by default.
    ///   - lastEventID: What the connection before ended with: an event without an identifier keeps it.
    init(limit: Int = 1 << 20, lastEventID: String? = nil) {
        self.limit = max(0, limit)
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineParser(limit: limit)
    }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [ServerSentEvent] {
        guard failure == nil else { return [] }
        var events: [ServerSentEvent] = []
        for line in lines.feed(bytes) {
            if let event = read(isAtStart ? line.withoutByteOrderMark : line) { events.append(event) }
            isAtStart = false
            guard failure == nil else { return events }
        }
        failure = lines.failure.map { RequestError.OversizedElement(.event, limit: $0.limit) }
        return events
    }

    /// Gives nothing: an event is complete with the empty line behind it.
    mutating func finish() -> [ServerSentEvent] {
        _ = lines.finish()
        (data, event, id, eventRetry) = (Data(), "", lastEventID, nil)
        return []
    }

    private mutating func read(_ line: Data) -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line[name.endIndex...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch name {
        case Field.data:
            guard value.count <= limit - data.count else {
                failure = RequestError.OversizedElement(.event, limit: limit)
                data = Data()
                return nil
            }
            data.append(value)
            // What joins it to the next line; behind the last one it is taken off.
            data.append(UInt8(ascii: "\n"))
        case Field.event: event = String(decoding: value, as: UTF8.self)
        case Field.id where !value.contains(0):
            id = value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        case Field.retry where !value.isEmpty && value.allSatisfy(ASCII.isDigit):
            retry = .milliseconds(Self.number(value))
            eventRetry = retry
        default: break  // A comment, which has no name, or a field that nobody knows.
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (data, event, eventRetry) = (Data(), "", nil) }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            event: event.isEmpty ? "message" : event,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id,
            retry: eventRetry
        )
    }

    /// The value of digits, up to what every clock can wait.
    private static func number(_ digits: Data) -> Int64 {
        digits.reduce(0) { min($0 * 10 + Int64($1 - UInt8(ascii: "0")), 1_000_000_000_000) }
    }

    private enum Field {
        static let data = Data("data".utf8)
        static let event = Data("event".utf8)
        static let id = Data("id".utf8)
        static let retry = Data("retry".utf8)
    }
}
