// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Parses a stream of server-sent events (WHATWG HTML, 9.2.6).
///
/// If the stream ends inside an event, that event isn't returned, and its identifier doesn't count, because the server
/// sends it again.
struct ServerSentEventParser: StreamParser {
    private(set) var failure: RequestError?
    /// The last valid identifier that the server sent with a complete event, for the next connection.
    ///
    /// An event without content also counts, although the parser returns no ``ServerSentEvent`` for it.
    private(set) var lastEventID: String?
    /// The last reconnection time that the server sent.
    private(set) var retry: Duration?

    private let limit: Int
    private var lines: LineParser
    private var isAtStart = true
    private var data = Data()
    private var event = ""
    private var id: String?
    private var eventRetry: Duration?

    /// Creates a parser that is positioned at the start of a stream.
    ///
    /// - Parameters:
    ///   - limit: The maximum byte count of an event's content, and of a line; 1 MiB by default.
    ///   - lastEventID: The last identifier of the previous connection, which applies until an event has its own
    ///     identifier.
    init(limit: Int = 1 << 20, lastEventID: String? = nil) {
        self.limit = max(0, limit)
        self.lastEventID = lastEventID
        id = lastEventID
        lines = LineParser(limit: limit)
    }

    /// Whether the parser holds a part of an incomplete event.
    var isInsideEvent: Bool { !data.isEmpty || !event.isEmpty || lines.isInsideLine }

    /// Returns whether an identifier is a valid field value, and short enough for servers to accept.
    static func canBeSent(_ id: String) -> Bool { id.isFieldValue && id.utf8.count <= 1 << 16 }

    mutating func feed(_ bytes: some Collection<UInt8>) -> [ServerSentEvent] {
        guard failure == nil else { return [] }
        var events: [ServerSentEvent] = []
        for line in lines.feed(bytes) {
            if let event = read(isAtStart ? line.withoutByteOrderMark : line) { events.append(event) }
            isAtStart = false
            guard failure == nil else { return events }
        }
        if lines.failure != nil { failure = .oversized("event", limit: limit) }
        return events
    }

    /// Returns no event, because only an empty line completes an event.
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
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            guard value.count <= limit - data.count else {
                failure = .oversized("event", limit: limit)
                data = Data()
                return nil
            }
            data.append(value)
            // Join the line to the next line with LF; after the last line, the LF is removed.
            data.append(UInt8(ascii: "\n"))
        case "event": event = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0):
            id = value.isEmpty ? nil : String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy(ASCII.isDigit):
            // Limit the time to a duration that every clock supports.
            let number = Int64(String(decoding: value, as: UTF8.self)) ?? .max
            retry = .milliseconds(min(number, 1_000_000_000_000))
            eventRetry = retry
        default: break  // A comment, whose field name is empty, or an unknown field.
        }
        return nil
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (data, event, eventRetry) = (Data(), "", nil) }
        if id.map(Self.canBeSent) ?? true { lastEventID = id }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            event: event.isEmpty ? "message" : event,
            data: String(decoding: data.dropLast(), as: UTF8.self),
            id: id,
            retry: eventRetry
        )
    }
}
