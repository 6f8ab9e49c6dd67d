// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The variables of a socket, and its waiting users.
struct SocketState: Sendable {
    typealias Reply<Value> = SocketCore.Reply<Value>
    /// An effect to perform after unlocking.
    typealias Action = @Sendable () -> Void

    var machine: WebSocketMachine
    var pauses = LatestFlag()
    var onClose: Action?
    var due: [Action] = []
    /// The end of the messages, after those that wait to be consumed; `nil` as long as the socket is open.
    private(set) var ending: Result<WebSocket.Message?, RequestError>?
    /// The code and the reason with which the socket was closed.
    private(set) var closing: (code: WebSocket.CloseCode, reason: String)?
    /// Whether the peer is to wait until messages are consumed.
    private(set) var isFull = false

    private let settings: SocketCore.Settings
    private var messages = FIFO<WebSocket.Message>()
    /// The number of bytes of the messages.
    private var size = 0
    private var reader: (number: Int, reply: Reply<WebSocket.Message?>)?
    /// The waits of its other users, by their numbers.
    private var waits: [Int: (purpose: Purpose, reply: Reply<Void>)] = [:]
    /// The numbers of the waiting senders, in their order; those that were withdrawn are skipped.
    private var line = FIFO<Int>()
    private var lastNumber = 0
    /// The number of the last ping that a user has sent.
    private var lastPing = 0
    /// The number of checks since the peer was last active.
    private var missedChecks = 0
    private var timer: DelayedAction?
    private var timerNumber = 0
    private var isOver = false
    /// The maximum time for closing, once that has begun.
    private(set) var closingTime: Duration?

    private enum Purpose: Sendable {
        /// To send a message.
        case sending(WebSocket.Message)
        /// For the answer to a ping.
        case pong(number: Int)
        /// For the end of the connection.
        case end
    }

    /// The size that is counted for each message besides its content, so that a flood of empty messages makes the peer
    /// wait, too.
    private static let overhead = 64
    /// The number of checks without activity after which the peer counts as dead.
    private static let maximumMissedChecks = 3

    init(_ settings: SocketCore.Settings) {
        self.settings = settings
        let size = settings.maximumMessageSize
        machine = WebSocketMachine(.client, maximumMessageSize: size)
    }

    /// Returns the time between two checks of the peer, which is pinged if it wasn't active in between.
    static func checkInterval(timeout: Duration) -> Duration { timeout / maximumMissedChecks }

    mutating func takeDue() -> [Action] {
        defer { if !due.isEmpty { due = [] } }
        return due
    }

    /// Whether the time for closing has to be limited.
    var needsClosingTime: Bool { ending != nil && closingTime == nil }

    /// Limits the time for closing; `false` if the present limit isn't longer.
    mutating func limitClosing(to time: Duration) -> Bool {
        guard closingTime.map({ time < $0 }) ?? true else { return false }
        closingTime = time
        return true
    }

