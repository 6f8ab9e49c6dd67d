// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The events of one transfer that its receiver hasn't taken yet, and how far the transfer is ahead of it.
///
/// A receiver that is slower than the network has the transfer paused when so much content waits, and resumed when most
/// of it is taken: memory stays flat, and the peer's socket fills up instead.
struct CurlMailbox: Sendable {
    /// How many bytes may wait before the transfer pauses.
    static let highWater = 1024 * 1024
    /// How few must be left before it goes on.
    static let lowWater = 256 * 1024
    /// What a piece of content takes besides its bytes, about: a peer that sends them one at a time has that pause, too.
    static let overhead = 128

    private var events: [TransferEvent] = []
    private var waiting = 0
    private var isScheduled = false
    private var isFull = false
    /// Whether the receiver is being called.
    private var isOpen = false
    private(set) var isHeld = false
    private var wish = PauseWish()
    private var hasEnd = false

    /// Puts events in; says whether the receiver has to be called, and whether the transfer has to pause.
    ///
    /// One that has ended never has to: its handle is another's by now.
    mutating func put(_ new: [TransferEvent]) -> (schedule: Bool, pause: Bool) {
        if events.isEmpty { events = new } else { events += new }
        for case .data(let data) in new { waiting += data.count + Self.overhead }
        let pauses = !isFull && waiting > Self.highWater && !new.hasEnd
        isFull = isFull || pauses
        if new.hasEnd { (isHeld, hasEnd) = (false, true) }
        return (wake(), pauses)
    }

    /// Holds back what waits, or no longer.
    ///
    /// A receiver that has paused its transfer gets nothing more from here, and the transfer pauses when the mailbox is
    /// full. The end of a transfer is never held back.
    mutating func hold(_ isHeld: Bool) {
        self.isHeld = isHeld && !hasEnd
    }

    /// Holds back what waits, or no longer, unless a later wish is known; says whether it isn't.
    mutating func follow(_ wish: PauseWish) -> Bool {
        guard self.wish.update(to: wish) else { return false }
        hold(wish.isPaused)
        return true
    }

    /// Returns whether the receiver has to be called for what waits.
    mutating func wake() -> Bool {
        guard !isScheduled, !isHeld, !events.isEmpty else { return false }
        isScheduled = true
        return true
    }

    /// Begins to call the receiver; false if that is being done.
    mutating func enter() -> Bool {
        guard !isOpen else { return false }
        isOpen = true
        return true
    }

    /// Takes all that is there; nil where there is nothing, and the receiver isn't called until there is.
    mutating func take() -> [TransferEvent]? {
        guard !events.isEmpty, !isHeld else {
            (isScheduled, isOpen) = (false, false)
            return nil
        }
        defer { events = [] }
        return events
    }

    /// Notes that the receiver is done with a piece of content; says whether the transfer may go on.
    mutating func release(_ count: Int) -> Bool {
        waiting -= count + Self.overhead
        guard isFull, waiting <= Self.lowWater else { return false }
        isFull = false
        return true
    }

    /// Takes back what comes behind a piece of content that has had the receiver pause; says whether it did.
    mutating func takeBack(_ rest: ArraySlice<TransferEvent>) -> Bool {
        guard isHeld, !rest.isEmpty else { return false }
        events = rest + events
        return true
    }
}

extension [TransferEvent] {
    fileprivate var hasEnd: Bool {
        if case .end? = last { true } else { false }
    }
}
#endif
