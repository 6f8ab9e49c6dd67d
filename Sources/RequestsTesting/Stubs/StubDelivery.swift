// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// Brings what happens in a stubbed transfer to where a `URLProtocol` may talk to its client.
///
/// Where that is, is Foundation's secret. On Apple platforms it is the thread on which loading began. On Linux it is the
/// queue of the session, which alone may touch the list of its tasks: from another thread the client would read that
/// list while the session changes it. The one way there is to suspend and resume the task, upon which the session asks
/// the protocol on its queue to start loading again; and since the completion handlers there get only the last piece of
/// the content, they are told everything at once.
final class StubDelivery: NSObject, Sendable {
    private let state = Locked(StubDeliveryState())
    #if canImport(ObjectiveC)
    // Foundation doesn't say of a thread that others may have it, though the one call that is made of it is for them.
    private let thread = Locked(Thread.current)
    private var key: String { "Requests.StubDelivery.\(ObjectIdentifier(self).hashValue)" }
    #endif

    /// Takes an event of the transfer, on any thread but that of the client.
    func add(_ event: TransferEvent, of task: URLSessionTask?) {
        #if canImport(ObjectiveC)
        guard state.withLock({ $0.add(event, isWhole: false) }) else { return }
        thread.withLock { perform(#selector(deliver), on: $0, with: nil, waitUntilDone: false) }
        #else
        guard state.withLock({ $0.add(event, isWhole: true) }) else { return }
        task?.suspend()
        task?.resume()
        #endif
    }

    /// What is to be told to the client.
    func take() -> [TransferEvent] { state.withLock { $0.take() } }

    /// Tells nothing any more.
    func stop() { state.withLock { $0.stop() } }

    #if canImport(ObjectiveC)
    /// The protocol, which stays on its thread: its events come to it there.
    var receiver: StubProtocol? {
        get { Thread.current.threadDictionary[key] as? StubProtocol }
        set { Thread.current.threadDictionary[key] = newValue }
    }

    @objc private func deliver() {
        receiver?.deliver()
    }
    #endif
}

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
        case .informational, .sent, .trailers, .metrics:
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
