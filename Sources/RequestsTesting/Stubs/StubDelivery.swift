// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Moves the events of a stubbed transfer to where a `URLProtocol` may call its client.
///
/// Foundation doesn't document where that is. On Apple platforms it is the thread on which loading began. On Linux it
/// is the queue of the session, which alone may access the list of its tasks: from another thread, the client would
/// read that list while the session changes it. The only way there is to suspend and resume the task: the session then
/// asks the protocol on its queue to start loading again. Since completion handlers get only the last piece of the
/// content there, all events are delivered at once.
final class StubDelivery: NSObject, Sendable {
    private let state = Locked(StubDeliveryState())
    #if canImport(ObjectiveC)
    // `Thread` isn't `Sendable`, though the only call that is made here is meant for other threads.
    private let thread = Locked(Thread.current)
    private var key: String { "Requests.StubDelivery.\(ObjectIdentifier(self).hashValue)" }
    #endif

    /// Adds an event of the transfer, on any thread but the client's.
    func add(_ event: TransferEvent, of task: URLSessionTask?) {
        #if canImport(ObjectiveC)
        guard state.withLock({ $0.add(event, buffersContent: false) }) else { return }
        thread.withLock { perform(#selector(deliver), on: $0, with: nil, waitUntilDone: false) }
        #else
        guard state.withLock({ $0.add(event, buffersContent: true) }) else { return }
        task?.suspend()
        task?.resume()
        #endif
    }

    /// Takes the events that are due for the client.
    func takeDueEvents() -> [TransferEvent] { state.withLock { $0.takeDueEvents() } }

    /// Stops the delivery of events.
    func stop() { state.withLock { $0.stop() } }

    #if canImport(ObjectiveC)
    /// The protocol, which stays on its thread and receives its events there.
    var receiver: StubProtocol? {
        get { Thread.current.threadDictionary[key] as? StubProtocol }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    @objc private func deliver() {
        receiver?.deliver()
    }
    #endif
}

/// The events that a `URLProtocol` hasn't passed to its client yet.
struct StubDeliveryState {
    private var pending: [TransferEvent] = []
    /// The content that is delivered as a whole; appended to, since there may be very many pieces.
    private var content = Data()
    private var isStopped = false
    /// Whether pending events may be delivered, since a resumed task asks for them at any time.
    private var isDue = false

    /// Adds an event; returns whether the client is to be notified now.
    ///
    /// If events are delivered as a whole, that is at the end.
    mutating func add(_ event: TransferEvent, buffersContent: Bool) -> Bool {
        guard !isStopped else { return false }
        switch event {
        case .informational, .sent, .trailers, .metrics:
            return false
        case .data(let data):
            guard buffersContent else { break }
            content += data
            return false
        case .head: break
        case .end:
            if !content.isEmpty { pending.append(.data(content)) }
        }
        pending.append(event)
        if case .end = event { isDue = true }
        if !buffersContent { isDue = true }
        return isDue
    }

    /// Takes the events that are due now; returns nothing after a stop.
    mutating func takeDueEvents() -> [TransferEvent] {
        guard isDue, !isStopped else { return [] }
        defer { (pending, content) = ([], Data()) }
        return pending
    }

    /// Stops the delivery of events.
    mutating func stop() {
        isStopped = true
        (pending, content) = ([], Data())
    }
}
