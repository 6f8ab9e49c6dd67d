// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a `URLProtocol` has still to tell its client.
struct StubDeliveryState {
    private var pending: [TransferEvent] = []
    /// The content of what is told as a whole, which grows in its place: of pieces there may be very many.
    private var content = Data()
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
            guard isWhole else { break }
            content += data
            return false
        case .head: break
        case .end:
            if !content.isEmpty { pending.append(.data(content)) }
        }
        pending.append(event)
        if case .end = event { isDue = true }
        if !isWhole { isDue = true }
        return isDue
    }

    /// What is to be told now; nothing after a stop.
    mutating func take() -> [TransferEvent] {
        guard isDue, !isStopped else { return [] }
        defer { (pending, content) = ([], Data()) }
        return pending
    }

    /// Tells nothing any more.
    mutating func stop() {
        isStopped = true
        (pending, content) = ([], Data())
    }
}
