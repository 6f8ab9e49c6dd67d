// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a `URLProtocol` has still to tell its client.
struct StubDeliveryState {
    private var pending: [TransferEvent] = []
    private var isStopped = false
    /// Whether what is pending may be told: a task that is resumed asks for it at any time.
    private var isDue = false

    /// Takes an event; returns whether the client is to be told now.
    ///
    /// Where it is told the whole, that is at the end.
    mutating func add(_ event: TransferEvent, isWhole: Bool) -> Bool {
        guard !isStopped else { return false }
        switch event {
        case .informational, .sent, .metrics:
            return false
        case .data(let data):
            guard isWhole, case .data(let last)? = pending.last else { break }
            pending[pending.count - 1] = .data(last + data)
            return false
        case .head, .end:
            break
        }
        pending.append(event)
        if case .end = event { isDue = true }
        if !isWhole { isDue = true }
        return isDue
    }

    /// What is to be told now; nothing after a stop.
    mutating func take() -> [TransferEvent] {
        guard isDue, !isStopped else { return [] }
        defer { pending = [] }
        return pending
    }

    /// Tells nothing any more.
    mutating func stop() {
        isStopped = true
        pending = []
    }
}
