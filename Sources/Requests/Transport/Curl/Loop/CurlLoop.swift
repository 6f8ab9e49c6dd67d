// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The thread that owns libcurl's handles, and the only one that calls libcurl for running transfers.
///
/// One iteration of the loop first waits for sockets or a timer, and lets libcurl process them. Then it executes the
/// commands of the ``CurlInbox``, adds to libcurl the transfers that the ``CurlAdmission`` has admitted, checks the
/// ``CurlConnections``, and delivers all events together. Receivers are never called on this thread.
// Sendable: only the loop's own thread accesses the variables; the inbox and the pool have locks.
final class CurlLoop: @unchecked Sendable {
    /// The maximum number of stopped transfers that one iteration removes from libcurl.
    private static let maximumReleases = 64
    /// The maximum number of TLS transfers that one iteration starts, and of handshakes that it continues.
    ///
    /// Each of them may take up to a millisecond if the connection is new, and no other transfer makes progress during
    /// that time.
    private static let maximumHandshakes = 4

    let callbacks: UnsafeMutablePointer<CCurlCallbacks>
    let configuration: CurlTransport.Configuration
    let proxies: CurlProxies
    private let inbox = CurlInbox()
    private let pool = CurlHandlePool()
    /// The lock that the thread holds while it calls libcurl, so that the process doesn't exit in the middle of a call.
    private let processExitLock = ccurl_gate_new()

