// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CRequestsCurl
import Foundation

/// The commands of other threads for the loop, and the life of its thread.
///
/// The first command starts a thread, and any other wakes it only if it sleeps. The thread takes all present commands
/// at once, and ends when it is told to, or when nothing is left to do.
final class CurlInbox: Sendable {
    /// A command for the loop.
    enum Command: Sendable {
        case start(CurlTransfer)
        case stop(CurlTransfer, CurlTransferState.Stop)
        /// A transfer has to pause or to resume.
        case update(CurlTransfer)
        case found(HostQuestion, HostNames.Found)
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
        var sleeps = false
        var descriptors: Descriptors?
        /// The process that made the descriptors; a fork of it has no thread, and would wake that of the other.
        var home = ccurl_forks()

        /// Whether this process is a fork of the one that has the thread.
        var isForked: Bool { descriptors != nil && home != ccurl_forks() }

        /// The descriptor that wakes the thread; `nil` if it doesn't sleep.
        mutating func wakeUp() -> Int32? {
            defer { sleeps = false }
            return sleeps ? descriptors?.wakeUp : nil
        }
    }

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

    // MARK: From any thread

    /// Makes the descriptors with the first request; if none is free then, a later request may succeed.
    func open() throws(RequestError) {
        guard descriptors == nil else { return }
        let made = Descriptors()
        let isKept =
            made.isWhole
            && state.withLock { state in
                guard state.descriptors == nil else { return false }
                (state.descriptors, state.home) = (made, ccurl_forks())
                return true
            }
        guard !isKept else { return }
        made.close()
        guard made.isWhole else { throw RequestError(.other, phase: .sending, reason: "no file descriptor is left") }
    }

    /// Takes a command.
    func put(_ command: Command) -> Reception {
        let (reception, wakeUp) = state.withLock { state -> (Reception, Int32?) in
            switch state.phase {
            case .closing where command.isStart, .ended: return (.refused, nil)
            default: if state.isForked { return (.refused, nil) }
            }
            state.commands.append(command)
            guard state.phase == .idle else { return (.taken, state.wakeUp()) }
            state.phase = .running
            return (.takenFirst, nil)
        }
        if let wakeUp { ccurl_wake(wakeUp) }
        return reception
    }

    /// Records that the thread couldn't be started; returns the commands that it was to take.
    ///
    /// A later command tries again.
    func threadFailed() -> [Command] {
        let (commands, isEnding) = state.withLock { state in
            let isEnding = state.phase != .running
            defer { (state.phase, state.commands) = (isEnding ? .ended : .idle, []) }
            return (state.commands, isEnding)
        }
        if isEnding { threadEnded() }
        return commands
    }

    /// Makes the thread end.
    ///
    /// - Parameter phase: The phase before its end.
    func end(as phase: Phase) {
        let (hadNoThread, wakeUp) = state.withLock { state in
            let hadNoThread = state.phase == .idle || state.isForked && state.phase != .ended
            switch state.phase {
            case _ where hadNoThread: state.phase = .ended
            case .running, .finishing: state.phase = phase
            case .idle, .closing, .ended: break
            }
            return (hadNoThread, hadNoThread ? nil : state.wakeUp())
        }
        if hadNoThread { end.leave() }
        if let wakeUp { ccurl_wake(wakeUp) }
    }

    /// Waits until the thread has ended.
    func awaitEnd() {
        end.wait()
    }

    // MARK: From the loop's thread

    var descriptors: Descriptors? { state.withLock { $0.descriptors } }

    /// Takes out the commands.
    func take() -> ([Command], Phase) {
        state.withLock { state in
            defer { state.commands = [] }
            return (state.commands, state.phase)
        }
    }

    /// Lets the thread sleep, until ``awake()``.
    ///
    /// - Parameter phase: The phase that the thread knows of.
    /// - Returns: Whether there is nothing to do for it.
    func sleep(in phase: Phase) -> Bool {
        state.withLock { state in
            state.sleeps = state.commands.isEmpty && state.phase == phase
            return state.sleeps
        }
    }

    /// Records that the thread doesn't sleep.
    func awake() {
        state.withLock { $0.sleeps = false }
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

extension CurlInbox.Command {
    fileprivate var isStart: Bool {
        if case .start = self { true } else { false }
    }
}
#endif
