// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation
import Synchronization

/// The commands from other threads to the loop, and the lifecycle of the loop's thread.
///
/// The first command starts the thread; a later command wakes it only if it is sleeping. The thread takes all pending
/// commands together. It ends when the loop is closed, or when nothing is left to do after ``shutDown(as:)``.
final class CurlInbox: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        case stop(CurlTransfer, CurlTransferState.Stop)
        /// The peer of a transfer has closed the connection.
        ///
        /// The number of restarts identifies the attempt, so that the command can't affect a later attempt.
        case lostPeer(CurlTransfer, restarts: Int)
        /// The pause state of a transfer has changed.
        case updatePauses(CurlTransfer)
        case resolved(HostQuery, HostResolver.LookupResult)
        /// Reports the use of connections.
        case reportUsage(@Sendable (CurlTransport.Usage) -> Void)

        /// Ends what waits for the command, because no thread will execute it: a transfer fails with the error, and a
        /// usage report is empty.
        func fail(_ error: RequestError) {
            switch self {
            case .start(let transfer): transfer.fail(error)
            case .reportUsage(let receive): receive(CurlTransport.Usage())
            case .stop, .lostPeer, .updatePauses, .resolved: break
            }
        }
    }

    /// The lifecycle of the thread.
    enum Phase: Sendable {
        /// Not started yet.
        case idle
        case running
        /// Ends once all transfers have ended.
        case finishing
        /// Cancels all transfers, and ends.
        case closing
        case ended
    }

    /// The result of enqueueing a command.
    enum EnqueueResult: Sendable {
        case accepted
        /// Accepted, but a thread must be started.
        case needsThread
        /// Rejected, because the loop has ended or is about to end, or belongs to another process.
        case rejected
    }

    /// The descriptor that the loop waits on, and the descriptor that wakes the loop.
    struct Descriptors: Sendable {
        let poll = ccurl_poll_new()
        let wakeUp = ccurl_wake_new()

        fileprivate var isValid: Bool { poll >= 0 && wakeUp >= 0 }

        fileprivate func close() {
            ccurl_close(poll)
            ccurl_close(wakeUp)
        }
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var commands: [Command] = []
        var descriptors: Descriptors?
        /// The process's fork count when the thread was started; `nil` before that.
        var forkCount: UInt32?

        /// Whether this process is a fork of the process that started the thread, in which case a wake-up would reach
        /// the parent's thread.
        var isForked: Bool { forkCount.map { $0 != ccurl_forks() } ?? false }
    }

    /// Whether there is new work for the thread, which reads this flag without the lock.
    private let hasPendingWork = Atomic(false)
    /// Whether the thread must be woken for new work.
    ///
    /// The enqueuing thread and the loop's thread each write their own flag before they read the other flag, so no
    /// wake-up is lost.
    private let isSleeping = Atomic(false)
    private let state = Locked(State())
    private let termination = DispatchGroup()

    init() {
        // Enter the group here, so that a thread that closes the loop can wait even if the loop's thread hasn't started
        // yet. The loop's thread leaves the group when it ends; if there is no thread, `shutDown(as:)` leaves it. One
        // of the two always happens, because the deinitializer of the transport shuts the loop down.
        termination.enter()
    }

    deinit {
        descriptors?.close()
    }

    /// The descriptors of the thread; `nil` before it starts.
    var descriptors: Descriptors? { state.withLock { $0.descriptors } }

    /// Whether the thread is running, or about to start.
    var isRunning: Bool { state.withLock { $0.phase != .idle && $0.phase != .ended } }

    // MARK: From any thread

    /// Adds a command, unless the loop can no longer execute it.
    func enqueue(_ command: Command) -> EnqueueResult {
        let (result, descriptor) = state.withLock { state -> (EnqueueResult, Int32?) in
            switch (state.phase, command) {
            case (.closing, .start), (.ended, _): return (.rejected, nil)
            default: if state.isForked { return (.rejected, nil) }
            }
            state.commands.append(command)
            guard state.phase == .idle else { return (.accepted, state.descriptors?.wakeUp) }
            (state.phase, state.forkCount) = (.running, ccurl_forks())
            return (.needsThread, nil)
        }
        wake(descriptor)
        return result
    }

    /// Notifies the thread of new work.
    private func wake(_ descriptor: Int32?) {
        hasPendingWork.store(true, ordering: .sequentiallyConsistent)
        guard let descriptor, isSleeping.exchange(false, ordering: .sequentiallyConsistent) else { return }
        ccurl_wake(descriptor)
    }

    /// Opens the descriptors of the thread; returns `false` if the system has none left.
    func openDescriptors() -> Bool {
        let new = Descriptors()
        guard new.isValid else {
            new.close()
            return false
        }
        state.withLock { $0.descriptors = new }
        return true
    }

    /// Records that the thread couldn't be started; returns the commands that it should have executed.
    ///
    /// A later command tries to start a thread again.
    func threadDidFailToStart() -> [Command] {
        let (previous, isEnding) = state.withLock { state in
            let previous = state
            let isEnding = state.phase != .running
            state = State(phase: isEnding ? .ended : .idle)
            return (previous, isEnding)
        }
        previous.descriptors?.close()
        if isEnding { threadDidEnd() }
        return previous.commands
    }

    /// Ends the thread.
    ///
    /// - Parameter phase: The phase of the thread until it has ended.
    func shutDown(as phase: Phase) {
        let (hadNoThread, descriptor) = state.withLock { state in
            let hadNoThread = state.phase == .idle || state.isForked && state.phase != .ended
            switch state.phase {
            case _ where hadNoThread: state.phase = .ended
            case .running, .finishing: state.phase = phase
            case .idle, .closing, .ended: break
            }
            return (hadNoThread, state.descriptors?.wakeUp)
        }
        if hadNoThread { termination.leave() } else { wake(descriptor) }
    }

    func waitUntilEnded() {
        termination.wait()
    }

    // MARK: From the loop's thread

    /// Moves all pending commands into an array.
    ///
    /// - Parameter commands: The array, which must be empty.
    /// - Returns: The current phase; `nil` if there is no new work.
    func drain(_ commands: inout [Command]) -> Phase? {
        guard hasPendingWork.exchange(false, ordering: .sequentiallyConsistent) else { return nil }
        return state.withLock { state in
            swap(&commands, &state.commands)
            return state.phase
        }
    }

    /// Announces that the thread is about to sleep; returns `false` if it must not sleep, because there is new work.
    func prepareToSleep() -> Bool {
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        return !hasPendingWork.load(ordering: .sequentiallyConsistent)
    }

    /// Records that the thread has woken up.
    func didWake() {
        isSleeping.store(false, ordering: .sequentiallyConsistent)
    }

    /// Closes the inbox if it is empty; returns `false` if it contains a command.
    func closeIfEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }

    /// Closes the inbox, and returns the remaining commands.
    func closeAndDrain() -> [Command] {
        state.withLock { state in
            defer { (state.phase, state.commands) = (.ended, []) }
            return state.commands
        }
    }

    func threadDidEnd() {
        termination.leave()
    }
}
#endif
