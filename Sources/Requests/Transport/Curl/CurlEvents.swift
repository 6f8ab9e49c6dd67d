// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The events of a transfer since it was last published.
struct CurlEvents: Sendable {
    /// The largest size of one event, unless libcurl gives more at once.
    private static let largestPiece = 128 * 1024
    /// The byte count that libcurl delivers at once if there is more.
    private static let fullPart = 16 * 1024

    private var events: [TransferEvent] = []
    /// The number of bytes of content among the events.
    private var contentSize = 0
    private let isStreamed: Bool
    /// Whether the end has been reported: libcurl may call once more before a handle is taken from it.
    private var hasEnded = false

    /// - Parameter isStreamed: Whether much content may come, which isn't kept.
    init(isStreamed: Bool) {
        self.isStreamed = isStreamed
    }

    /// Whether there is more content than a mailbox holds.
    var isFull: Bool { contentSize > CurlMailbox.highWater }

    mutating func append(_ event: TransferEvent) {
        guard !hasEnded else { return }
        if case .end = event { hasEnded = true }
        // The head, content, metrics and the end of a small answer come together.
        if events.isEmpty { events.reserveCapacity(4) }
        events.append(event)
    }

    /// Copies a piece of content.
    ///
    /// libcurl hands out what it has read in small parts, each of which would be an event, and a write to a file.
    mutating func append(content bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, !hasEnded else { return }
        contentSize += bytes.count
        if case .data(var data)? = events.last, data.count + bytes.count <= Self.largestPiece {
            // Out of the array first, so that it isn't copied when it grows.
            events.removeLast()
            data.append(contentsOf: bytes)
            return events.append(.data(data))
        }
        var data = Data()
        if isStreamed, bytes.count == Self.fullPart { data.reserveCapacity(Self.largestPiece) }
        data.append(contentsOf: bytes)
        events.append(.data(data))
    }

    /// Takes all events; `nil` if it is empty.
    mutating func take() -> [TransferEvent]? {
        guard !events.isEmpty else { return nil }
        defer { (events, contentSize) = ([], 0) }
        return events
    }
}
#endif
