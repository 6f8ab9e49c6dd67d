// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

extension Transfer {
    /// The observers of a transfer.
    struct Audience: Sendable {
        var observers: [any OperationObserver] = []
        /// The number of the transfer in its operation; `nil` for a shared transfer, because the operation that sends
        /// it reports its events.
        var number: Int?

        /// Adds the observers that the operation had when the transfer began.
        mutating func begin(with first: [any OperationObserver], as number: Int?) {
            // Another thread may have added observers in the meantime, including some of these.
            observers.removeAll { late in first.contains { $0 === late } }
            observers = first + observers
            self.number = number
        }

        /// Returns an audience with only the given observers, for events that the other observers must not receive.
        func limited(to observers: [any OperationObserver]) -> Audience {
            Audience(observers: observers, number: number)
        }
    }

    /// Adds an observer to the transfer, and reports to it what has happened so far.
    func add(_ observer: any OperationObserver, of operation: AnyRequestOperation) {
        let number = operation.record.unsharedTransfers.first { $0.transfer === self }?.number
        let audience = Audience(observers: [observer], number: number)
        // Report the beginning first, before the transfer itself reports to the observer. A transfer that has never
        // begun must not be reported as ended.
        let isRunning = state.withLock { $0.owner != nil }
        if isRunning { reportBeginning(to: audience) }
        let current = state.withLock { state in
            if state.owner != nil, !state.audience.observers.contains(where: { $0 === observer }) {
                state.audience.observers.append(observer)
                state.audience.number = number
            }
            return state
        }
        report(.uploaded(current.sentByteCount, of: request.body.length), to: audience)
        if let head = current.head {
            report({ .responseStarted(head, $0) }, to: audience)
            // If the content isn't collected in memory, the number of bytes from earlier transfers is unknown until
            // there is a receiver.
            if keepsContent || current.receiver != nil || current.receivedByteCount != nil {
                reportContent(of: head, to: audience, operation)
            }
        }
        if isRunning, current.owner == nil { reportEnd(to: audience) }
    }

    /// Reports an event that both observers and monitors receive.
    func report(_ event: (OperationEvent.Transfer) -> OperationEvent, to audience: Audience) {
        guard let number = audience.number, !audience.observers.isEmpty else { return }
        let event = event(OperationEvent.Transfer(number: number, cause: cause, request: request))
        for observer in audience.observers { observer.observe(event) }
    }

    /// Reports a step that observers receive, but monitors don't.
    func report(_ step: OperationStep, to audience: Audience) {
        for observer in audience.observers { observer.observe(step) }
    }

    func reportBeginning(to audience: Audience) {
        report({ .transferStarted($0) }, to: audience)
        report(.uploadBegan(total: request.body.length), to: audience)
    }

    /// Reports that the transfer has ended.
    ///
    /// - Parameters:
    ///   - content: The content, if it is in memory.
    ///   - audience: The observers.
    func reportEnd(with content: Data? = nil, to audience: Audience) {
        report(
            { transfer in
                var record = record
                record.content = content
                return .transferEnded(transfer, record)
            },
            to: audience
        )
    }

    /// Reports that the content of a response has begun.
    func reportContent(of head: HTTPResponseHead, to audience: Audience, _ operation: AnyRequestOperation) {
        let (receiver, count) = state.withLock { ($0.receiver, $0.receivedByteCount ?? Int64($0.content.count)) }
        guard operation.handling.acceptsHead(head), let offset = receiver.map(\.count) ?? count else {
            return report(.downloadIgnored, to: audience)
        }
        let total = request.method == .head ? 0 : head.totalLength(after: receiver == nil ? 0 : offset)
        report(.downloadBegan(offset: offset, total: total), to: audience)
    }
}
