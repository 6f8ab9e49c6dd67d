// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// The thread that owns libcurl's handles: the only one that calls libcurl about a transfer under way.
///
/// Other threads hand over commands through one locked inbox, and wake the loop only if it sleeps. A turn of the loop
/// takes the commands, waits for sockets or a timer, lets libcurl act, and then has all that happened delivered in one
/// go. No receiver is ever called on this thread, and libcurl is never called from any other.
// Sendable: the libcurl loop. What isn't constant is touched by its own thread alone; the inbox and the pool have
// locks.
final class CurlLoop: @unchecked Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        case stop(CurlTransfer, CurlTransferState.Stop)
        case hold(CurlTransfer)
        case resumeSending(CurlTransfer)
        case mailboxEmptied(CurlTransfer)
        case found(String, HostNames.Found)
    }

    private struct Inbox: Sendable {
        enum Phase: Sendable {
            /// No thread yet.
            case idle
            /// The thread runs.
            case running
            /// It ends when nothing runs any more.
            case finishing
            /// It cancels what runs, and ends.
            case closing
            /// It has ended.
            case ended
        }

        var phase = Phase.idle
        var commands: [Command] = []
        var sleeps = false
    }

    /// What the loop sleeps on, and what ends its sleep.
    private struct Descriptors: Sendable {
        let poll = ccurl_poll_new()
        let wakeUp = ccurl_wake_new()

        var isWhole: Bool { poll >= 0 && wakeUp >= 0 }

        func close() {
            ccurl_close(poll)
            ccurl_close(wakeUp)
        }
    }

    /// libcurl's code for a handle without a connection, which can't be paused and needn't be resumed.
    private static let badArgument: Int32 = 43
    private static let unknownHost: Int32 = 6
    private static let cannotConnect: Int32 = 7
    /// A quarter of the descriptors that there are to be had, at most.
    private static let mostIdleConnections = min(256, max(1, ccurl_most_descriptors() / 4))
    /// How many handles of transfers that were stopped are taken from libcurl in one turn.
    private static let mostReleases = 64

    let callbacks: UnsafeMutablePointer<CCurlCallbacks>
    private let configuration: CurlTransport.Configuration
    private let inbox = Locked(Inbox())
    private let pool = CurlHandlePool()
    private let delivery = CurlDelivery()
    /// Tells the ends that come from this side, also where receivers hold up all workers of the other.
    private let endings = CurlDelivery()
    private let ended = DispatchGroup()
    private let descriptors = Locked<Descriptors?>(nil)
    /// What the thread holds while it calls libcurl, so that the process doesn't end meanwhile.
    private let gate = ccurl_gate_new()

    // The loop's own.
    private var multi: OpaquePointer?
    private var sockets = CurlSockets()
    private var entrance: CurlEntrance
    private var sweep = CurlSweep()
    /// Those whose turn it is.
    private var turns = FIFO<CurlTransfer>()
    private var isProceeding = false
    /// Those whose connections may have several share them.
    private var sharing: [CurlTransfer] = []
    /// Whether a socket couldn't be opened.
    private var lacksDescriptor = false
    private var active: [OpaquePointer: CurlTransfer] = [:]
    /// Those that were stopped and have been told so, whose handles libcurl still has.
    private var leaving: [CurlTransfer] = []
    private var touched: [CurlTransfer] = []
    private var timeouts = IdleTimeouts<ObjectIdentifier>()
    private var idleCheck: UInt64?
    private var curlTimer: UInt64?
    private(set) var now: UInt64 = 0
    /// Whether the process ends, and libcurl isn't called any more.
    private var isAbandoned = false

    init(_ configuration: CurlTransport.Configuration) {
        self.configuration = configuration
        entrance = CurlEntrance(configuration)
        sockets.lifetime = configuration.lifetime
        callbacks = .allocate(capacity: 1)
        callbacks.initialize(to: CCurlCallbacks(loop: self))
        // Entered here, so that who closes has something to wait for also while the thread is only about to start.
        // Left by the thread, or by the end without one: a transport that goes sees to that.
        ended.enter()
    }

    deinit {
        descriptors.withLock { $0 }?.close()
        callbacks.deallocate()
        ccurl_gate_free(gate)
    }

    // MARK: From any thread

    func start(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        do {
            try open()
            guard let easy = CurlOptions.needsLargeBuffer(request) ? ccurl_easy_new() : pool.take() else {
                throw RequestError(.other, phase: .sending, reason: "out of memory")
            }
            do {
                let transfer = try CurlTransfer(
                    request,
                    easy: easy,
                    loop: self,
                    configuration: configuration,
                    receive: receive
                )
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

    /// Makes the descriptors with the first request: where none is left then, there may be later.
    private func open() throws {
        guard descriptors.withLock({ $0 == nil }) else { return }
        let made = Descriptors()
        let isKept =
            made.isWhole
            && descriptors.withLock { kept in
                guard kept == nil else { return false }
                kept = made
                return true
            }
        guard !isKept else { return }
        made.close()
        guard made.isWhole else { throw RequestError(.other, phase: .sending, reason: "no file descriptor is left") }
    }

    private func wake() {
        if let wakeUp = descriptors.withLock({ $0?.wakeUp }) { ccurl_wake(wakeUp) }
    }

    /// Hands a command to the loop; false where that has ended, and will never take it.
    @discardableResult
    func submit(_ command: Command) -> Bool {
        let (accepted, startsThread, wakes) = inbox.withLock { inbox -> (Bool, Bool, Bool) in
            switch inbox.phase {
            case .closing where command.isStart, .ended: return (false, false, false)
            default: break
            }
            inbox.commands.append(command)
            defer { inbox.sleeps = false }
            guard inbox.phase == .idle else { return (true, false, inbox.sleeps) }
            inbox.phase = .running
            return (true, true, false)
        }
        if startsThread { startThread() }
        if wakes { wake() }
        return accepted
    }

    /// Ends the thread when nothing runs any more.
    func finish() {
        end(as: .finishing)
    }

    /// Cancels what runs, ends the thread, and waits for that.
    func close() {
        end(as: .closing)
        ended.wait()
    }

    private func end(as phase: Inbox.Phase) {
        let (wakes, hadNoThread) = inbox.withLock { inbox in
            let hadNoThread = inbox.phase == .idle
            switch inbox.phase {
            case .idle: inbox.phase = .ended
            case .running, .finishing: inbox.phase = phase
            case .closing, .ended: break
            }
            defer { inbox.sleeps = false }
            return (inbox.sleeps, hadNoThread)
        }
        if hadNoThread { ended.leave() }
        if wakes { wake() }
    }

    private func startThread() {
        let thread = Thread { [self] in
            run()
            ended.leave()
        }
        thread.name = "Requests.CurlLoop"
        thread.start()
    }

    // MARK: The thread

    private func run() {
        ccurl_block_broken_pipe()
        guard let gate, ccurl_gate_enter(gate) else { return abandon() }
        defer { if !isAbandoned { ccurl_gate_leave(gate) } }
        let context = Unmanaged.passUnretained(self).toOpaque()
        multi = ccurl_multi_new(
            { easy, socket, what, context, _ in
                CurlLoop.at(context)?.watch(socket, what, for: easy)
                return 0
            },
            { _, milliseconds, context in
                CurlLoop.at(context)?.setTimer(milliseconds)
                return 0
            },
            context
        )
        if let descriptors = descriptors.withLock({ $0 }) { sockets.open(descriptors.poll, wakeUp: descriptors.wakeUp) }
        if let limit = configuration.maximumConnectionsPerHost { set(CCURLM_MAX_HOST_CONNECTIONS, limit) }
        if let limit = configuration.maximumConnections { set(CCURLM_MAX_TOTAL_CONNECTIONS, limit) }

        while turn(gate) {}
        guard !isAbandoned else { return }

        pool.close()
        sweep.close()
        if let multi { ccurl_multi_free(multi) }
        multi = nil
    }

    private func set(_ option: CCurlMultiOption, _ value: Int) {
        if let multi { _ = ccurl_multi_set_long(multi, option, value) }
    }

    /// Leaves everything as it is, since the process ends.
    private func abandon() {
        isAbandoned = true
        inbox.withLock { $0.phase = .ended }
    }

    /// One turn; false when it was the last.
    private func turn(_ gate: OpaquePointer) -> Bool {
        now = DispatchTime.now().uptimeNanoseconds
        let phase = takeCommands()
        if phase == .closing { for transfer in active.values { stop(transfer, .transportClosed) } }
        publish()
        releaseStopped()
        let isEnding = active.isEmpty && leaving.isEmpty && phase != .running
        if isEnding, !delivery.needsAttention, !endings.needsAttention, endIfIdle() { return false }

        let mayWait = inbox.withLock { inbox in
            inbox.sleeps = inbox.commands.isEmpty && inbox.phase == phase && leaving.isEmpty && sharing.isEmpty
            return inbox.sleeps
        }
        ccurl_gate_leave(gate)
        let ready = sockets.wait(milliseconds: mayWait ? pause(isEnding) : 0) { isFree($0) }
        guard ccurl_gate_enter(gate) else {
            abandon()
            return false
        }
        if mayWait { inbox.withLock { $0.sleeps = false } }
        now = DispatchTime.now().uptimeNanoseconds
        for socket in ready { act(socket.socket, socket.bits) }
        if let due = curlTimer, due <= now {
            curlTimer = nil
            act(-1, 0)
        }
        checkIdle()
        closeConnections()
        takeEnded()
        for transfer in sharing { proceed(entrance.share(transfer)) }
        sharing.removeAll()
        publish()
        for delivery in [delivery, endings] where delivery.hasBacklog { delivery.attend(now: now) }
        return true
    }

    private func endIfIdle() -> Bool {
        inbox.withLock { inbox in
            guard inbox.commands.isEmpty else { return false }
            inbox.phase = .ended
            return true
        }
    }

    /// How long to wait for sockets, at most: until a timer is due, or the delivery has to be looked after, whose end may
    /// also be what this waits for.
    private func pause(_ isEnding: Bool) -> Int32 {
        var due = min(curlTimer ?? .max, idleCheck ?? .max, sweep.due ?? .max)
        if isEnding || delivery.hasBacklog || endings.hasBacklog { due = min(due, now &+ CurlDelivery.interval) }
        guard due != .max else { return -1 }
        return due <= now ? 0 : Int32(clamping: (due - now + 999_999) / 1_000_000)
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        if let multi { _ = ccurl_multi_act(multi, socket, bits) }
    }

    /// libcurl's limit is for all connections, and where those in use exceed it, it keeps none for the next request.
    private func limitIdleConnections() {
        set(CCURLM_MAXCONNECTS, active.count + leaving.count + Self.mostIdleConnections)
    }

    // MARK: Commands

    private func obey(_ command: Command) {
        switch command {
        case .start(let transfer):
            start(transfer)
        case .stop(let transfer, let reason):
            stop(transfer, reason)
        case .hold(let transfer):
            resume(transfer) { $0.hold() }
        case .resumeSending(let transfer):
            resume(transfer) { $0.resumeSending() }
        case .mailboxEmptied(let transfer):
            resume(transfer) { $0.mailboxEmptied() }
        case .found(let name, let found):
            for transfer in entrance.takeAwaiting(name) { connect(transfer, found) }
        }
    }

    // A method of its own, so that the commands are let go of before the loop sleeps: each holds its transfer, and that
    // the operation that it is for.
    private func takeCommands() -> Inbox.Phase {
        let (commands, phase) = inbox.withLock { inbox in
            defer { inbox.commands = [] }
            return (inbox.commands, inbox.phase)
        }
        for command in commands { obey(command) }
        return phase
    }

    private func isActive(_ transfer: CurlTransfer) -> Bool {
        active[transfer.easy] === transfer
    }

    private func start(_ transfer: CurlTransfer) {
        active[transfer.easy] = transfer
        transfer.begin()
        if entrance.enter(transfer) { connect(transfer) }
    }

    /// Goes ahead with a transfer whose turn it is.
    private func connect(_ transfer: CurlTransfer) {
        transfer.dispatch()
        let isConnected = transfer.destination.name.map { sockets.hasConnection(to: $0) } ?? false
        switch entrance.addresses(for: transfer, isConnected: isConnected, tell: self) {
        case .notNeeded: add(transfer)
        case .known(let addresses): connect(transfer, .success(addresses))
        case .fixed(let addresses):
            transfer.connect(to: addresses, areFixed: true)
            add(transfer)
        case .awaited: watchIdle(transfer, for: transfer.patience)
        }
    }

    private func connect(_ transfer: CurlTransfer, _ found: HostNames.Found) {
        guard isActive(transfer) else { return }
        switch found {
        case .success(let addresses):
            transfer.connect(to: addresses, areFixed: false)
            add(transfer)
        case .failure(let failure):
            transfer.note("Could not resolve host: \(transfer.destination.host) (\(failure.reason))")
            end(transfer, code: Self.unknownHost)
        }
    }

    private func add(_ transfer: CurlTransfer) {
        transfer.take()
        limitIdleConnections()
        watchIdle(transfer)
        guard let multi, ccurl_multi_add(multi, transfer.easy) == 0 else { return end(transfer, code: 2) }
    }

    /// Goes ahead with those whose turn it is, and those whose turn that makes it; one after the other, since thousands may
    /// have been stopped while they were in line.
    private func proceed(_ transfers: [CurlTransfer]) {
        guard !transfers.isEmpty else { return }
        turns.append(contentsOf: transfers)
        guard !isProceeding else { return }
        isProceeding = true
        defer { isProceeding = false }
        while let transfer = turns.popFirst() {
            if isActive(transfer) { connect(transfer) } else { turns.append(contentsOf: entrance.leave(transfer)) }
        }
    }

    /// Notes that the connection of a transfer may have several share it; libcurl tells in the middle of what it does.
    func isShared(_ transfer: CurlTransfer) {
        if entrance.isLimited { sharing.append(transfer) }
    }

    private func resume(_ transfer: CurlTransfer, _ change: (CurlTransfer) -> Int32) {
        guard isActive(transfer) else { return }
        // What libcurl had kept comes while it resumes. It tells here what that has failed of, and not again.
        let code = change(transfer)
        guard code == 0 || code == Self.badArgument else { return end(transfer, code: code) }
        touched.append(transfer)
        guard !transfer.holdsPeer, transfer.stage != .inLine else { return }
        watchIdle(transfer, for: transfer.stage == .awaitingName ? transfer.patience : nil)
    }

    /// Ends a transfer, whose connection is closed when that has been told: closing takes the system longer, and where
    /// thousands are called off at once, nobody has to wait for the connections of the others.
    private func stop(_ transfer: CurlTransfer, _ reason: CurlTransferState.Stop) {
        guard isActive(transfer) else { return }
        // Where the transfer is to end for another reason, that one stays.
        _ = transfer.stop(reason)
        conclude(transfer, code: 42)
        leaving.append(transfer)
    }

    // MARK: Ends

    private func takeEnded() {
        guard let multi else { return }
        var isTight = false
        repeat {
            isTight = false
            var code: Int32 = 0
            while let easy = ccurl_multi_take_ended(multi, &code) {
                guard let transfer = active[easy] else { continue }
                let lacksDescriptor = lacksDescriptor && code == Self.cannotConnect
                if code != 0, lacksDescriptor ? transfer.startAgain() : transfer.beginAgain() {
                    if lacksDescriptor {
                        makeRoom(transfer.restarts)
                        isTight = true
                    }
                    _ = ccurl_multi_remove(multi, easy)
                    if ccurl_multi_add(multi, easy) == 0 { continue }
                }
                if lacksDescriptor { transfer.note("No file descriptor is left for a connection") }
                end(transfer, code: code)
            }
            lacksDescriptor = false
            if isTight {
                act(-1, 0)
                set(CCURLM_MAX_TOTAL_CONNECTIONS, configuration.maximumConnections ?? 0)
            }
        } while isTight
    }

    /// Has libcurl close the connection that has been idle for longest before it makes another.
    ///
    /// It may count fewer connections than there are sockets, as one that is being made may have two.
    private func makeRoom(_ attempt: Int) {
        set(CCURLM_MAX_TOTAL_CONNECTIONS, max(1, sockets.count - attempt + 1))
    }

    /// Closes connections that have ended, or have been idle for too long.
    private func closeConnections() {
        if sockets.hasRetired { sweep.hurry(now: now) }
        guard let multi, let due = sweep.due, due <= now else { return }
        sweep.wait(until: sockets.retireIdle(now: now) { isFree($0) })
        guard sockets.hasRetired else { return }
        sweep.run(in: multi, now: now)
        sockets.countRetired()
        if sockets.hasRetired { sweep.hurry(now: now) }
    }

    /// Whether no transfer can have a socket without having asked for it, as one that is paused may.
    private func isFree(_ socket: Int32) -> Bool {
        leaving.isEmpty && !active.values.contains { $0.isPaused && ($0.socket < 0 || $0.socket == socket) }
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
        touched.append(transfer)
    }

    /// Takes the handle of a transfer from libcurl, which closes the connection of one that isn't complete.
    private func release(_ transfer: CurlTransfer) {
        // libcurl doesn't tell the socket of a transfer that never had to wait.
        let isCounted = transfer.socket < 0 && transfer.wasSent && sockets.lifetime.isLimited
        let socket = isCounted ? ccurl_easy_socket(transfer.easy) : transfer.socket
        if let multi { _ = ccurl_multi_remove(multi, transfer.easy) }
        sockets.transferEnded(on: socket, for: transfer.easy, host: transfer.destination.name, now: now) { isFree($0) }
        sweep.expect(in: sockets.lifetime.idle, now: now)
        limitIdleConnections()
        proceed(entrance.leave(transfer))
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

    /// Has delivered what has happened since the last time.
    private func publish() {
        guard !touched.isEmpty else { return }
        let ready = touched.filter { $0.publish() }
        touched.removeAll(keepingCapacity: true)
        guard !ready.isEmpty else { return }
        let stopped = ready.filter(\.isStopped)
        guard !stopped.isEmpty else { return delivery.schedule(ready, now: now) }
        endings.schedule(stopped, now: now)
        delivery.schedule(ready.filter { !$0.isStopped }, now: now)
    }

    // MARK: Timers

    private func setTimer(_ milliseconds: Int) {
        curlTimer = milliseconds < 0 ? nil : now &+ UInt64(milliseconds) &* 1_000_000
    }

    private func watchIdle(_ transfer: CurlTransfer, for patience: Duration? = nil) {
        let nanoseconds = UInt64(max(0, min((patience ?? transfer.timeout) / .nanoseconds(1), 1e18)))
        if let check = timeouts.add(ObjectIdentifier(transfer), timeout: nanoseconds, now: now) { idleCheck = check }
    }

    /// A sign of life, and the reason to publish: called by a transfer whenever libcurl calls it.
    ///
    /// That is for each line of a head, one after the other, and all at the same time as far as the loop knows: the
    /// first of them has said it all.
    func noteActivity(_ transfer: CurlTransfer) {
        guard touched.last !== transfer else { return }
        timeouts.touch(ObjectIdentifier(transfer), now: now)
        touched.append(transfer)
    }

    private func checkIdle() {
        guard let due = idleCheck, due <= now else { return }
        let (expired, next) = timeouts.check(now: now)
        idleCheck = next
        guard !expired.isEmpty else { return }
        let silent = Set(expired)
        for transfer in active.values where silent.contains(ObjectIdentifier(transfer)) && !transfer.holdsPeer {
            stop(transfer, .timedOut)
        }
    }

    // MARK: Sockets

    private func watch(_ socket: Int32, _ what: Int32, for easy: OpaquePointer?) {
        sockets.watch(socket, what, for: easy, now: now)
        if let easy { active[easy]?.socket = socket }
    }

    func opened(_ socket: Int32) { sockets.opened(socket, now: now) }
    func closes(_ socket: Int32) { sockets.closes(socket) }
    func noDescriptorIsLeft() { lacksDescriptor = true }

    // The thread holds the loop for as long as it runs, and libcurl calls back on that thread only.
    static func at(_ context: UnsafeMutableRawPointer?) -> CurlLoop? {
        context.map { Unmanaged<CurlLoop>.fromOpaque($0).takeUnretainedValue() }
    }
}

extension CurlLoop.Command {
    fileprivate var isStart: Bool {
        if case .start = self { true } else { false }
    }
}
#endif
