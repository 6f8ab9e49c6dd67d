// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// What one task of a session has done so far: turns what `URLSession` says into the events that a transport owes.
struct SessionTransferState {
    /// Why a transfer was ended from this side.
    enum Stop: Sendable {
        /// It was cancelled.
        case cancelled
        /// It was silent for too long.
        case timedOut
        /// The server can't be trusted, or doesn't trust this side.
        case distrusted(Distrust)
    }

    private enum Phase {
        case awaitingHead
        case receiving
        case ended
    }

    private var phase = Phase.awaitingHead
    private var stopped: Stop?
    private var hasRejectedChallenge = false

    /// Whether neither side has ended the transfer.
    var isRunning: Bool { phase != .ended && stopped == nil }

    /// Whether no final head was told.
    var awaitsHead: Bool { phase == .awaitingHead }

    /// Ends the transfer from this side; false where it has ended.
    mutating func stop(_ reason: Stop) -> Bool {
        guard isRunning else { return false }
        stopped = reason
        return true
    }

    mutating func receive(_ head: HTTPResponseHead) -> TransferEvent? {
        guard isRunning, phase == .awaitingHead else { return nil }
        guard head.status.category != .informational else { return .informational(head) }
        phase = .receiving
        return .head(head)
    }

    mutating func receive(_ data: Data) -> TransferEvent? {
        isRunning && phase == .receiving && !data.isEmpty ? .data(data) : nil
    }

    mutating func sent(_ count: Int64, of total: Int64) -> TransferEvent? {
        isRunning ? .sent(count, of: total > 0 ? total : nil) : nil
    }

    /// A challenge was rejected, which `URLSession` turns into a cancellation; the response is there all the same.
    mutating func rejectChallenge() {
        hasRejectedChallenge = true
    }

    mutating func complete(_ error: (any Error)?, head: HTTPResponseHead?) -> [TransferEvent] {
        guard phase != .ended else { return [] }
        defer { phase = .ended }
        let errorPhase: RequestError.Phase = phase == .receiving ? .receiving : .sending
        switch stopped {
        case .cancelled: return [.end(RequestError(.cancelled, phase: errorPhase))]
        case .timedOut: return [.end(RequestError(.timedOut, phase: errorPhase, underlying: URLError(.timedOut)))]
        case .distrusted(let distrust): return [.end(RequestError(distrust, phase: errorPhase))]
        case nil: break
        }
        if let error, !hasRejectedChallenge {
            return [.end(RequestError(sessionError: error, phase: errorPhase))]
        }
        guard phase == .awaitingHead else { return [.end(nil)] }
        guard let head else {
            return [.end(RequestError(.badResponse, phase: .receiving, reason: "the response isn't one of HTTP"))]
        }
        return [.head(head), .end(nil)]
    }
}
