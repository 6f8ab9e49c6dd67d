// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Delivers the events of a stubbed transfer on the thread or queue on which a `URLProtocol` may call its client.
///
/// Foundation doesn't document which thread or queue that is. On Apple platforms, it is the thread on which loading
/// began. On Linux, it is the session's queue, because only that queue may access the session's list of tasks. From
/// another thread, the client would read the list while the session changes it.
///
/// The only way to get to that queue is to suspend and resume the task. The session then calls `startLoading()` of the
/// protocol again, on its queue. On Linux, a completion handler receives only the content that was delivered last, so
/// all events are delivered together at the end.
final class StubDelivery: NSObject, Sendable {
    private let state = Locked(StubDeliveryState())
    #if canImport(ObjectiveC)
    // `Thread` isn't `Sendable`, but `perform(_:on:with:waitUntilDone:)`, the only method that is called here, may be
    // called from other threads.
    private let thread = Locked(Thread.current)
    private var key: String { "Requests.StubDelivery.\(ObjectIdentifier(self).hashValue)" }
    #endif

    /// Adds an event of the transfer; may be called on any thread except the client's.
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

    /// Removes and returns the events that are due for the client.
    func takeDueEvents() -> [TransferEvent] { state.withLock { $0.takeDueEvents() } }

    /// Stops the delivery of events.
    func stop() { state.withLock { $0.stop() } }

    #if canImport(ObjectiveC)
    /// The protocol that receives the events, stored in the thread's dictionary so that it never leaves its thread.
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
    /// The buffered content for a single event; it is concatenated here, because there may be very many fragments.
    private var content = Data()
    private var isStopped = false
    /// Whether pending events may be delivered.
    ///
    /// The flag is needed because a task that is resumed for another reason may request them before they are complete.
    private var mayDeliver = false

    /// Adds an event; returns whether the client must be notified now.
    ///
    /// If the content is buffered, the client is notified only at the end.
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
        if case .end = event { mayDeliver = true }
        if !buffersContent { mayDeliver = true }
        return mayDeliver
    }

    /// Removes and returns the events that are due; returns nothing after a stop.
    mutating func takeDueEvents() -> [TransferEvent] {
        guard mayDeliver, !isStopped else { return [] }
        defer { (pending, content) = ([], Data()) }
        return pending
    }

    /// Stops the delivery of events.
    mutating func stop() {
        isStopped = true
        (pending, content) = ([], Data())
    }
}
