// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Transfer {
    /// The phase of a transfer.
    enum Phase: Sendable {
        /// Waiting for the response, or collecting the content in memory.
        case receiving
        /// Passing the content to a receiver.
        case delivering(any ContentReceiver)
        /// Reading only the beginning of a redirect's or an error's content, up to a byte count, until the timer fires.
        case readingPrefix(Int, DelayedAction?)
        /// Ended.
        case ended
    }

    /// The reason why the transfer stops reading.
    enum StopReason: Sendable {
        /// The beginning of the content is enough, because the content belongs to an error or to a redirect.
        case truncated
        /// The content can't be used.
        case failed(RequestError)
        /// The transfer was cancelled.
        case cancelled
    }

    struct State: Sendable {
        var phase = Phase.receiving
        var stop: StopReason?
        // Set to `nil` when the transfer ends, because a response retains the transfer, and may be kept for a long
        // time.
        /// The attempt that the transfer belongs to; `nil` after the end of the transfer.
        var owner: Attempt?
        var headObserver: HeadObserver?
        var audience = Audience()
        var head: HTTPResponseHead?
        var metrics = TransferRecord.Metrics()
        /// The error of the transfer.
        var error: RequestError?
        var content = Data()
        /// The number of body bytes sent.
        var sentByteCount: Int64 = 0
        /// The byte count of the received content, once the transfer has ended.
        var receivedByteCount: Int64?
        /// Whether the content was delivered to a receiver instead of being collected in memory.
        var isDelivered = false
        /// Whether the run is known to have no other transfer.
        var isOnlyTransfer: Bool

        /// Whether the transfer still accepts content.
        var acceptsContent: Bool {
            switch phase {
            case .ended: false
            case .receiving, .delivering, .readingPrefix: stop == nil
            }
        }

        var isCancelled: Bool {
            if case .cancelled = stop { true } else { false }
        }
    }
}

extension Transfer.State {
    /// Records the end of the transfer.
    ///
    /// - Parameters:
    ///   - reported: The error that the transport has reported.
    ///   - request: The request of the transfer.
    ///   - delivered: The byte count of content that was delivered to a receiver.
    ///   - time: The time since the transfer was created.
    /// - Returns: The state before the end, the error of the transfer, and whether only the beginning of the content
    ///   was read; `nil` if the transfer had already ended.
    mutating func end(
        _ reported: RequestError?,
        of request: HTTPRequest,
        _ delivered: Int64?,
        at time: Duration
    ) -> (previous: Transfer.State, error: RequestError?, isTruncated: Bool)? {
        guard let owner else { return nil }
        let previous = self
        var isTruncated = false
        var failure = reported
        switch (stop, phase) {
        // Content after a cancellation was dropped, so the response is incomplete even if the transport reports
        // success.
        case (.cancelled, _): failure = reported ?? RequestError(.cancelled, phase: .receiving)
        case (.failed(let error), _): failure = error
        case (.truncated, _): isTruncated = true
        case (nil, .readingPrefix): isTruncated = reported != nil
        case (nil, _): break
        }
        error = isTruncated ? nil : failure?.explained(byTimeout: request.timeout ?? owner.configuration.timeout)
        if metrics.end == nil { metrics.end = time }
        receivedByteCount = previous.receiver == nil ? Int64(content.count) : delivered
        // The response owns the content now; after an error of the transport, the content is kept for that error.
        if reported == nil { content = Data() }
        (phase, self.owner, headObserver, audience) = (.ended, nil, nil, Transfer.Audience())
        return (previous, error, isTruncated)
    }

    /// The receiver of the content; `nil` if the content isn't being passed to a receiver.
    var receiver: (any ContentReceiver)? {
        if case .delivering(let receiver) = phase { receiver } else { nil }
    }
}
