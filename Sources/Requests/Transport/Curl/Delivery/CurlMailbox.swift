// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import Foundation

/// The events of one transfer that its receiver hasn't handled yet.
///
/// If the receiver is slower than the network, the transfer pauses above ``highWater`` bytes, and resumes when the
/// receiver has consumed most of them. This limits the memory use, and TCP backpressure slows down the peer.
struct CurlMailbox: Sendable {
    /// The number of pending bytes above which the transfer pauses.
    static let highWater = 1024 * 1024
    /// The number of pending bytes at which the transfer resumes.
    static let lowWater = 256 * 1024
    /// The approximate overhead of a chunk, which is added to its size.
    ///
    /// With the overhead, the transfer also pauses if the peer sends only single bytes.
    static let overhead = 128

    private var events: [TransferEvent] = []
    /// The events that were put back by a paused receiver; they precede the other events.
    private var heldBack: ArraySlice<TransferEvent> = []
    private var pendingSize = 0
    private var isScheduled = false
    /// Whether the transfer is paused until the receiver has consumed most of the content.
    private(set) var isFull = false
    /// Whether the receiver is being called.
    private var isDelivering = false
    private(set) var isHeld = false
    private var hasEnd = false
    /// Whether the content of the request has new bytes, which the loop may not have noticed yet.
    var isReadable = false
    /// Whether the peer of an upgraded connection sends no more bytes.
    var hasPeerEnded = false

    /// Adds events; returns whether the receiver must be called, and whether the transfer must pause.
    ///
    /// A transfer that has ended never pauses, because its handle may already belong to another transfer.
    mutating func put(_ new: [TransferEvent]) -> (schedule: Bool, pause: Bool) {
        if events.isEmpty { events = new } else { events += new }
        for case .data(let data) in new { pendingSize += data.count + Self.overhead }
        let pauses = !isFull && pendingSize > Self.highWater && !new.hasEnd
        isFull = isFull || pauses
        if new.hasEnd { (isHeld, hasEnd) = (false, true) }
        return (scheduleIfNeeded(), pauses)
    }

    /// Starts or stops holding back events.
    ///
    /// While events are held back, a receiver that has paused its transfer gets no events except the end event. The
    /// transfer itself pauses only when the mailbox is full.
    mutating func hold(_ isHeld: Bool) {
        self.isHeld = isHeld && !hasEnd
    }

    /// Returns whether the receiver must be called for pending events, and marks it as scheduled.
    mutating func scheduleIfNeeded() -> Bool {
        guard !isScheduled, !isHeld, !isEmpty else { return false }
        isScheduled = true
        return true
    }

    private var isEmpty: Bool { heldBack.isEmpty && events.isEmpty }

    /// Whether the peer of an upgraded connection has stopped sending, and the receiver has handled everything that
    /// arrived, so it won't send any more replies.
    var hasUpgradeEnded: Bool { hasPeerEnded && isEmpty && !isDelivering && !isScheduled }

    /// Removes and returns pending events; `nil` if there are none, if they are held back, or if another caller is
    /// delivering events.
    ///
    /// After `nil`, the receiver isn't called until it is scheduled again.
    ///
    /// - Parameter isFirstCall: Whether this is the caller's first call, which checks that no other caller is
    ///   delivering.
    /// - Returns: The events.
    mutating func take(isFirstCall: Bool = false) -> ArraySlice<TransferEvent>? {
        guard !isFirstCall || !isDelivering else { return nil }
        isDelivering = true
        guard !isEmpty, !isHeld else {
            (isScheduled, isDelivering) = (false, false)
            return nil
        }
        guard heldBack.isEmpty else {
            defer { heldBack = [] }
            return heldBack
        }
        defer { events = [] }
        return events[...]
    }

    /// Records that the receiver has consumed a chunk; returns whether the transfer may resume.
    mutating func release(_ count: Int) -> Bool {
        pendingSize -= count + Self.overhead
        guard isFull, pendingSize <= Self.lowWater else { return false }
        isFull = false
        return true
    }

    /// Puts back the remaining events, if there are any and the receiver has paused the transfer; returns whether it
    /// did.
    mutating func putBack(_ rest: ArraySlice<TransferEvent>) -> Bool {
        guard isHeld, !rest.isEmpty else { return false }
        self.heldBack = rest
        return true
    }
}

extension BidirectionalCollection<TransferEvent> {
    /// Whether the last event is the end of the transfer.
    var hasEnd: Bool {
        if case .end? = last { true } else { false }
    }
}

// MARK: - Events of the loop

/// The events of a transfer that the loop hasn't published yet.
struct CurlEvents: Sendable {
    /// The maximum size of one event, unless libcurl delivers more in one call.
    private static let maximumChunkSize = 128 * 1024
    /// The size of libcurl's receive buffer.
    ///
    /// A full buffer means that more content probably follows.
    private static let curlBufferSize = 16 * 1024

    private var events: [TransferEvent] = []
    /// The number of content bytes in the pending events.
    private var contentSize = 0
    private let isStreamed: Bool
    /// Whether the end has been reported.
    ///
    /// libcurl may call back once more before its handle is removed.
    private var hasEnded = false

    /// - Parameter isStreamed: Whether the content is streamed rather than kept in memory, and so may be large.
    init(isStreamed: Bool) {
        self.isStreamed = isStreamed
    }

    var isEmpty: Bool { events.isEmpty }

    /// Whether the events contain more content than a mailbox may hold.
    var isFull: Bool { contentSize > CurlMailbox.highWater }

    mutating func append(_ event: TransferEvent) {
        guard !hasEnded else { return }
        if case .end = event { hasEnded = true }
        // Enough for a small response, whose head, content, metrics and end arrive together.
        if events.isEmpty { events.reserveCapacity(4) }
        events.append(event)
    }

    /// Appends a copy of content, merged with the previous content.
    ///
    /// libcurl delivers small parts. Without merging, each of them would be a separate event, and a separate write to a
    /// file.
    mutating func append(content bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, !hasEnded else { return }
        contentSize += bytes.count
        if case .data(var data)? = events.last, data.count + bytes.count <= Self.maximumChunkSize {
            // Removed from the array first, so that appending doesn't copy the data.
            events.removeLast()
            data.append(contentsOf: bytes)
            return events.append(.data(data))
        }
        var data = Data()
        if isStreamed, bytes.count == Self.curlBufferSize { data.reserveCapacity(Self.maximumChunkSize) }
        data.append(contentsOf: bytes)
        events.append(.data(data))
    }

    /// Removes and returns all events; `nil` if there are none.
    mutating func take() -> [TransferEvent]? {
        guard !events.isEmpty else { return nil }
        defer { (events, contentSize) = ([], 0) }
        return events
    }
}
#endif
