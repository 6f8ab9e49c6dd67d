// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation
import Synchronization

/// The commands of other threads for the loop, and the life of its thread.
///
/// The first command starts a thread, and any other wakes it only if it sleeps. The thread takes all waiting commands
/// at once. It ends when it is closed, or when nothing is left to do.
final class CurlInbox: Sendable {
    /// A command for the loop.
    enum Command: Sendable {
        case start(CurlTransfer)
        case stop(CurlTransfer, CurlTransferState.Stop)
        /// The peer of a transfer is gone, which had been sent again so many times.
        case lostPeer(CurlTransfer, restarts: Int)
        /// A transfer has to pause or to resume.
        case update(CurlTransfer)
        case found(HostQuery, HostResolver.LookupResult)
        /// The use of connections is to be reported.
        case report(@Sendable (CurlTransport.Usage) -> Void)

        /// Ends what waits for the command, since no thread takes it.
        func refuse(_ error: RequestError) {
            switch self {
            case .start(let transfer): transfer.refuse(error)
            case .report(let receive): receive(CurlTransport.Usage())
            case .stop, .lostPeer, .update, .found: break
            }
        }
    }

    /// The life of the thread.
    enum Phase: Sendable {
        /// No thread yet.
        case idle
        /// The thread runs.
        case running
        /// It ends when all transfers have ended.
        case finishing
        /// It cancels all transfers, and ends.
        case closing
        /// It has ended.
        case ended
    }

    /// The reception of a command.
    enum Reception: Sendable {
        case taken
        /// It is taken, and a thread has to be started.
        case takenFirst
        /// The loop has ended, is about to, or is that of another process, and won't take it.
        case refused
    }

    /// The descriptors that the loop sleeps on, and that wake it.
    struct Descriptors: Sendable {
        let poll = ccurl_poll_new()
        let wakeUp = ccurl_wake_new()

        fileprivate var isWhole: Bool { poll >= 0 && wakeUp >= 0 }

        fileprivate func close() {
            ccurl_close(poll)
            ccurl_close(wakeUp)
        }
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var commands: [Command] = []
        var descriptors: Descriptors?
        /// The process that has the thread; `nil` before there is one.
        var home: UInt32?

        /// Whether this process is a fork of the one that has the thread: it would wake the thread of its parent.
        var isForked: Bool { home.map { $0 != ccurl_forks() } ?? false }
    }

    /// Whether there is something new for the thread, which reads this without the lock.
    private let hasNews = Atomic(false)
    /// Whether the thread has to be woken for it.
    ///
    /// Each side writes its own flag before it reads the other's, so that nothing new is missed.
    private let sleeps = Atomic(false)
    private let state = Locked(State())
    private let end = DispatchGroup()

    init() {
        // Entered here, so that a closing thread can wait even if the loop's is only about to start. Left by that
        // thread, or at an end without one: deallocating the transport ensures that.
        end.enter()
    }

    deinit {
        descriptors?.close()
    }

    /// The descriptors of the thread; `nil` before it starts.
    var descriptors: Descriptors? { state.withLock { $0.descriptors } }

    /// Whether there is a thread, or will be.
    var isRunning: Bool { state.withLock { $0.phase != .idle && $0.phase != .ended } }

    // MARK: From any thread

    /// Takes a command.
    func put(_ command: Command) -> Reception {
        let (reception, descriptor) = state.withLock { state -> (Reception, Int32?) in
            switch (state.phase, command) {
            case (.closing, .start), (.ended, _): return (.refused, nil)
            default: if state.isForked { return (.refused, nil) }
            }
            state.commands.append(command)
            guard state.phase == .idle else { return (.taken, state.descriptors?.wakeUp) }
            (state.phase, state.home) = (.running, ccurl_forks())
            return (.takenFirst, nil)
        }
        wake(descriptor)
        return reception
    }

    /// Notifies the thread that there is something new.
    private func wake(_ descriptor: Int32?) {
        hasNews.store(true, ordering: .sequentiallyConsistent)
        guard let descriptor, sleeps.exchange(false, ordering: .sequentiallyConsistent) else { return }
        ccurl_wake(descriptor)
    }

    /// Makes the descriptors of the thread; `false` if none is free.
    func open() -> Bool {
        let made = Descriptors()
        guard made.isWhole else {
            made.close()
            return false
        }
        state.withLock { $0.descriptors = made }
        return true
    }

    /// Records that the thread couldn't be started; returns the commands that it was to take.
    ///
    /// A later command tries again.
    func threadFailed() -> [Command] {
        let (former, isEnding) = state.withLock { state in
            let former = state
            let isEnding = state.phase != .running
            state = State(phase: isEnding ? .ended : .idle)
            return (former, isEnding)
        }
        former.descriptors?.close()
        if isEnding { threadEnded() }
        return former.commands
    }

    /// Makes the thread end.
    ///
    /// - Parameter phase: The phase before its end.
    func end(as phase: Phase) {
        let (hadNoThread, descriptor) = state.withLock { state in
            let hadNoThread = state.phase == .idle || state.isForked && state.phase != .ended
            switch state.phase {
            case _ where hadNoThread: state.phase = .ended
            case .running, .finishing: state.phase = phase
            case .idle, .closing, .ended: break
            }
            return (hadNoThread, state.descriptors?.wakeUp)
        }
        if hadNoThread { end.leave() } else { wake(descriptor) }
    }

    /// Waits until the thread has ended.
    func awaitEnd() {
        end.wait()
    }

    // MARK: From the loop's thread

    /// Takes out the commands.
    ///
    /// - Parameter commands: Receives them; empty.
    /// - Returns: The current phase; `nil` if there is nothing new.
    func take(_ commands: inout [Command]) -> Phase? {
        guard hasNews.exchange(false, ordering: .sequentiallyConsistent) else { return nil }
        return state.withLock { state in
            swap(&commands, &state.commands)
            return state.phase
        }
    }

    /// Lets the thread sleep, until ``awake()``; `false` if there is something new.
    func sleep() -> Bool {
        sleeps.store(true, ordering: .sequentiallyConsistent)
        return !hasNews.load(ordering: .sequentiallyConsistent)
    }

    /// Records that the thread doesn't sleep.
    func awake() {
        sleeps.store(false, ordering: .sequentiallyConsistent)
    }

    /// Stops taking commands; returns `false` if there is one.
    func endIfEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }

    /// Stops taking commands, and returns the last ones.
    func abandon() -> [Command] {
        state.withLock { state in
            defer { (state.phase, state.commands) = (.ended, []) }
            return state.commands
        }
    }

    /// Records that the thread has ended.
    func threadEnded() {
        end.leave()
    }
}
#endif
