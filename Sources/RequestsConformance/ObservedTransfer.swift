// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// One transfer of a check, with its recorded events and its handle.
final class ObservedTransfer: Sendable {
    private struct State {
        var log = EventLog()
        var handle: (any TransferHandle)?
        var isCancelled = false
        var isPaused = false
        var duration = Duration.zero
    }

    /// The request in a few words.
    let name: String
    /// Opens with the head.
    let head = Gate()
    /// Opens with the first content.
    let content = Gate()
    /// Opens with the first end.
    let end = Gate()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// The events that were reported so far.
    var log: EventLog { state.withLock { $0.log } }

    /// The time until the first end was reported, no matter when the waiting task is resumed.
    var duration: Duration { state.withLock { $0.duration } }

    /// Sends the request; `react` is called inside every event.
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
            // A resume since then may have reached the transfer before this pause.
            if !state.withLock(\.isPaused) { handle.resume() }
        }
        if isCancelled { handle.cancel() }
    }

    // An event may come before `send` has returned its handle. Cancels and pauses until then are recorded, and applied
    // once there is a handle.

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

/// The events of one transfer, checked as they come: the rules of their order as a state, without a transport.
struct EventLog: Sendable {
    /// The rules that events broke, one sentence each.
    private(set) var violations: [String] = []
    private(set) var head: HTTPResponseHead?
    private(set) var content = Data()
    private(set) var hasEnded = false
    /// The error of the first end.
    private(set) var error: RequestError?
    private var names: [(name: String, count: Int)] = []
    private var isDelivering = false
    /// The number of the last event that comes once: 1 for the head, 4 for the end; 0 before them.
    private var stage = 0
    private var sent: Int64 = 0

    /// Records an event, when its call begins.
    mutating func begin(_ event: TransferEvent) {
        let name = event.conformanceName
        if isDelivering { violate("\(name) came while the call of another event had not returned") }
        isDelivering = true
        if names.last?.name == name { names[names.count - 1].count += 1 } else { names.append((name, 1)) }
        // The metrics of an upgrade come before its head, since the connection may last for hours.
        if case .head(let response) = event, response.status == .switchingProtocols, head == nil { stage = 0 }
        let (latest, startsNextStage) = event.stages
        if stage > latest { violate("\(name) came after the \(["head", "trailers", "metrics", "end"][stage - 1])") }
        if startsNextStage { stage = max(stage, latest + 1) }
        note(event)
    }

    /// Records that the call of an event has returned.
    mutating func finish() {
        isDelivering = false
    }

    private mutating func note(_ event: TransferEvent) {
        switch event {
        case .informational(let interim):
            if interim.status.category != .informational { violate("\(interim.status) isn't informational") }
        case .sent(let count, let total):
            if count < sent { violate("\(count) bytes were sent after \(sent) were") }
            if let total, count > total { violate("\(count) bytes of \(total) were sent") }
            sent = count
        case .head(let response):
            if response.status.category == .informational, response.status != .switchingProtocols {
                violate("\(response.status) came as the head")
            }
            head = head ?? response
        case .data(let data):
            if head == nil { violate("content came before the head") }
            if !hasEnded { content += data }
        case .trailers:
            if head == nil { violate("trailers came before the head") }
        case .metrics:
            break
        case .end(let error):
            guard !hasEnded else { return }
            (self.error, hasEnded) = (error, true)
            if error == nil, head == nil { violate("the end without an error came without a head") }
        }
    }

    private mutating func violate(_ sentence: String) {
        if violations.count < 10 { violations.append(sentence) }
    }
}

extension EventLog: CustomStringConvertible {
    /// The names of the events; repeated ones once, with their count.
    var description: String {
        names.map { $0.count > 1 ? "\($0.name) ×\($0.count)" : $0.name }.joined(separator: ", ")
    }
}

extension TransferEvent {
    /// The last stage in which the event may come, and whether the next stage begins with it.
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