    // The properties below are accessed only by the loop.
    private var multi: CurlMulti?
    private var admission: CurlAdmission
    private let connections: CurlConnections
    /// The transfers that have changed in this iteration, in order.
    private var changed: [CurlTransfer] = []
    /// The changed transfers whose receivers must be called; empty except while they are handed to the delivery.
    private var deliverable: [CurlTransfer] = []
    private let delivery = CurlDelivery()
    /// Delivers the end events that this side causes, such as those of cancellations and timeouts.
    ///
    /// Separate workers deliver these events in time, even if blocked receivers delay all other events.
    private let urgentDelivery = CurlDelivery()
    /// The commands of the current iteration.
    private var commands: [CurlInbox.Command] = []
    private var phase = CurlInbox.Phase.running
    /// Whether nothing is left to do until a socket, a timer or a command is ready.
    private var canSleep = false
    private var active: [CurlEasy: CurlTransfer] = [:]
    private var handshakes = HandshakeQueue()
    /// Stopped transfers whose end was reported, but whose handles are still in libcurl.
    private var awaitingRelease: [CurlTransfer] = []
    private var timeouts = IdleTimeouts<ObjectIdentifier>()
    private var budget = CurlBudget { ccurl_processor_time() }
    private var curlTimer: UInt64?
    private(set) var now: UInt64 = 0
    /// Whether the process is exiting, in which case libcurl must not be called any longer.
    private var isProcessExiting = false

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
        ccurl_gate_free(processExitLock)
    }

    // MARK: From any thread

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle
    {
        do {
            let destination = CurlDestination(request.url.absoluteString)
            let isSecure = destination.isSecure
            // libcurl can't change the buffer size of a used handle.
            let hasOwnBufferSize = request.upgrade != nil || !isSecure && request.isStreamed
            let needsNewHandle = hasOwnBufferSize || isSecure && request.trust != .system
            guard let handle = needsNewHandle ? ccurl_handle_new() : pool.take(isSecure: isSecure) else {
                throw RequestError(.other, phase: .sending, reason: "out of memory")
            }
            do {
                let transfer = try CurlTransfer(request, to: destination, handle, loop: self, receive: receive)
                guard submit(.start(transfer)) else {
                    let reason = "the transport was closed, or this process was forked after the transport was used"
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

    /// Submits a command to the loop; returns `false` if the loop has ended and doesn't accept the command.
    @discardableResult
    func submit(_ command: CurlInbox.Command) -> Bool {
        switch inbox.enqueue(command) {
        case .accepted: return true
        case .rejected: return false
        case .needsThread:
            let isOpen = inbox.openDescriptors()
            guard !isOpen || !startThread() else { return true }
            let reason = isOpen ? "can't start a thread" : "out of file descriptors"
            let error = RequestError(.other, phase: .sending, reason: reason)
            for command in inbox.threadDidFailToStart() { command.fail(error) }
            return true
        }
    }

    /// Reports the use of connections, on the loop's thread or, if there is no thread, immediately.
    func report(_ receive: @escaping @Sendable (CurlTransport.Usage) -> Void) {
        if !inbox.isRunning || !submit(.reportUsage(receive)) { receive(CurlTransport.Usage()) }
    }

    /// Ends the thread once all transfers have ended.
    func finish() {
        inbox.shutDown(as: .finishing)
    }

    /// Cancels all transfers, ends the thread, and waits until it has ended.
    func close() {
        inbox.shutDown(as: .closing)
        inbox.waitUntilEnded()
    }

    private func startThread() -> Bool {
        WorkerThread.start("Requests.CurlLoop") { [self] in
            run()
            inbox.threadDidEnd()
            if isProcessExiting { ccurl_await_exit() }
        }
    }

    // MARK: The thread

    private func run() {
        ccurl_block_broken_pipe()
        guard let processExitLock, ccurl_gate_enter(processExitLock) else { return abandon() }
        defer { if !isProcessExiting { ccurl_gate_leave(processExitLock) } }
        multi = makeMulti()
        connections.open(multi, inbox.descriptors)
        if let wakeUp = inbox.descriptors?.wakeUp { ccurl_gate_wakes(processExitLock, wakeUp) }
        while runIteration(processExitLock) {}
        guard !isProcessExiting else { return }

        pool.close()
        if let multi = multi.take() { ccurl_multi_free(multi) }
        connections.close()
        ccurl_thread_ends()
    }

    /// Ends all transfers without calling libcurl, because the process is exiting and its exit handlers may wait for
    /// the transfers.
    private func abandon() {
        isProcessExiting = true
        for command in inbox.closeAndDrain() {
            switch command {
            case .start(let transfer):
                active[transfer.easy] = transfer
                transfer.didEnterLoop()
            case .reportUsage(let receive):
                receive(usage)
            case .stop, .lostPeer, .updatePauses, .resolved:
                break
            }
        }
        for transfer in active.values {
            _ = transfer.stop(.processEnds)
            complete(transfer, code: CurlResult.stopped)
        }
        publish()
    }

    /// Runs one iteration; returns `false` if it was the last one.
    private func runIteration(_ processExitLock: OpaquePointer) -> Bool {
        ccurl_gate_leave(processExitLock)
        connections.sockets.wait(milliseconds: canSleep ? waitMilliseconds : 0) { isFree($0) }
        guard ccurl_gate_enter(processExitLock) else {
            abandon()
            return false
        }
        now = DispatchTime.now().uptimeNanoseconds
        budget.reset()
        inbox.didWake()
        connections.checkForSuspension(active.values) { isFree($0) }
        if delivery.needsWorkerCheck { delivery.schedule(now: now) }
        if urgentDelivery.needsWorkerCheck { urgentDelivery.schedule(now: now) }
        processSockets()
        phase = inbox.drain(&commands) ?? phase
        executeCommands()
        if phase == .closing { for transfer in active.values { stop(transfer, .transportClosed) } }
        // Publish before the connections of stopped transfers are closed, because closing takes longer.
        if !awaitingRelease.isEmpty { publish() }
        releaseStopped()
        admit()
        // This also starts the transfers that have just been admitted and needn't wait for a socket.
        if let due = curlTimer, due <= now {
            curlTimer = nil
            performAction(-1)
        }
        stopTimedOut()
        connections.closeExpired(now: now) { isFree($0) }
        handleEndedTransfers()
        admit()
        publish()
        let isEnding = active.isEmpty && awaitingRelease.isEmpty && phase != .running
        if isEnding, !needsWorkerCheck, inbox.closeIfEmpty() { return false }
        canSleep = awaitingRelease.isEmpty && handshakes.isEmpty && inbox.prepareToSleep()
        return true
    }

    /// The maximum time to wait for sockets, until a timer is due or the delivery must be checked; -1 for no limit.
    private var waitMilliseconds: Int32 {
        var due = min(curlTimer ?? .max, timeouts.nextCheck ?? .max, connections.due ?? .max)
        if needsWorkerCheck { due = min(due, now &+ CurlDelivery.interval) }
        guard due != .max else { return -1 }
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    /// Lets libcurl process the ready sockets, but continues only a few TLS handshakes.
    ///
    /// Handshakes come last. The sockets of the remaining handshakes are still ready in the next iteration.
    private func processSockets() {
        var handshakes: [Int32] = []
        for socket in connections.sockets.closedByPeer {
            connections.sockets.owner(of: socket).flatMap { active[$0] }?.handleLostPeer(hasConnectionEnded: true)
        }
        for event in connections.sockets.ready {
            connections.sockets.recordActivity(event, now: now)
            let transfer = connections.sockets.owner(of: event.socket).flatMap { active[$0] }
            if let transfer, transfer.destination.isSecure, transfer.stage.phase == .connecting {
                handshakes.append(event.socket)
            } else {
                performAction(
                    event.socket,
                    isRead: transfer?.hasPlainConnection == true && connections.sockets.isReadable(event)
                )
            }
        }
        for socket in handshakes.prefix(Self.maximumHandshakes) { performAction(socket) }
    }

    private func performAction(_ socket: Int32, isRead: Bool = false) {
        budget.reset()
        if let multi { _ = ccurl_multi_act(multi, socket, isRead ? 1 : 0) }
    }

    // MARK: Commands

    private func executeCommands() {
        for command in commands { execute(command) }
        // A command retains its transfer, and the transfer retains its operation.
        commands.removeAll(keepingCapacity: true)
    }

    private func execute(_ command: CurlInbox.Command) {
        switch command {
        case .start(let transfer):
            active[transfer.easy] = transfer
            transfer.didEnterLoop()
            admission.add(transfer)
        case .stop(let transfer, let reason):
            stop(transfer, reason)
        case .lostPeer(let transfer, let restarts):
            // The lost connection may have been reported twice, or before the transfer was resent.
            guard transfer.restarts == restarts, !resendAfterLostPeer(transfer) else { return }
            stop(transfer, .peerEnded)
        case .updatePauses(let transfer):
            updatePauses(transfer)
        case .resolved(let query, let found):
            admission.receive(found, for: query)
        case .reportUsage(let receive):
            // First admit the requests that arrived before this command, so that they are included in the usage.
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

    private func updatePauses(_ transfer: CurlTransfer) {
        guard isActive(transfer) else { return }
        let wasPaused = transfer.pausesReceiving
        budget.reset()
        // While the transfer resumes, libcurl delivers content that it has buffered. If that fails, the error is
        // reported only here.
        let code = transfer.updatePauses()
        guard code == 0 || code == CurlResult.noConnection else { return end(transfer, code: code) }
        markChanged(transfer)
        if transfer.stage.phase == .awaitingContent, !transfer.awaitsContent { admission.resumeAfterOpening(transfer) }
        guard wasPaused, !transfer.pausesReceiving else { return }
        transfer.stage.restartWait(at: now)
        startIdleTimeout(of: transfer)
    }

    /// Stops a transfer, and reports its end before its connection is closed.
    ///
    /// Closing a connection takes longer. When thousands of transfers are cancelled together, no receiver should wait
    /// until the connections of other transfers are closed.
    private func stop(_ transfer: CurlTransfer, _ reason: CurlTransferState.Stop) {
        guard isActive(transfer) else { return }
        // If the transfer is already ending for another reason, that reason is kept.
        _ = transfer.stop(reason)
        complete(transfer, code: CurlResult.stopped)
        // A transfer that was added to libcurl keeps its slot until its connection is closed.
        if !transfer.stage.phase.isAddedToCurl { admission.remove(transfer) }
        awaitingRelease.append(transfer)
    }

    // MARK: Starting transfers

    /// Starts the admitted transfers, but only a few TLS transfers in one iteration.
    private func admit() {
        while let step = admission.nextStep(self, isConnected: { connections.sockets.hasConnection(to: $0) }) {
            switch step {
            case .start(let transfer):
                if transfer.destination.isSecure { handshakes.append(transfer) } else { addToMulti(transfer) }
            case .wait(let transfer):
                startIdleTimeout(of: transfer)
            case .fail(let transfer, let failure):
                let host = transfer.awaitedDestination?.host ?? transfer.destination.host
                ccurl_handle_set_error(transfer.handle, "Could not resolve host: \(host) (\(failure.reason))")
                end(transfer, code: CurlResult.unknownHost)
            case .stop(let transfer, let reason):
                stop(transfer, reason)
            }
        }
        for _ in 0..<Self.maximumHandshakes {
            guard let transfer = handshakes.popFirst() else { break }
            addToMulti(transfer)
        }
    }

    private func addToMulti(_ transfer: CurlTransfer) {
        guard !transfer.isCancelled else { return stop(transfer, .cancelled) }
        transfer.willAddToMulti()
        connections.prepare(transfer, now: now) { isFree($0) }
        connections.limitIdle(transferCount: active.count + awaitingRelease.count)
        startIdleTimeout(of: transfer)
        guard let multi, ccurl_multi_add(multi, transfer.easy) == 0 else {
            return end(transfer, code: CurlResult.failedToStart)
        }
    }

    // MARK: Ending transfers

    private func handleEndedTransfers() {
        guard let multi else { return }
        repeat {
            var code: Int32 = 0
            while let easy = ccurl_multi_take_ended(multi, &code) {
                guard let transfer = active[easy] else { continue }
                if !resend(transfer, after: code, in: multi) { end(transfer, code: code) }
            }
        } while connections.retryAfterMakingRoom()
    }

    /// Resends a request without a response if no server has processed it; returns `false` if it must not be resent.
    private func resend(_ transfer: CurlTransfer, after code: Int32, in multi: CurlMulti) -> Bool {
        if connections.isOutOfDescriptors(with: code) {
            guard transfer.prepareUnsentRetry() else {
                ccurl_handle_set_error(transfer.handle, "out of file descriptors for connections")
                return false
            }
            connections.makeRoom(attempt: transfer.restarts)
        } else {
            guard transfer.prepareResend() else { return false }
        }
        return restart(transfer, in: multi)
    }

    /// Resends a request whose reused connection has ended; returns `false` if it can't be resent.
    private func resendAfterLostPeer(_ transfer: CurlTransfer) -> Bool {
        guard let multi, isActive(transfer), transfer.prepareResendAfterLostPeer() else { return false }
        return restart(transfer, in: multi)
    }

    private func restart(_ transfer: CurlTransfer, in multi: CurlMulti) -> Bool {
        _ = ccurl_multi_remove(multi, transfer.easy)
        return ccurl_multi_add(multi, transfer.easy) == 0
    }

    /// Records a GOAWAY frame (RFC 9113, 6.8) for all transfers of a connection, whichever of them received it.
    func didReceiveGoAway(lastStream last: UInt32, on connection: CurlTransfer.Connection) {
        for transfer in active.values { transfer.markUnprocessed(above: last, on: connection) }
    }

    private func end(_ transfer: CurlTransfer, code: Int32) {
        complete(transfer, code: code)
        release(transfer)
    }

    /// Completes a transfer, so that the next delivery reports its end.
    private func complete(_ transfer: CurlTransfer, code: Int32) {
        active[transfer.easy] = nil
        timeouts.remove(ObjectIdentifier(transfer))
        transfer.complete(code)
        if transfer.hasConnectTimedOut || code == CurlResult.cannotConnect { forgetAddresses(of: transfer) }
        markChanged(transfer)
    }

    /// Discards the addresses that a transfer couldn't connect to, because the service may have moved to other
    /// addresses.
    private func forgetAddresses(of transfer: CurlTransfer) {
        connections.forgetAddresses(of: transfer)
        admission.forgetAddresses(of: transfer)
    }

    /// Removes a transfer's handle from libcurl, which closes the connection if the transfer isn't complete.
    private func release(_ transfer: CurlTransfer) {
        let socket = connections.socket(of: transfer)
        budget.reset()
        transfer.discardBufferedContent()
        if let multi { _ = ccurl_multi_remove(multi, transfer.easy) }
        connections.transferEnded(transfer, on: socket, now: now) { isFree($0) }
        connections.limitIdle(transferCount: active.count + awaitingRelease.count)
        admission.remove(transfer)
        guard transfer.isHandleReusable else { return ccurl_handle_free(transfer.handle) }
        pool.put(transfer.handle, isSecure: transfer.destination.isSecure)
    }

    /// Releases some of the stopped transfers per iteration, so that other transfers can continue in between.
    private func releaseStopped() {
        // Copied into an array, because a slice would force a copy of the remaining elements.
        let some = Array(awaitingRelease.prefix(Self.maximumReleases))
        awaitingRelease.removeFirst(some.count)
        for transfer in some { release(transfer) }
    }

    // MARK: Timers

    func setTimer(_ milliseconds: Int) {
        curlTimer = milliseconds < 0 ? nil : now &+ UInt64(milliseconds) &* 1_000_000
    }

    /// Starts the idle timeout for the transfer's current stage.
    func startIdleTimeout(of transfer: CurlTransfer) {
        guard let timeout = transfer.stage.idleTimeout(at: now) else { return }
        _ = timeouts.add(ObjectIdentifier(transfer), timeout: UInt64(timeout.clampedNanoseconds), now: now)
    }

    /// Records activity of a transfer, and schedules the delivery of its events.
    ///
    /// Transfers call this in every libcurl callback. Consecutive calls see the same loop time, so only the first needs
    /// to be recorded.
    func recordActivity(_ transfer: CurlTransfer) {
        budget.reset()
        if markChanged(transfer) { timeouts.touch(ObjectIdentifier(transfer), now: now) }
    }

    /// Counts a part of a TLS record that has arrived for a transfer.
    ///
    /// If the peer sends nothing else for too long, the connection is closed, so that libcurl returns.
    func didReceiveTLSRecord(_ transfer: CurlTransfer) {
        guard budget.countRecord(for: transfer.easy) else { return }
        budget.reset()
        _ = transfer.stop(.flooded)
        connections.abort(transfer)
    }

    private func stopTimedOut() {
        let (expired, _) = timeouts.check(now: now)
        guard !expired.isEmpty else { return }
        let timedOut = Set(expired)
        for transfer in active.values where timedOut.contains(ObjectIdentifier(transfer)) {
            // Paused and queued transfers don't time out. Their timeouts restart when they continue.
            guard !transfer.pausesReceiving, transfer.stage.idleTimeout(at: now) != nil else { continue }
            connections.didTimeOut(transfer) { isFree($0) }
            stop(transfer, transfer.stage.phase.awaitsConnection ? .connectTimedOut : .timedOut)
        }
    }

    // MARK: Delivery

    /// Marks a transfer as changed in this iteration; returns `false` if it is already the last transfer in the list.
    ///
    /// Checking only the last transfer is enough, because libcurl reports all lines of a head, or all parts of a
    /// buffer, in a row.
    @discardableResult
    private func markChanged(_ transfer: CurlTransfer) -> Bool {
        guard changed.last !== transfer else { return false }
        changed.append(transfer)
        return true
    }

    /// Hands the new events to workers, which call the receivers.
    private func publish() {
        guard !changed.isEmpty else { return }
        swap(&changed, &deliverable)
        deliverable.removeAll { !$0.publish() }
        let stopped = deliverable.filter(\.isStopped)
        if !stopped.isEmpty {
            urgentDelivery.schedule(stopped, now: now)
            deliverable.removeAll(where: \.isStopped)
        }
        guard !deliverable.isEmpty else { return }
        delivery.schedule(deliverable, now: now)
        deliverable.removeAll(keepingCapacity: true)
    }

    /// Whether a transfer is waiting for a worker, and another worker could be added for it.
    private var needsWorkerCheck: Bool { delivery.needsWorkerCheck || urgentDelivery.needsWorkerCheck }

    // MARK: Callbacks of libcurl

    func watch(_ socket: Int32, _ what: Int32, for easy: CurlEasy?) {
        connections.sockets.watch(socket, what, for: easy, now: now)
        guard let easy, let socket = connections.sockets.socket(socket), let transfer = active[easy] else { return }
        // Check the socket now, because libcurl may give the connection to the next transfer within the same call.
        guard what == 4 else { return connections.setSocket(socket, transfer) }
        connections.checkForExtraInput(socket, after: transfer)
        transfer.handleLostPeer()
    }

    func didOpen(_ socket: Int32) { connections.sockets.didOpen(socket, now: now) }

    func willClose(_ socket: Int32) {
        if let easy = connections.sockets.willClose(socket) { active[easy]?.willClose(socket) }
    }

    func didRunOutOfDescriptors() { connections.failedToOpenSocket = true }

    // MARK: Connection events, reported by transfers during libcurl calls

    /// Records that the connection of a transfer multiplexes requests.
    func didMultiplex(_ transfer: CurlTransfer) { admission.didMultiplex(transfer) }

    /// Records that a transfer is connected; the connect timeout no longer applies to it.
    func didConnect(_ transfer: CurlTransfer) {
        guard transfer.stage.phase == .connecting, !transfer.isStopped else { return }
        transfer.stage.didConnect()
        connections.recordAddresses(of: transfer)
        admission.setConnected(transfer, true)
        startIdleTimeout(of: transfer)
    }

    /// Records that a transfer has lost its connection, and that libcurl is opening a new connection.
    func didLoseConnection(_ transfer: CurlTransfer) {
        connections.setSocket(nil, transfer)
        guard !transfer.isStopped else { return }
        transfer.stage.reconnect(at: now)
        admission.setConnected(transfer, false)
        startIdleTimeout(of: transfer)
    }

    func didReceiveHead(_ transfer: CurlTransfer) { admission.didReceiveHead(transfer) }

    /// Returns whether no transfer can be using a socket.
    ///
    /// A paused transfer may use a socket that libcurl doesn't currently watch.
    private func isFree(_ socket: CurlSocket) -> Bool {
        awaitingRelease.isEmpty && !active.values.contains { $0.mayOwn(socket) }
    }
}
#endif
