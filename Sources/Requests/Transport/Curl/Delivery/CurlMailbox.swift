// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The events of one transfer that its receiver hasn't taken yet.
///
/// If the receiver is slower than the network, the transfer pauses when ``highWater`` bytes wait, and resumes when most
/// of them are taken. Memory stays constant, and the peer's socket fills up instead.
struct CurlMailbox: Sendable {
    /// The number of waiting bytes above which the transfer pauses.
    static let highWater = 1024 * 1024
    /// The number of waiting bytes below which it resumes.
    static let lowWater = 256 * 1024
    /// The approximate size of a piece of content besides its bytes, so that a peer that sends single bytes is paused
    /// as well.
    static let overhead = 128

    private var events: [TransferEvent] = []
    /// The events that were taken, and held back, before the others.
    private var rest: ArraySlice<TransferEvent> = []
    private var waiting = 0
    private var isScheduled = false
    /// Whether the transfer is paused until the receiver has consumed most of its content.
    private(set) var isFull = false
    /// Whether the receiver is being called.
    private var isOpen = false
    private(set) var isHeld = false
    private var hasEnd = false
    /// Whether the content of the request has bytes again, which the loop may not know yet.
    var isReadable = false
    /// Whether the peer of an upgraded connection sends nothing more.
    var isUnwatched = false

    /// Adds events; returns whether the receiver has to be called, and whether the transfer has to pause.
    ///
    /// A transfer that has ended never pauses: its handle is already used by another.
    mutating func put(_ new: [TransferEvent]) -> (schedule: Bool, pause: Bool) {
        if events.isEmpty { events = new } else { events += new }
        for case .data(let data) in new { waiting += data.count + Self.overhead }
        let pauses = !isFull && waiting > Self.highWater && !new.hasEnd
        isFull = isFull || pauses
        if new.hasEnd { (isHeld, hasEnd) = (false, true) }
        return (wake(), pauses)
    }

    /// Holds back the waiting events, or no longer.
    ///
    /// A receiver that has paused its transfer gets no more events, and the transfer pauses when the mailbox is full.
    /// The end of a transfer is never held back.
    mutating func hold(_ isHeld: Bool) {
        self.isHeld = isHeld && !hasEnd
    }

    /// Returns whether the receiver has to be called for the waiting events.
    mutating func wake() -> Bool {
        guard !isScheduled, !isHeld, !isEmpty else { return false }
        isScheduled = true
        return true
    }

    private var isEmpty: Bool { rest.isEmpty && events.isEmpty }

    /// Whether the receiver has taken all that the peer of an upgraded connection has sent, and has no more answers.
    var endsContent: Bool { isUnwatched && isEmpty && !isOpen && !isScheduled }

    /// Takes waiting events; `nil` if there is nothing to take, and the receiver isn't called until there are.
    ///
    /// - Parameter isFirst: Whether the caller begins to call the receiver, which only one does at a time.
    /// - Returns: The events.
    mutating func take(isFirst: Bool = false) -> ArraySlice<TransferEvent>? {
        guard !isFirst || !isOpen else { return nil }
        isOpen = true
        guard !isEmpty, !isHeld else {
            (isScheduled, isOpen) = (false, false)
            return nil
        }
        guard rest.isEmpty else {
            defer { rest = [] }
            return rest
        }
        defer { events = [] }
        return events[...]
    }

    /// Records that the receiver has consumed a piece of content; returns whether the transfer may resume.
    mutating func release(_ count: Int) -> Bool {
        waiting -= count + Self.overhead
        guard isFull, waiting <= Self.lowWater else { return false }
        isFull = false
        return true
    }

    /// Takes back the events behind a piece of content that made the receiver pause; returns whether it did.
    mutating func putBack(_ rest: ArraySlice<TransferEvent>) -> Bool {
        guard isHeld, !rest.isEmpty else { return false }
        self.rest = rest
        return true
    }
}

extension BidirectionalCollection<TransferEvent> {
    /// Whether the transfer ends with the events.
    var hasEnd: Bool {
        if case .end? = last { true } else { false }
    }
}

// MARK: - The side of the loop

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

    var isEmpty: Bool { events.isEmpty }

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

    /// Takes all events; `nil` if there are none.
    mutating func take() -> [TransferEvent]? {
        guard !events.isEmpty else { return nil }
        defer { (events, contentSize) = ([], 0) }
        return events
    }
}
#endif