    /// Moves bytes into a buffer of the transport, and returns their number.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = machine.take(into: buffer)
        // Progress with a large message counts as activity, too; a ping that is sent doesn't.
        if count > 0, machine.pendingCount > 0 { missedChecks = 0 }
        admitSenders()
        return count
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Replaces the timer, unless a later one has done that already: a timer may have fired before it is stored here.
    mutating func replaceTimer(by timer: DelayedAction?, _ number: Int = .max) {
        guard number >= timerNumber else { return }
        timerNumber = number
        if let former = self.timer { due.append(former.cancel) }
        self.timer = timer
        if isOver, let timer { due.append(timer.cancel) }
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
                let error = RequestError(.badResponse, phase: .receiving, reason: "a WebSocket: \(reason)")
                closing = closing ?? (code, reason)
                end(.failure(error), sending: code)
            }
        }
    }

    private mutating func receive(_ message: WebSocket.Message) {
        guard ending == nil else { return }
        if let (_, reply) = reader.take() {
            due.append { reply.resume(returning: .success(message)) }
        } else {
            messages.append(message)
            size += message.count + Self.overhead
            isFull = isFull || size > settings.bufferSize
        }
    }

    private mutating func receivePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(0) { $0 << 8 | Int($1) }
        // A peer may answer only the last of several pings.
        for case (let other, (.pong(let ping), let reply)) in waits where ping <= number {
            waits[other] = nil
            due.append { reply.resume(returning: .success(())) }
        }
    }

    /// Checks whether the peer is active; returns `false` if the socket isn't open any more.
    mutating func checkLife() -> Bool {
        guard ending == nil else { return false }
        // A peer that has to wait can't send anything.
        missedChecks = isFull ? 0 : missedChecks + 1
        guard missedChecks < Self.maximumMissedChecks else {
            let reason = "the peer of a WebSocket gave no sign of life for \(settings.timeout)"
            end(.failure(RequestError(.timedOut, phase: .receiving, reason: reason)), sending: .goingAway)
            return false
        }
        if missedChecks > 0, machine.pendingCount == 0 { machine.ping(Data()) }
        return true
    }

    // MARK: The end

    /// Ends the messages, after those that wait to be consumed, and begins the closing handshake or answers it.
    mutating func end(
        _ ending: Result<WebSocket.Message?, RequestError>,
        sending code: WebSocket.CloseCode,
        reason: String = ""
    ) {
        machine.close(code, reason: reason)
        guard self.ending == nil else { return }
        self.ending = ending
        isFull = false
        if case .failure(let error) = ending, error.code == .cancelled { (messages, size) = (FIFO(), 0) }
        if let (_, reply) = reader.take() { due.append { reply.resume(returning: ending) } }
        let error = closedError
        for (number, wait) in waits {
            if case .end = wait.purpose { continue }
            waits[number] = nil
            due.append { wait.reply.resume(returning: .failure(error)) }
        }
        line = FIFO()
    }

    mutating func connectionEnded(_ error: RequestError?) {
        guard !isOver else { return }
        isOver = true
        if closing == nil { closing = (.abnormalClosure, "") }
        let reason = "the connection of a WebSocket ended without a closing handshake"
        end(.failure(error ?? RequestError(.connectionLost, phase: .receiving, reason: reason)), sending: .goingAway)
        replaceTimer(by: nil)
        for (_, reply) in waits.values { due.append { reply.resume(returning: .success(())) } }
        waits = [:]
        if let onClose = onClose.take() { due.append(onClose) }
    }

    private var closedError: RequestError {
        if case .failure(let error) = ending { return error }
        return RequestError(.closed, phase: .sending, reason: "the WebSocket is closed")
    }

    // MARK: Users

    /// Takes the next message, or the end; `nil` if there is neither.
    mutating func takeNext() -> Result<WebSocket.Message?, RequestError>? {
        guard let message = messages.popFirst() else { return ending }
        size -= message.count + Self.overhead
        if isFull, size <= settings.bufferSize / 2 { isFull = false }
        return .success(message)
    }

    mutating func read(_ reply: Reply<WebSocket.Message?>, _ number: Int) {
        if let next = takeNext() { return due.append { reply.resume(returning: next) } }
        guard reader == nil else {
            let reason = "another task waits for the next message of the WebSocket"
            let error = RequestError(.alreadyConsumed, phase: .receiving, reason: reason)
            return due.append { reply.resume(returning: .failure(error)) }
        }
        reader = (number, reply)
    }

    /// Sends a message, unless it has to wait.
    mutating func send(_ message: WebSocket.Message) -> Result<Void, RequestError>? {
        guard ending == nil else { return .failure(closedError) }
        guard line.isEmpty, machine.pendingCount < settings.bufferSize else { return nil }
        machine.send(message)
        return .success(())
    }

    mutating func send(_ message: WebSocket.Message, _ reply: Reply<Void>, _ number: Int) {
        if let result = send(message) { return due.append { reply.resume(returning: result) } }
        waits[number] = (.sending(message), reply)
        line.append(number)
    }

    /// Sends the messages of waiting senders, as far as there is room.
    private mutating func admitSenders() {
        while !line.isEmpty, machine.pendingCount <= settings.bufferSize / 2, let number = line.popFirst() {
            guard case (.sending(let message), let reply)? = waits.removeValue(forKey: number) else { continue }
            machine.send(message)
            due.append { reply.resume(returning: .success(())) }
        }
    }

    mutating func ping(_ reply: Reply<Void>, _ number: Int) {
        guard ending == nil else {
            let error = closedError
            return due.append { reply.resume(returning: .failure(error)) }
        }
        // In the order in which they are sent: waits may have taken their numbers in another.
        lastPing += 1
        machine.ping(withUnsafeBytes(of: UInt64(lastPing).bigEndian) { Data($0) })
        waits[number] = (.pong(number: lastPing), reply)
    }

    mutating func awaitEnd(_ reply: Reply<Void>, _ number: Int) {
        guard !isOver else { return due.append { reply.resume(returning: .success(())) } }
        waits[number] = (.end, reply)
    }

    /// Ends a wait, whose task was cancelled.
    mutating func withdraw(_ number: Int) {
        let error = RequestError(.cancelled, phase: .receiving)
        if let (waiting, reply) = reader, waiting == number {
            reader = nil
            due.append { reply.resume(returning: .failure(error)) }
        }
        if let (_, reply) = waits.removeValue(forKey: number) {
            due.append { reply.resume(returning: .failure(error)) }
        }
        admitSenders()
    }
}
