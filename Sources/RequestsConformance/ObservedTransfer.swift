// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// A transfer of a check, with its handle and a log of its events.
final class ObservedTransfer: Sendable {
    private struct State {
        var log = EventLog()
        var handle: (any TransferHandle)?
        var isCancelled = false
        var isPaused = false
        var duration = Duration.zero
    }

    /// A short description of the request.
    let name: String
    /// The gate that opens when the head arrives.
    let head = Gate()
    /// The gate that opens when the first content arrives.
    let content = Gate()
    /// The gate that opens when the first end event arrives.
    let end = Gate()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// The events so far.
    var log: EventLog { state.withLock { $0.log } }

    /// The time until the first end event was reported, regardless of when the waiting task is resumed.
    var duration: Duration { state.withLock { $0.duration } }

    /// Sends the request, and calls `react` for each event while that is being reported.
    func start(
        _ request: TransportRequest,
        over transport: any HTTPTransport,
        react: @escaping @Sendable (TransferEvent, ObservedTransfer) -> Void
    ) {
        let start = ContinuousClock.now
        let handle = transport.send(request) { [self] event in
            state.withLock { state in
                if case .end = event, !state.log.hasEnded { state.duration = ContinuousClock.now - start }
                state.log.begin(event)
            }
            react(event, self)
            state.withLock { $0.log.finish() }
            switch event {
            case .head: head.open()
            case .data: content.open()
            case .end: end.open()
            case .informational, .sent, .trailers, .metrics: break
            }
        }
        let (isCancelled, isPaused) = state.withLock { state in
            state.handle = handle
            return (state.isCancelled, state.isPaused)
        }
        if isPaused {
            handle.pause()
            // If the check resumed the transfer in the meantime, the transfer may have received the resume before this
            // pause, so repeat it.
            if !state.withLock(\.isPaused) { handle.resume() }
        }
        if isCancelled { handle.cancel() }
    }

    // Events may arrive before `send` has returned the handle. Until then, cancellations and pauses are only recorded,
    // and they are applied as soon as the handle exists.

    func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle
        }
        handle?.cancel()
    }

    func pause() { setPaused(true)?.pause() }
    func resume() { setPaused(false)?.resume() }

    private func setPaused(_ isPaused: Bool) -> (any TransferHandle)? {
        state.withLock { state in
            state.isPaused = isPaused
            return state.handle
        }
    }
}

/// The events of a transfer, which are checked against the ordering rules as they arrive.
struct EventLog: Sendable {
    /// The rules that events violated, one sentence each.
    private(set) var violations: [String] = []
    private(set) var head: HTTPResponseHead?
    private(set) var content = Data()
    private(set) var hasEnded = false
    /// The error of the first end event.
    private(set) var error: RequestError?
    private var names: [(name: String, count: Int)] = []
    private var isDelivering = false
    /// The stage of the transfer: 0 at the start, 1 after the head, 2 after trailers, 3 after metrics, 4 after the end.
    private var stage = 0
    private var sent: Int64 = 0

    /// Records an event when the call that reports it starts.
    mutating func begin(_ event: TransferEvent) {
        let name = event.conformanceName
        if isDelivering { recordViolation("\(name) arrived before the handler of the previous event had returned") }
        isDelivering = true
        if names.last?.name == name { names[names.count - 1].count += 1 } else { names.append((name, 1)) }
        // The metrics of an upgrade may precede its head, because the connection may last for hours.
        if case .head(let response) = event, response.status == .switchingProtocols, head == nil { stage = 0 }
        let (latest, startsNextStage) = event.stages
        if stage > latest {
            recordViolation("\(name) arrived after the \(["head", "trailers", "metrics", "end"][stage - 1])")
        }
        if startsNextStage { stage = max(stage, latest + 1) }
        apply(event)
    }

    /// Records that the call that reports an event has returned.
    mutating func finish() {
        isDelivering = false
    }

    private mutating func apply(_ event: TransferEvent) {
        switch event {
        case .informational(let interim):
            if interim.status.category != .informational {
                recordViolation("\(interim.status) was reported as informational")
            }
        case .sent(let count, let total):
            if count < sent { recordViolation("the number of sent bytes decreased from \(sent) to \(count)") }
            if let total, count > total { recordViolation("\(count) of \(total) bytes were reported as sent") }
            sent = count
        case .head(let response):
            if response.status.category == .informational, response.status != .switchingProtocols {
                recordViolation("\(response.status) was reported as the final head")
            }
            head = head ?? response
        case .data(let data):
            if head == nil { recordViolation("content arrived before the head") }
            if !hasEnded { content += data }
        case .trailers:
            if head == nil { recordViolation("trailers arrived before the head") }
        case .metrics:
            break
        case .end(let error):
            guard !hasEnded else { return }
            (self.error, hasEnded) = (error, true)
            if error == nil, head == nil { recordViolation("the transfer ended without an error and without a head") }
        }
    }

    private mutating func recordViolation(_ sentence: String) {
        if violations.count < 10 { violations.append(sentence) }
    }
}

extension EventLog: CustomStringConvertible {
    /// The names of the events, with a count for consecutive equal events.
    var description: String {
        names.map { $0.count > 1 ? "\($0.name) ×\($0.count)" : $0.name }.joined(separator: ", ")
    }
}

extension TransferEvent {
    /// The latest stage in which the event may occur, and whether it starts the next stage.
    fileprivate var stages: (latest: Int, startsNextStage: Bool) {
        switch self {
        case .informational: (0, false)
        case .head: (0, true)
        case .sent, .data: (1, false)
        case .trailers: (1, true)
        case .metrics: (2, true)
        case .end: (3, true)
        }
    }

    fileprivate var conformanceName: String {
        switch self {
        case .informational(let head): "informational \(head.status.code)"
        case .sent: "sent"
        case .head(let head): "head \(head.status.code)"
        case .data: "data"
        case .trailers: "trailers"
        case .metrics: "metrics"
        case .end(let error): error.map { "end \($0.code)" } ?? "end"
        }
    }
}
