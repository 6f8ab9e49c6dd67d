// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What tells of the progress of one operation; made when somebody first asks.
final class ProgressFeeds: Sendable {
    /// The content of the response.
    let received: ProgressFeed
    /// The content of the request.
    let sent: ProgressFeed
    private let made = Locked<(received: Progress?, sent: Progress?)>((nil, nil))

    init(clock: any Clock<Duration>) {
        received = ProgressFeed(clock: clock)
        sent = ProgressFeed(clock: clock)
    }

    /// The operation is over.
    func end(isWhole: Bool) {
        sent.end(isWhole: isWhole)
        received.end(isWhole: isWhole)
    }

    /// The one object that follows a feed; made by `make` where there is none.
    func progress(of direction: TransferDirection, make: () -> Progress) -> Progress {
        let new = make()
        let (progress, isNew) = made.withLock { made in
            let known = direction == .upload ? made.sent : made.received
            if let known { return (known, false) }
            if direction == .upload { made.sent = new } else { made.received = new }
            return (new, true)
        }
        if isNew { self[direction].observe { progress.follow($0) } }
        return progress
    }

    subscript(direction: TransferDirection) -> ProgressFeed { direction == .upload ? sent : received }
}

extension Progress {
    /// Takes over what a feed tells.
    fileprivate func follow(_ progress: TransferProgress?) {
        guard let progress else { return }
        // Of nothing, Foundation makes no progress that could be finished.
        guard progress.total != 0 else {
            totalUnitCount = 1
            completedUnitCount = 1
            return
        }
        totalUnitCount = progress.total ?? -1
        completedUnitCount = progress.completed
    }
}
