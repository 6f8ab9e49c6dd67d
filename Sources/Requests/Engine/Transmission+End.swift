// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Transmission {
    /// The references and facts with which a transfer reports its end, and which it doesn't keep itself.
    struct End: Sendable {
        let owner: CallAttempt
        let waiter: UnsafeContinuation<HTTPResponse<ResponseContent>, any Error>?
        let receiver: (any ContentReceiver)?
        let passed: PassedContent?
        let feed: MonitorFeed?
        /// These are only released, outside of the lock.
        let others: (CoalescedTransfer?, HeadObserver?, ProgressFeeds?)
        let head: HTTPResponseHead?
        let error: RequestError?
        let content: Data
        let isCut: Bool
        let isCancelled: Bool
        let isOnly: Bool
    }
}

extension Transmission.State {
    /// Records the end of the transfer, and returns what is to be reported; `nil` if it has ended before.
    ///
    /// - Parameters:
    ///   - reported: The error that the transport has reported.
    ///   - request: The request of the transfer.
    /// - Returns: The end.
    mutating func end(_ reported: RequestError?, of request: HTTPRequest) -> Transmission.End? {
        guard let owner = owner.take() else { return nil }
        // Content after a cancellation was dropped: then the rest is no answer.
        let cancelled = isCancelled ? RequestError(.cancelled, phase: .receiving) : nil
        if passed != nil, reported != nil, !isCancelled { isCut = true }
        let failure = isCut ? nil : self.failure ?? reported ?? cancelled
        error = failure?.explained(byTimeout: request.timeout ?? owner.timeout)
        if metrics.end == nil { metrics.end = time.elapsed }
        received = receiver.map { $0.count } ?? Int64(content.count)
        let given = content
        // The answer owns the content now, or else the error.
        if reported == nil { content = Data() }
        return Transmission.End(
            owner: owner,
            waiter: waiter.take(),
            receiver: receiver.take(),
            passed: passed,
            feed: feed.take(),
            others: (shared.take(), heads.take(), progress.take()),
            head: head,
            error: error,
            content: given,
            isCut: isCut,
            isCancelled: isCancelled,
            isOnly: isOnly
        )
    }
}
