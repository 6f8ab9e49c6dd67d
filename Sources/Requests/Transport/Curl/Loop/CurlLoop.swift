// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The thread that owns libcurl's handles: the only one that calls libcurl about a running transfer.
///
/// A turn of the loop takes the commands of other threads from its ``CurlInbox`` and hands the transfers that the
/// ``CurlAdmission`` admits to libcurl. It then waits for sockets or a timer, lets libcurl act, checks its
/// ``CurlConnections``, and delivers all events at once. No receiver is ever called on this thread, and libcurl is
/// called from no other.
// Sendable: the libcurl loop. Variables are accessed by its own thread alone; the inbox and the pool have locks.
final class CurlLoop: @unchecked Sendable {
    /// The maximum number of stopped transfers whose handles are taken from libcurl in one turn.
    private static let mostReleases = 64
    /// The maximum number of transfers over TLS that begin in one turn, and of handshakes that continue.
    ///
    /// Either takes up to a millisecond if the connection is new, and no other transfer continues meanwhile.
    private static let mostHandshakes = 4

    let callbacks: UnsafeMutablePointer<CCurlCallbacks>
    let configuration: CurlTransport.Configuration
    let proxies: CurlProxies
    private let inbox = CurlInbox()
    private let pool = CurlHandlePool()
    /// Held by the thread while it calls libcurl, so that the process doesn't exit meanwhile.
    private let gate = ccurl_gate_new()

