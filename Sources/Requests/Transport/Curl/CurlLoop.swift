// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// The thread that owns libcurl's handles: the only one that calls libcurl about a transfer under way.
///
/// A turn of the loop takes the commands of other threads from its ``CurlInbox``, hands to libcurl what the
/// ``CurlEntrance`` lets in, waits for sockets or a timer, lets libcurl act, looks after its ``CurlConnections``, and then
/// has all that happened delivered in one go. No receiver is ever called on this thread, and libcurl is never called from
/// any other.
// Sendable: the libcurl loop. What isn't constant is touched by its own thread alone; the inbox and the pool have
// locks.
final class CurlLoop: @unchecked Sendable {
    /// How many handles of transfers that were stopped are taken from libcurl in one turn.
    private static let mostReleases = 64

    let callbacks: UnsafeMutablePointer<CCurlCallbacks>
    let configuration: CurlTransport.Configuration
    private let inbox = CurlInbox()
    private let pool = CurlHandlePool()
    /// What the thread holds while it calls libcurl, so that the process doesn't end meanwhile.
    private let gate = ccurl_gate_new()

    // The loop's own.
    private var multi: OpaquePointer?
    private var entrance: CurlEntrance
    private let connections: CurlConnections
    private let outbox = CurlOutbox()
    private var active: [OpaquePointer: CurlTransfer] = [:]
    /// Those that were stopped and have been told so, whose handles libcurl still has.
    private var leaving: [CurlTransfer] = []
    private var timeouts = IdleTimeouts<ObjectIdentifier>()
    private var curlTimer: UInt64?
    private(set) var now: UInt64 = 0
    /// Whether the process ends, and libcurl isn't called any more.
    private var isAbandoned = false

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        entrance = CurlEntrance(configuration)
        connections = CurlConnections(configuration)
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(to: CCurlCallbacks(loop: self))
    }

    deinit {
        callbacks.deallocate()
        ccurl_gate_free(gate)
    }

    // MARK: From any thread

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        do {
            try inbox.open()
            let destination = CurlDestination(request.url.absoluteString)
            let needsNew = CurlOptions.needsLargeBuffer(request, to: destination)
            guard let easy = needsNew ? ccurl_easy_new() : pool.take() else {
                throw RequestError(.other, phase: .sending, reason: "out of memory")
            }
            do {
                let transfer = try CurlTransfer(request, to: destination, easy, loop: self, receive: receive)
                guard submit(.start(transfer)) else {
                    throw RequestError(.closed, phase: .sending, reason: "the transport was closed")
                }
                return transfer
            } catch {
                ccurl_easy_free(easy)
                throw error
            }
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer()
        }
    }

    /// Hands a command to the loop; false where that has ended, and will never take it.
    @discardableResult
    func submit(_ command: CurlInbox.Command) -> Bool {
        switch inbox.put(command) {
        case .taken: return true
        case .refused: return false
        case .takenFirst:
            startThread()
            return true
        }
    }

    /// Ends the thread when nothing runs any more.
    func finish() {
        inbox.end(as: .finishing)
    }

    /// Cancels what runs, ends the thread, and waits for that.
    func close() {
        inbox.end(as: .closing)
        inbox.awaitEnd()
    }

    private func startThread() {
        let thread = Thread { [self] in
            run()
            inbox.threadEnded()
            if isAbandoned { ccurl_await_exit() }
        }
        thread.name = "Requests.CurlLoop"
        thread.start()
    }

    // MARK: The thread

    private func run() {
        ccurl_block_broken_pipe()
        guard let gate, ccurl_gate_enter(gate) else { return abandon() }
        defer { if !isAbandoned { ccurl_gate_leave(gate) } }
        multi = makeMulti()
        connections.open(multi, inbox.descriptors)
        if let wakeUp = inbox.descriptors?.wakeUp { ccurl_gate_wakes(gate, wakeUp) }
        while turn(gate) {}
        guard !isAbandoned else { return }

        pool.close()
        if let multi { ccurl_multi_free(multi) }
        multi = nil
        connections.close()
        ccurl_thread_ends()
    }

    /// Ends all transfers without libcurl, since the process ends: its handlers may wait for them.
    private func abandon() {
        isAbandoned = true
        for case .start(let transfer) in inbox.abandon() {
            active[transfer.easy] = transfer
            transfer.begin()
        }
        for transfer in active.values {
            _ = transfer.stop(.processEnds)
            conclude(transfer, code: CurlResult.stopped)
        }
        outbox.publish(now: now)
    }

    /// One turn; false when it was the last.
    private func turn(_ gate: OpaquePointer) -> Bool {
        now = DispatchTime.now().uptimeNanoseconds
        let phase = takeCommands()
        if phase == .closing { for transfer in active.values { stop(transfer, .transportClosed) } }
        outbox.publish(now: now)
        releaseStopped()
        admit()
        outbox.publish(now: now)
        let isEnding = active.isEmpty && leaving.isEmpty && phase != .running
        if isEnding, !outbox.needsAttention, inbox.endIfEmpty() { return false }

        let sleeps = leaving.isEmpty && inbox.sleep(in: phase)
        ccurl_gate_leave(gate)
        let ready = connections.wait(milliseconds: sleeps ? pause(isEnding) : 0) { isFree($0) }
        guard ccurl_gate_enter(gate) else {
            abandon()
            return false
        }
        if sleeps { inbox.awake() }
        now = DispatchTime.now().uptimeNanoseconds
        for socket in ready { act(socket.socket, socket.bits) }
        if let due = curlTimer, due <= now {
            curlTimer = nil
            act(-1, 0)
        }
        stopSilent()
        connections.closeSome(now: now) { isFree($0) }
        takeEnded()
        admit()
        outbox.publish(now: now)
        outbox.attend(now: now)
        return true
    }

    /// How long to wait for sockets, at most: until a timer is due, or the delivery has to be looked after, whose end may
    /// also be what this waits for.
    private func pause(_ isEnding: Bool) -> Int32 {
        var due = min(curlTimer ?? .max, timeouts.nextCheck ?? .max, connections.due ?? .max)
        if isEnding || outbox.hasBacklog { due = min(due, now &+ CurlDelivery.interval) }
        guard due != .max else { return -1 }
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        if let multi { _ = ccurl_multi_act(multi, socket, bits) }
    }

    // MARK: Commands

    // A method of its own, so that the commands are let go of before the loop sleeps: each holds its transfer, and that
    // the operation that it is for.
    private func takeCommands() -> CurlInbox.Phase {
        let (commands, phase) = inbox.take()
        for command in commands { obey(command) }
        return phase
    }

    private func obey(_ command: CurlInbox.Command) {
        switch command {
        case .start(let transfer):
            active[transfer.easy] = transfer
            transfer.begin()
            entrance.enter(transfer)
        case .stop(let transfer, let reason):
            stop(transfer, reason)
        case .hold(let transfer):
            resume(transfer) { $0.hold() }
        case .resumeSending(let transfer):
            resume(transfer) { $0.resumeSending() }
            if isActive(transfer), transfer.stage.place == .awaitingContent { entrance.enter(transfer) }
        case .mailboxEmptied(let transfer):
            resume(transfer) { $0.mailboxEmptied() }
        case .found(let question, let found):
            entrance.take(found, to: question)
        }
    }

    private func isActive(_ transfer: CurlTransfer) -> Bool {
        active[transfer.easy] === transfer
    }

    private func resume(_ transfer: CurlTransfer, _ change: (CurlTransfer) -> Int32) {
        guard isActive(transfer) else { return }
        let wasHeld = transfer.holdsPeer
        // What libcurl had kept comes while it resumes. It tells here what that has failed of, and not again.
        let code = change(transfer)
        guard code == 0 || code == CurlResult.noConnection else { return end(transfer, code: code) }
        outbox.put(transfer)
        guard wasHeld, !transfer.holdsPeer else { return }
        transfer.stage.waitAnew(at: now)
        watchSilence(of: transfer)
    }

    /// Ends a transfer, whose connection is closed when that has been told: closing takes the system longer, and where
    /// thousands are called off at once, nobody has to wait for the connections of the others.
    private func stop(_ transfer: CurlTransfer, _ reason: CurlTransferState.Stop) {
        guard isActive(transfer) else { return }
        // Where the transfer is to end for another reason, that one stays.
        _ = transfer.stop(reason)
        conclude(transfer, code: CurlResult.stopped)
        // What libcurl has keeps its place until its connection is closed.
        if transfer.stage.place != .taken { entrance.leave(transfer) }
        leaving.append(transfer)
    }

    // MARK: Beginnings

    /// Goes ahead with all that may.
    private func admit() {
        while let step = entrance.next(self, isConnected: { connections.hasConnection(to: $0) }) {
            switch step {
            case .take(let transfer):
                take(transfer)
            case .watch(let transfer):
                watchSilence(of: transfer)
            case .refuse(let transfer, let failure):
                transfer.note("Could not resolve host: \(transfer.destination.host) (\(failure.reason))")
                end(transfer, code: CurlResult.unknownHost)
            case .stop(let transfer, let reason):
                stop(transfer, reason)
            }
        }
    }

    /// Hands a transfer to libcurl.
    private func take(_ transfer: CurlTransfer) {
        transfer.take()
        connections.prepare(transfer)
        connections.limitIdle(beside: active.count + leaving.count)
        watchSilence(of: transfer)
        guard let multi, ccurl_multi_add(multi, transfer.easy) == 0 else {
            return end(transfer, code: CurlResult.failedToBegin)
        }
    }

    /// Notes that the connection of a transfer may have several share it; libcurl tells in the middle of what it does.
    func isShared(_ transfer: CurlTransfer) { entrance.share(transfer) }

    // MARK: Ends

    private func takeEnded() {
        guard let multi else { return }
        repeat {
            var code: Int32 = 0
            while let easy = ccurl_multi_take_ended(multi, &code) {
                guard let transfer = active[easy] else { continue }
                if code == 0 || !sendAgain(transfer, after: code, in: multi) { end(transfer, code: code) }
            }
        } while connections.tryAgain()
    }

    /// Has libcurl send a request once more, which has failed and which no server has processed; false if it won't.
    private func sendAgain(_ transfer: CurlTransfer, after code: Int32, in multi: OpaquePointer) -> Bool {
        if connections.lacksDescriptor(as: code) {
            guard transfer.startAgain() else {
                transfer.note("No file descriptor is left for a connection")
                return false
            }
            connections.makeRoom(attempt: transfer.restarts)
        } else {
            guard transfer.beginAgain() else { return false }
        }
        _ = ccurl_multi_remove(multi, transfer.easy)
        return ccurl_multi_add(multi, transfer.easy) == 0
    }

    /// Notes what a server has said of a connection (RFC 9113, 6.8), to whichever transfer on it.
    func hasProcessedNoStream(above last: UInt32, on connection: CurlTransfer.Connection) {
        for transfer in active.values { transfer.isNotProcessed(above: last, on: connection) }
    }

    private func end(_ transfer: CurlTransfer, code: Int32) {
        conclude(transfer, code: code)
        release(transfer)
    }

    /// Has the end of a transfer told.
    private func conclude(_ transfer: CurlTransfer, code: Int32) {
        active[transfer.easy] = nil
        timeouts.remove(ObjectIdentifier(transfer))
        transfer.end(code)
        outbox.put(transfer)
    }

    /// Takes the handle of a transfer from libcurl, which closes the connection of one that isn't complete.
    private func release(_ transfer: CurlTransfer) {
        let socket = connections.socket(of: transfer)
        if let multi { _ = ccurl_multi_remove(multi, transfer.easy) }
        connections.transferEnded(transfer, on: socket, now: now) { isFree($0) }
        connections.limitIdle(beside: active.count + leaving.count)
        entrance.leave(transfer)
        // One that was taken from libcurl before its end may keep a buffer, and then refuses the options of the next.
        let isUsable = transfer.isComplete && !transfer.hasLargeBuffer
        if isUsable { pool.put(transfer.easy) } else { ccurl_easy_free(transfer.easy) }
    }

    /// Releases some of those that were stopped; the others go on in between.
    private func releaseStopped() {
        // An array of its own: a slice would have the rest copied.
        let some = Array(leaving.prefix(Self.mostReleases))
        leaving.removeFirst(some.count)
        for transfer in some { release(transfer) }
    }

    // MARK: Timers

    func setTimer(_ milliseconds: Int) {
        curlTimer = milliseconds < 0 ? nil : now &+ UInt64(milliseconds) &* 1_000_000
    }

    /// Begins to watch that a transfer isn't silent for longer than it may be where it is by now.
    private func watchSilence(of transfer: CurlTransfer) {
        guard let patience = transfer.stage.patience else { return }
        let nanoseconds = UInt64(max(0, min(patience / .nanoseconds(1), 1e18)))
        _ = timeouts.add(ObjectIdentifier(transfer), timeout: nanoseconds, now: now)
    }

    /// A sign of life, and the reason to publish: called by a transfer whenever libcurl calls it.
    ///
    /// All that comes in a row comes at the same time as far as the loop knows: the first of it has said it all.
    func noteActivity(_ transfer: CurlTransfer) {
        if outbox.put(transfer) { timeouts.touch(ObjectIdentifier(transfer), now: now) }
    }

    private func stopSilent() {
        let (expired, _) = timeouts.check(now: now)
        guard !expired.isEmpty else { return }
        let silent = Set(expired)
        for transfer in active.values where silent.contains(ObjectIdentifier(transfer)) {
            // What is paused, or in line, is watched anew when it goes on.
            if !transfer.holdsPeer, transfer.stage.patience != nil { stop(transfer, .timedOut) }
        }
    }

    // MARK: Sockets

    func watch(_ socket: Int32, _ what: Int32, for easy: OpaquePointer?) {
        let socket = connections.watch(socket, what, for: easy, now: now)
        if let easy, let socket { active[easy]?.socket = socket }
    }

    func opened(_ socket: Int32) { connections.opened(socket, now: now) }

    func closes(_ socket: Int32) {
        if let easy = connections.closes(socket) { active[easy]?.closes(socket) }
    }

    func noDescriptorIsLeft() { connections.noDescriptorIsLeft() }

    /// Whether no transfer can have a socket without having asked for it, as one that is paused may.
    private func isFree(_ socket: CurlSocket) -> Bool {
        leaving.isEmpty && !active.values.contains { $0.mayHave(socket) }
    }
}
#endif
