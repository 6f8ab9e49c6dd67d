// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The state of a socket, including its pending calls.
struct SocketState: Sendable {
    typealias Reply<Value> = SocketCore.Reply<Value>
    /// An effect to perform after unlocking.
    typealias Action = @Sendable () -> Void

    var machine: WebSocketMachine
    var pauseFlag = LatestFlag()
    var onClose: Action?
    var actions: [Action] = []
    /// How the sequence of messages ends after the buffered messages: normally or with an error; `nil` while the socket
    /// is open.
    private(set) var ending: Result<WebSocket.Message?, RequestError>?
    /// The code and the reason with which the socket was closed.
    private(set) var closing: (code: WebSocket.CloseCode, reason: String)?
    /// Whether the peer must wait until messages are consumed (backpressure).
    private(set) var isFull = false

    private let settings: SocketCore.Settings
    private var messages = FIFO<WebSocket.Message>()
    /// The byte count of the buffered messages, including their overhead.
    private var bufferedSize = 0
    private var reader: (id: Int, reply: Reply<WebSocket.Message?>)?
    /// The pending sends, pings and closes, by ID.
    private var pendingCalls: [Int: (purpose: Purpose, reply: Reply<Void>)] = [:]
    /// The IDs of the waiting senders, in order; those of cancelled calls are skipped.
    private var senders = FIFO<Int>()
    private var lastID = 0
    /// The number of the last ping that a caller sent.
    private var lastPing = 0
    /// The number of checks since the peer was last active.
    private var missedChecks = 0
    private var timer: DelayedAction?
    private var timerGeneration = 0
    private var isOver = false
    /// The maximum time for closing, once closing has begun.
    private(set) var closingTimeLimit: Duration?

    private enum Purpose: Sendable {
        /// Waits to send a message.
        case sending(WebSocket.Message)
        /// Waits for the pong to a ping.
        case pong(number: Int)
        /// Waits for the connection to end.
        case end
    }

    /// The byte count added to the size of each message, so that a flood of empty messages also makes the peer wait.
    private static let messageOverhead = 64
    /// The number of checks without activity after which the peer is considered dead.
    private static let maximumMissedChecks = 3

    init(_ settings: SocketCore.Settings) {
        self.settings = settings
        let size = settings.maximumMessageSize
        machine = WebSocketMachine(.client, maximumMessageSize: size)
    }

    /// Returns the time between two checks of the peer, which is pinged if it wasn't active in between.
    static func checkInterval(timeout: Duration) -> Duration { timeout / maximumMissedChecks }

    mutating func takeActions() -> [Action] {
        defer { if !actions.isEmpty { actions = [] } }
        return actions
    }

    /// Whether a time limit for closing must be set.
    var needsClosingTimeLimit: Bool { ending != nil && closingTimeLimit == nil }

    /// Limits the time for closing; returns `false` if the current limit isn't longer.
    mutating func limitClosing(to time: Duration) -> Bool {
        guard closingTimeLimit.map({ time < $0 }) ?? true else { return false }
        closingTimeLimit = time
        return true
    }