    // Accessed only by the loop.
    private var multi: CurlMulti?
    private var admission: CurlAdmission
    private let connections: CurlConnections
    /// The transfers that something has happened to in this turn, in its order.
    private var touched: [CurlTransfer] = []
    /// The touched transfers whose receivers are to be called; empty except while they are passed to the delivery.
    private var ready: [CurlTransfer] = []
    private let delivery = CurlDelivery()
    /// Ends that come from this side, such as cancellations and timeouts, have workers of their own: they are reported
    /// in time, even if receivers that wait hold up all others.
    private let endings = CurlDelivery()
    /// The commands that are carried out in this turn.
    private var commands: [CurlInbox.Command] = []
    private var phase = CurlInbox.Phase.running
    /// Whether nothing is left to do without a socket, a timer or a command.
    private var sleeps = false
    private var active: [CurlEasy: CurlTransfer] = [:]
    private var handshakes = HandshakeQueue()
    /// Stopped transfers whose end was reported, and whose handles libcurl still has.
    private var leaving: [CurlTransfer] = []
    private var timeouts = IdleTimeouts<ObjectIdentifier>()
    private var budget = CurlBudget { ccurl_processor_time() }
    private var curlTimer: UInt64?
    private(set) var now: UInt64 = 0
    /// Whether the process exits, and libcurl isn't called any more.
    private var isAbandoned = false

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        proxies = CurlProxies(configuration)
        admission = CurlAdmission(configuration)
        connections = CurlConnections(configuration)
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(to: CCurlCallbacks(loop: self))
    }

    deinit {
        callbacks.deallocate()
        ccurl_gate_free(gate)
    }

    // MARK: From any thread

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle
    {
        do {
            let destination = CurlDestination(request.url.absoluteString)
            let isSecure = destination.isSecure
            // libcurl refuses to change the size of the buffer of a used handle.
            let hasOwnSize = request.upgrade != nil || !isSecure && request.isStreamed
            let needsNew = hasOwnSize || isSecure && request.trust != .system
            guard let handle = needsNew ? ccurl_handle_new() : pool.take(isSecure: isSecure) else {
                throw RequestError(.other, phase: .sending, reason: "out of memory")
            }
            do {
                let transfer = try CurlTransfer(request, to: destination, handle, loop: self, receive: receive)
                guard submit(.start(transfer)) else {
                    let reason = "the transport was closed, or this process is a fork of the one that used it"
                    throw RequestError(.closed, phase: .sending, reason: reason)
                }
                return transfer
            } catch {
                ccurl_handle_free(handle)
                throw error
            }
        } catch {
            receive(.end(RequestError(error)))
            return EndedTransfer.shared
        }
    }

    /// Passes a command to the loop; `false` if the loop has ended, and won't take it.
    @discardableResult
    func submit(_ command: CurlInbox.Command) -> Bool {
        switch inbox.put(command) {
        case .taken: return true
        case .refused: return false
        case .takenFirst:
            let isOpen = inbox.open()
            guard !isOpen || !startThread() else { return true }
            let reason = isOpen ? "no thread can be started" : "no file descriptor is left"
            let error = RequestError(.other, phase: .sending, reason: reason)
            for command in inbox.threadFailed() { command.refuse(error) }
            return true
        }
    }

    /// Calls back with the use of connections: on the loop's thread, or at once if it has none.
    func report(_ receive: @escaping @Sendable (CurlTransport.Usage) -> Void) {
        if !inbox.isRunning || !submit(.report(receive)) { receive(CurlTransport.Usage()) }
    }

    /// Ends the thread when all transfers have ended.
    func finish() {
        inbox.end(as: .finishing)
    }

    /// Cancels all transfers, ends the thread, and waits for its end.
    func close() {
        inbox.end(as: .closing)
        inbox.awaitEnd()
    }

    private func startThread() -> Bool {
        WorkerThread.start("Requests.CurlLoop") { [self] in
            run()
            inbox.threadEnded()
            if isAbandoned { ccurl_await_exit() }
        }
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
        if let multi = multi.take() { ccurl_multi_free(multi) }
        connections.close()
        ccurl_thread_ends()
    }

    /// Ends all transfers without acting on them in libcurl, since the process exits: its handlers may wait for them.
    private func abandon() {
        isAbandoned = true
        for command in inbox.abandon() {
            switch command {
            case .start(let transfer):
                active[transfer.easy] = transfer
                transfer.begin()
            case .report(let receive):
                receive(usage)
            case .stop, .lostPeer, .update, .found:
                break
            }
        }
        for transfer in active.values {
            _ = transfer.stop(.processEnds)
            conclude(transfer, code: CurlResult.stopped)
        }
        publish()
    }

    /// Runs one turn; returns `false` if it was the last.
    private func turn(_ gate: OpaquePointer) -> Bool {
        ccurl_gate_leave(gate)
        connections.sockets.wait(milliseconds: sleeps ? pause : 0) { isFree($0) }
        guard ccurl_gate_enter(gate) else {
            abandon()
            return false
        }
        now = DispatchTime.now().uptimeNanoseconds
        budget.reset()
        inbox.awake()
        connections.checkForSuspension(active.values) { isFree($0) }
        if delivery.needsAttention { delivery.schedule(now: now) }
        if endings.needsAttention { endings.schedule(now: now) }
        actOnSockets()
        phase = inbox.take(&commands) ?? phase
        obeyCommands()
        if phase == .closing { for transfer in active.values { stop(transfer, .transportClosed) } }
        // Before the connections of stopped transfers are closed, which takes longer.
        if !leaving.isEmpty { publish() }
        releaseStopped()
        admit()
        // Also starts the transfers that have just been admitted, which needn't wait for a socket.
        if let due = curlTimer, due <= now {
            curlTimer = nil
            act(-1)
        }
        stopSilent()
        connections.closeExpired(now: now) { isFree($0) }
        takeEnded()
        admit()
        publish()
        let isEnding = active.isEmpty && leaving.isEmpty && phase != .running
        if isEnding, !needsAttention, inbox.endIfEmpty() { return false }
        sleeps = leaving.isEmpty && handshakes.isEmpty && inbox.sleep()
        return true
    }

    /// The maximum wait for sockets: until a timer is due, or until the delivery has to be checked.
    private var pause: Int32 {
        var due = min(curlTimer ?? .max, timeouts.nextCheck ?? .max, connections.due ?? .max)
        if needsAttention { due = min(due, now &+ CurlDelivery.interval) }
        guard due != .max else { return -1 }
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    /// Lets libcurl act on sockets: first on those of transfers that have a connection, then on a few of the others.
    ///
    /// The rest are ready in the next turn, too.
    private func actOnSockets() {
        var handshakes: [Int32] = []
        for socket in connections.sockets.closedByPeer {
            connections.sockets.owner(of: socket).flatMap { active[$0] }?.endWithoutPeer(isOver: true)
        }
        for event in connections.sockets.ready {
            connections.sockets.recordActivity(event, now: now)
            let transfer = connections.sockets.owner(of: event.socket).flatMap { active[$0] }
            if let transfer, transfer.destination.isSecure, transfer.stage.place == .connecting {
                handshakes.append(event.socket)
            } else {
                act(event.socket, isRead: transfer?.hasPlainConnection == true && connections.sockets.isReadable(event))
            }
        }
        for socket in handshakes.prefix(Self.mostHandshakes) { act(socket) }
    }

    private func act(_ socket: Int32, isRead: Bool = false) {
        budget.reset()
        if let multi { _ = ccurl_multi_act(multi, socket, isRead ? 1 : 0) }
    }

    // MARK: Commands

    private func obeyCommands() {
        for command in commands { obey(command) }
        // A command retains its transfer, and the transfer its operation.
        commands.removeAll(keepingCapacity: true)
    }

    private func obey(_ command: CurlInbox.Command) {
        switch command {
        case .start(let transfer):
            active[transfer.easy] = transfer
            transfer.begin()
            admission.enter(transfer)
        case .stop(let transfer, let reason):
            stop(transfer, reason)
        case .lostPeer(let transfer, let restarts):
            // The end may have been noticed twice, or before the transfer was sent again.
            guard transfer.restarts == restarts, !sendAgainWithoutPeer(transfer) else { return }
            stop(transfer, .peerEnded)
        case .update(let transfer):
            update(transfer)
        case .found(let query, let found):
            admission.take(found, to: query)
        case .report(let receive):
            // Requests that came before are where they wait.
            admit()
            receive(usage)
        }
    }

    private var usage: CurlTransport.Usage {
        var usage = CurlTransport.Usage()
        usage.openConnections = connections.sockets.count
        usage.idleConnections = connections.sockets.idleCount
        usage.waitingRequests = admission.waitingCount
        usage.lookUps = admission.lookUpCount
        return usage
    }

    private func isActive(_ transfer: CurlTransfer) -> Bool {
        active[transfer.easy] === transfer
    }

    private func update(_ transfer: CurlTransfer) {
        guard isActive(transfer) else { return }
        let wasHeld = transfer.holdsPeer
        budget.reset()
        // Content that libcurl had kept arrives while it resumes; if that fails, the error is reported only here.
        let code = transfer.update()
        guard code == 0 || code == CurlResult.noConnection else { return end(transfer, code: code) }
        touch(transfer)
        if transfer.stage.place == .awaitingContent, !transfer.awaitsContent { admission.goOn(transfer) }
        guard wasHeld, !transfer.holdsPeer else { return }
        transfer.stage.waitAnew(at: now)
        watchSilence(of: transfer)
    }

    /// Ends a transfer, and reports its end before its connection is closed: closing takes longer, and when thousands
    /// are cancelled at once, no receiver has to wait for the connections of others.
    private func stop(_ transfer: CurlTransfer, _ reason: CurlTransferState.Stop) {
        guard isActive(transfer) else { return }
        // If the transfer already ends for another reason, that reason stays.
        _ = transfer.stop(reason)
        conclude(transfer, code: CurlResult.stopped)
        // A transfer that libcurl has keeps its place until its connection is closed.
        if !transfer.stage.place.isTaken { admission.leave(transfer) }
        leaving.append(transfer)
    }

    // MARK: Beginnings

    /// Starts the transfers that are admitted; of those over TLS, only a few in one turn.
    private func admit() {
        while let step = admission.next(self, isConnected: { connections.sockets.hasConnection(to: $0) }) {
            switch step {
            case .take(let transfer):
                if transfer.destination.isSecure { handshakes.append(transfer) } else { take(transfer) }
            case .watch(let transfer):
                watchSilence(of: transfer)
            case .refuse(let transfer, let failure):
                let host = transfer.awaited?.host ?? transfer.destination.host
                ccurl_handle_set_error(transfer.handle, "Could not resolve host: \(host) (\(failure.reason))")
                end(transfer, code: CurlResult.unknownHost)
            case .stop(let transfer, let reason):
                stop(transfer, reason)
            }
        }
        for _ in 0..<Self.mostHandshakes {
            guard let transfer = handshakes.popFirst() else { break }
            take(transfer)
        }
    }

    /// Hands a transfer to libcurl.
    private func take(_ transfer: CurlTransfer) {
        guard !transfer.isCancelled else { return stop(transfer, .cancelled) }
        transfer.take()
        connections.prepare(transfer, now: now) { isFree($0) }
        connections.limitIdle(transferCount: active.count + leaving.count)
        watchSilence(of: transfer)
        guard let multi, ccurl_multi_add(multi, transfer.easy) == 0 else {
            return end(transfer, code: CurlResult.failedToBegin)
        }
    }

    // MARK: Ends

    private func takeEnded() {
        guard let multi else { return }
        repeat {
            var code: Int32 = 0
            while let easy = ccurl_multi_take_ended(multi, &code) {
                guard let transfer = active[easy] else { continue }
                if !sendAgain(transfer, after: code, in: multi) { end(transfer, code: code) }
            }
        } while connections.retryTransfers()
    }

    /// Lets libcurl send a request once more that has no response; `false` unless no server has processed it.
    private func sendAgain(_ transfer: CurlTransfer, after code: Int32, in multi: CurlMulti) -> Bool {
        if connections.isOutOfDescriptors(with: code) {
            guard transfer.startAgain() else {
                ccurl_handle_set_error(transfer.handle, "No file descriptor is left for a connection")
                return false
            }
            connections.makeRoom(attempt: transfer.restarts)
        } else {
            guard transfer.beginAgain() else { return false }
        }
        return renew(transfer, in: multi)
    }

    /// Sends a request once more whose kept connection has ended; `false` if it can't be.
    private func sendAgainWithoutPeer(_ transfer: CurlTransfer) -> Bool {
        guard let multi, isActive(transfer), transfer.beginAgainWithoutPeer() else { return false }
        return renew(transfer, in: multi)
    }

    private func renew(_ transfer: CurlTransfer, in multi: CurlMulti) -> Bool {
        _ = ccurl_multi_remove(multi, transfer.easy)
        return ccurl_multi_add(multi, transfer.easy) == 0
    }

    /// Records a server's statement about a connection (RFC 9113, 6.8), whichever of its transfers received it.
    func hasProcessedNoStream(above last: UInt32, on connection: CurlTransfer.Connection) {
        for transfer in active.values { transfer.isNotProcessed(above: last, on: connection) }
    }

    private func end(_ transfer: CurlTransfer, code: Int32) {
        conclude(transfer, code: code)
        release(transfer)
    }

    /// Prepares the report of a transfer's end.
    private func conclude(_ transfer: CurlTransfer, code: Int32) {
        active[transfer.easy] = nil
        timeouts.remove(ObjectIdentifier(transfer))
        transfer.end(code)
        if transfer.isUnconnected || code == CurlResult.cannotConnect { forgetAddresses(of: transfer) }
        touch(transfer)
    }

    /// Forgets the addresses that a transfer couldn't connect to: a service that has moved has others by now.
    private func forgetAddresses(of transfer: CurlTransfer) {
        connections.forgetAddresses(of: transfer)
        admission.forgetAddresses(of: transfer)
    }

    /// Takes the handle of a transfer from libcurl, which closes the connection if the transfer isn't complete.
    private func release(_ transfer: CurlTransfer) {
        let socket = connections.socket(of: transfer)
        budget.reset()
        transfer.dropKeptContent()
        if let multi { _ = ccurl_multi_remove(multi, transfer.easy) }
        connections.transferEnded(transfer, on: socket, now: now) { isFree($0) }
        connections.limitIdle(transferCount: active.count + leaving.count)
        admission.leave(transfer)
        guard transfer.isHandleUsable else { return ccurl_handle_free(transfer.handle) }
        pool.put(transfer.handle, isSecure: transfer.destination.isSecure)
    }

    /// Releases some of the stopped transfers; the others continue in between.
    private func releaseStopped() {
        // A separate array: a slice would make the rest be copied.
        let some = Array(leaving.prefix(Self.mostReleases))
        leaving.removeFirst(some.count)
        for transfer in some { release(transfer) }
    }

    // MARK: Timers

    func setTimer(_ milliseconds: Int) {
        curlTimer = milliseconds < 0 ? nil : now &+ UInt64(milliseconds) &* 1_000_000
    }

    /// Begins to watch a transfer for silence beyond the limit of its stage.
    func watchSilence(of transfer: CurlTransfer) {
        guard let patience = transfer.stage.patience(at: now) else { return }
        _ = timeouts.add(ObjectIdentifier(transfer), timeout: UInt64(patience.clampedNanoseconds), now: now)
    }

    /// Records activity of a transfer, which also schedules its events: called by a transfer whenever libcurl calls it.
    ///
    /// All calls in a row have the same time for the loop, so the first of them is enough.
    func noteActivity(_ transfer: CurlTransfer) {
        budget.reset()
        if touch(transfer) { timeouts.touch(ObjectIdentifier(transfer), now: now) }
    }

    /// Records that a part of a TLS record has arrived for a transfer; if its peer sends nothing else for too long, ends
    /// the connection, so that libcurl returns.
    func hasRecord(_ transfer: CurlTransfer) {
        guard budget.countRecord(for: transfer.easy) else { return }
        budget.reset()
        _ = transfer.stop(.flooded)
        connections.abort(transfer)
    }

    private func stopSilent() {
        let (expired, _) = timeouts.check(now: now)
        guard !expired.isEmpty else { return }
        let silent = Set(expired)
        for transfer in active.values where silent.contains(ObjectIdentifier(transfer)) {
            // Paused and waiting transfers are watched again when they continue.
            guard !transfer.holdsPeer, transfer.stage.patience(at: now) != nil else { continue }
            connections.didTimeOut(transfer) { isFree($0) }
            stop(transfer, transfer.stage.place.isUnconnected ? .unconnected : .timedOut)
        }
    }

    // MARK: Deliveries

    /// Records that something has happened to a transfer; returns `false` if it is the last of which that was recorded.
    ///
    /// Whatever libcurl does for one transfer comes in a row: the lines of a head, the parts of a buffer.
    @discardableResult
    private func touch(_ transfer: CurlTransfer) -> Bool {
        guard touched.last !== transfer else { return false }
        touched.append(transfer)
        return true
    }

    /// Hands the events since the last time to workers, who call the receivers.
    private func publish() {
        guard !touched.isEmpty else { return }
        swap(&touched, &ready)
        ready.removeAll { !$0.publish() }
        let stopped = ready.filter(\.isStopped)
        if !stopped.isEmpty {
            endings.schedule(stopped, now: now)
            ready.removeAll(where: \.isStopped)
        }
        guard !ready.isEmpty else { return }
        delivery.schedule(ready, now: now)
        ready.removeAll(keepingCapacity: true)
    }

    /// Whether a transfer waits for a worker, and another worker could be added for it.
    private var needsAttention: Bool { delivery.needsAttention || endings.needsAttention }

    // MARK: What libcurl calls

    func watch(_ socket: Int32, _ what: Int32, for easy: CurlEasy?) {
        connections.sockets.watch(socket, what, for: easy, now: now)
        guard let easy, let socket = connections.sockets.socket(socket), let transfer = active[easy] else { return }
        // libcurl may give the connection to the next transfer in the same call.
        guard what == 4 else { return connections.setSocket(socket, transfer) }
        connections.checkForExtraInput(socket, after: transfer)
        transfer.endWithoutPeer()
    }

    func opened(_ socket: Int32) { connections.sockets.didOpen(socket, now: now) }

    func closes(_ socket: Int32) {
        if let easy = connections.sockets.willClose(socket) { active[easy]?.closes(socket) }
    }

    func noDescriptorIsLeft() { connections.failedToOpenSocket = true }

    // MARK: What a transfer learns of its connection, during calls of libcurl

    /// Records that the connection of a transfer may be shared.
    func isShared(_ transfer: CurlTransfer) { admission.share(transfer) }

    /// Records that a transfer has a connection: from now on, only silence ends it.
    func isConnected(_ transfer: CurlTransfer) {
        guard transfer.stage.place == .connecting, !transfer.isStopped else { return }
        transfer.stage.connect()
        connections.recordAddresses(of: transfer)
        admission.setConnected(transfer, true)
        watchSilence(of: transfer)
    }

    /// Records that a transfer has lost its connection, and libcurl makes another.
    func lostConnection(_ transfer: CurlTransfer) {
        connections.setSocket(nil, transfer)
        guard !transfer.isStopped else { return }
        transfer.stage.reconnect(at: now)
        admission.setConnected(transfer, false)
        watchSilence(of: transfer)
    }

    /// Records that a transfer has received the head of its response.
    func didReceiveHead(_ transfer: CurlTransfer) { admission.didReceiveHead(transfer) }

    /// Whether no transfer can have a socket without having asked for it, as a paused one may.
    private func isFree(_ socket: CurlSocket) -> Bool {
        leaving.isEmpty && !active.values.contains { $0.mayHave(socket) }
    }
}
#endif
