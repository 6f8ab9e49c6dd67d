// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

extension Transmission {
    // MARK: Events

    /// Reports the transfer to monitors that were added when it was under way, and from now on each of its events.
    ///
    /// Does nothing if the transfer has ended, or is a shared one, which isn't the call's own.
    ///
    /// - Parameters:
    ///   - feed: A feed that doesn't know the transfer.
    ///   - number: Which transfer of the call it is, from 1.
    func catchUp(_ feed: MonitorFeed, number: Int) {
        guard !isShared, state.withLock({ $0.owner != nil }) else { return }
        // Before the transfer itself reports to it: what was never begun doesn't end.
        feed.reportBegin(of: attempt, as: id, number: number)
        let (head, isOver) = state.withLock { state in
            if state.owner != nil { state.feed = feed }
            return (state.head, state.owner == nil)
        }
        if let head { feed.report(head, to: id) }
        if isOver { feed.reportEnd(of: attempt, content: nil, as: id) }
    }

    // MARK: Progress

    /// Reports what has happened before the progress was asked for, and what happens from now on.
    func catchUp(_ progress: ProgressFeeds, of operation: any TransferOwner) {
        let (head, sent, isDirected) = state.withLock { state in
            state.progress = progress
            return (state.head, state.sent, state.receiver != nil || state.received != nil)
        }
        let total = request.body.length
        progress.sent.begin(total: total)
        if sent > 0 { progress.sent.reach(sent, of: total) }
        // Where the content goes elsewhere, how much is there already is known once there is a receiver; it is told then.
        guard keepsContent || isDirected else { return }
        if let head { reportBegin(of: head, to: progress, of: operation) }
    }

    /// Reports that the content of a response begins.
    func reportBegin(of head: HTTPResponseHead, to progress: ProgressFeeds, of operation: any TransferOwner) {
        let (receiver, count) = state.withLock { ($0.receiver, $0.received ?? Int64($0.content.count)) }
        guard operation.claims(head), let offset = receiver.map(\.count) ?? count else {
            return progress.received.rest()
        }
        let start = receiver == nil ? 0 : offset
        progress.received.begin(at: offset, total: request.method == .head ? 0 : head.totalLength(behind: start))
    }
}