    /// Moves bytes into a buffer of the transport, and returns their number.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = machine.take(into: buffer)
        // Progress with a large message also counts as activity, but sending a ping doesn't.
        if count > 0, machine.pendingCount > 0 { missedChecks = 0 }
        admitSenders()
        return count
    }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Replaces the timer, unless a later one is already stored: a timer may fire, and start its successor, before it
    /// is stored itself.
    mutating func replaceTimer(by timer: DelayedAction?, _ generation: Int = .max) {
        guard generation >= timerGeneration else { return }
        timerGeneration = generation
        if let previous = self.timer { actions.append(previous.cancel) }
        self.timer = timer
        if isOver, let timer { actions.append(timer.cancel) }
    }

    // MARK: Receive

    mutating func receive(_ data: Data) {
        missedChecks = 0
        for event in machine.receive(data) {
            switch event {
            case .message(let message): receive(message)
            case .ping: break
            case .pong(let payload): receivePong(payload)
            case .closed(let code, let reason):
                closing = (code, reason)
                end(.success(nil), sending: code)
            case .failed(let code, let reason):
                let error = RequestError(.badResponse, phase: .receiving, reason: "WebSocket error: \(reason)")
                closing = closing ?? (code, reason)
                end(.failure(error), sending: code)
            }
        }
    }

    private mutating func receive(_ message: WebSocket.Message) {
        guard ending == nil else { return }
        if let (_, reply) = reader.take() {
            actions.append { reply.resume(returning: .success(message)) }
        } else {
            messages.append(message)
            bufferedSize += message.count + Self.messageOverhead
            isFull = isFull || bufferedSize > settings.bufferSize
        }
    }

    private mutating func receivePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(0) { $0 << 8 | Int($1) }
        // A peer may reply only to the last of several pings.
        for case (let id, (.pong(let ping), let reply)) in pendingCalls where ping <= number {
            pendingCalls[id] = nil
            actions.append { reply.resume(returning: .success(())) }
        }
    }

    /// Checks whether the peer is active; returns `false` if the socket is no longer open.
    mutating func checkLiveness() -> Bool {
        guard ending == nil else { return false }
        // While backpressure holds the peer back, its pongs can't arrive, so don't count missed checks.
        missedChecks = isFull ? 0 : missedChecks + 1
        guard missedChecks < Self.maximumMissedChecks else {
            let reason = "the peer of the WebSocket didn't respond for \(settings.timeout)"
            end(.failure(RequestError(.timedOut, phase: .receiving, reason: reason)), sending: .goingAway)
            return false
        }
        if missedChecks > 0, machine.pendingCount == 0 { machine.ping(Data()) }
        return true
    }

    // MARK: Closing

    /// Ends the sequence of messages after the buffered messages, and begins the closing handshake or replies to the
    /// peer's close frame.
    mutating func end(
        _ ending: Result<WebSocket.Message?, RequestError>,
        sending code: WebSocket.CloseCode,
        reason: String = ""
    ) {
        machine.close(code, reason: reason)
        guard self.ending == nil else { return }
        self.ending = ending
        isFull = false
        if case .failure(let error) = ending, error.code == .cancelled { (messages, bufferedSize) = (FIFO(), 0) }
        if let (_, reply) = reader.take() { actions.append { reply.resume(returning: ending) } }
        let error = closedError
        for (id, call) in pendingCalls {
            if case .end = call.purpose { continue }
            pendingCalls[id] = nil
            actions.append { call.reply.resume(returning: .failure(error)) }
        }
        senders = FIFO()
    }

    mutating func connectionEnded(_ error: RequestError?) {
        guard !isOver else { return }
        isOver = true
        if closing == nil { closing = (.abnormalClosure, "") }
        let reason = "the WebSocket connection was closed without a closing handshake"
        end(.failure(error ?? RequestError(.connectionLost, phase: .receiving, reason: reason)), sending: .goingAway)
        replaceTimer(by: nil)
        for (_, reply) in pendingCalls.values { actions.append { reply.resume(returning: .success(())) } }
        pendingCalls = [:]
        if let onClose = onClose.take() { actions.append(onClose) }
    }

    private var closedError: RequestError {
        if case .failure(let error) = ending { return error }
        return RequestError(.closed, phase: .sending, reason: "the WebSocket is closed")
    }

    // MARK: Calls

    /// Removes and returns the next message, or returns the end; `nil` if there is neither.
    mutating func takeNext() -> Result<WebSocket.Message?, RequestError>? {
        guard let message = messages.popFirst() else { return ending }
        bufferedSize -= message.count + Self.messageOverhead
        if isFull, bufferedSize <= settings.bufferSize / 2 { isFull = false }
        return .success(message)
    }

    mutating func enqueueReader(_ reply: Reply<WebSocket.Message?>, _ id: Int) {
        if let next = takeNext() { return actions.append { reply.resume(returning: next) } }
        guard reader == nil else {
            let reason = "another task is already waiting for the next message of the WebSocket"
            let error = RequestError(.alreadyConsumed, phase: .receiving, reason: reason)
            return actions.append { reply.resume(returning: .failure(error)) }
        }
        reader = (id, reply)
    }

    /// Sends a message; returns `nil` if the caller must wait.
    mutating func send(_ message: WebSocket.Message) -> Result<Void, RequestError>? {
        guard ending == nil else { return .failure(closedError) }
        guard senders.isEmpty, machine.pendingCount < settings.bufferSize else { return nil }
        machine.send(message)
        return .success(())
    }

    mutating func send(_ message: WebSocket.Message, _ reply: Reply<Void>, _ id: Int) {
        if let result = send(message) { return actions.append { reply.resume(returning: result) } }
        pendingCalls[id] = (.sending(message), reply)
        senders.append(id)
    }

    /// Sends the messages of waiting senders while there is room.
    private mutating func admitSenders() {
        while !senders.isEmpty, machine.pendingCount <= settings.bufferSize / 2, let id = senders.popFirst() {
            guard case (.sending(let message), let reply)? = pendingCalls.removeValue(forKey: id) else { continue }
            machine.send(message)
            actions.append { reply.resume(returning: .success(())) }
        }
    }

    mutating func ping(_ reply: Reply<Void>, _ id: Int) {
        guard ending == nil else {
            let error = closedError
            return actions.append { reply.resume(returning: .failure(error)) }
        }
        // Number the pings in the order in which they are sent, which may differ from the order of the IDs.
        lastPing += 1
        machine.ping(withUnsafeBytes(of: UInt64(lastPing).bigEndian) { Data($0) })
        pendingCalls[id] = (.pong(number: lastPing), reply)
    }

    mutating func awaitEnd(_ reply: Reply<Void>, _ id: Int) {
        guard !isOver else { return actions.append { reply.resume(returning: .success(())) } }
        pendingCalls[id] = (.end, reply)
    }

    /// Ends a call whose task was cancelled.
    mutating func cancelCall(_ id: Int) {
        let error = RequestError(.cancelled, phase: .receiving)
        if let (readerID, reply) = reader, readerID == id {
            reader = nil
            actions.append { reply.resume(returning: .failure(error)) }
        }
        if let (_, reply) = pendingCalls.removeValue(forKey: id) {
            actions.append { reply.resume(returning: .failure(error)) }
        }
        admitSenders()
    }
}
