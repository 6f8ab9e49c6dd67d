// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// What a `URLProtocol` has still to tell its client.
struct StubDeliveryState {
    private var pending: [TransferEvent] = []
    private var isStopped = false

    /// Takes an event; returns whether the client is to be told now.
    ///
    /// - Parameter isWhole: Whether nothing is told before everything is there.
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
        guard isWhole else { return true }
        if case .end = event { return true }
        return false
    }

    /// What is to be told; nothing after a stop.
    mutating func take() -> [TransferEvent] {
        defer { pending = [] }
        return isStopped ? [] : pending
    }

    /// Tells nothing any more.
    mutating func stop() {
        isStopped = true
        pending = []
    }
}
