// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A step of a transfer, for the features of its operation.
enum TransferReport: Sendable {
    /// It is about to be sent, as the transfer of the run with this number.
    case began(number: Int)
    /// A number of content bytes have been sent, of the given total, if that is known.
    case sent(Int64, of: Int64?)
    /// A response before the final one was received.
    case informational(HTTPResponseHead)
    /// The response began.
    case head(HTTPResponseHead)
    /// Its content begins, with bytes that were there before, of the given total; `nil` if the bytes don't count.
    case content((offset: Int64, total: Int64?)?)
    /// This is the byte count of the content so far.
    case received(Int64)
    /// Fields behind the content were received.
    case trailers(HTTPHeaders)
    /// It is over; the content is there if it is in memory.
    case ended(content: Data?)
}

extension Transfer {
    /// Lets a feature observe the transfer from now on; first it learns what has happened so far.
    ///
    /// - Parameters:
    ///   - observer: The feature.
    ///   - number: The number of the transfer in its run.
    ///   - operation: The operation.
    func add(_ observer: any OperationObserver, number: Int, of operation: AnyRequestOperation) {
        // Before the transfer itself reports to it: a transfer that never began doesn't end.
        let isRunning = state.withLock { $0.owner != nil }
        if isRunning { report(.began(number: number), to: [observer]) }
        let present = state.withLock { state in
            if state.owner != nil, !state.observers.contains(where: { $0 === observer }) {
                state.observers.append(observer)
            }
            return state
        }
        report(.sent(present.sent, of: request.body.length), to: [observer])
        if let head = present.head {
            report(.head(head), to: [observer])
            // Where the content goes elsewhere, the bytes that were there before are known once there is a receiver.
            if keepsContent || present.receiver != nil || present.received != nil {
                reportContent(of: head, to: [observer], operation)
            }
        }
        if isRunning, present.owner == nil { report(.ended(content: nil), to: [observer]) }
    }

    func report(_ report: TransferReport) {
        self.report(report, to: state.withLock { $0.audience })
    }

    func report(_ report: TransferReport, to observers: [any OperationObserver]) {
        for observer in observers { observer.observe(.transfer(report, self)) }
    }

    /// Reports that the content of a response begins.
    func reportContent(
        of head: HTTPResponseHead,
        to observers: [any OperationObserver],
        _ operation: AnyRequestOperation
    ) {
        let (receiver, count) = state.withLock { ($0.receiver, $0.received ?? Int64($0.content.count)) }
        guard operation.handling.acceptsHead(head), let offset = receiver.map(\.count) ?? count else {
            return report(.content(nil), to: observers)
        }
        let total = request.method == .head ? 0 : head.totalLength(behind: receiver == nil ? 0 : offset)
        report(.content((offset, total)), to: observers)
    }
}
