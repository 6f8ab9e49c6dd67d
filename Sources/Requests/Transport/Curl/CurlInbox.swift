// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import Foundation

/// What other threads hand to the loop, and what the life and the sleep of its thread depend on.
///
/// The first command calls for a thread, and any other wakes it only if it sleeps. The thread takes all commands that
/// there are at once, and ends when it is told to, or when nothing is left to do.
final class CurlInbox: Sendable {
    /// What the loop is told.
    enum Command: Sendable {
        case start(CurlTransfer)
        case stop(CurlTransfer, CurlTransferState.Stop)
        case hold(CurlTransfer)
        case resumeSending(CurlTransfer)
        case mailboxEmptied(CurlTransfer)
        case found(HostQuestion, HostNames.Found)
    }

    /// The life of the thread.
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

    /// Whether a command is taken.
    enum Reception: Sendable {
        case taken
        /// It is taken, and calls for a thread.
        case takenFirst
        /// The loop has ended, or is about to, and will never take it.
        case refused
    }

    /// What the loop sleeps on, and what ends its sleep.
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

        /// What to write to, so that the thread goes on; nil if it does anyway.
        mutating func wakeUp() -> Int32? {
            defer { sleeps = false }
            return sleeps ? descriptors?.wakeUp : nil
        }
    }

    private let state = Locked(State())
    private let end = DispatchGroup()

    init() {
        // Entered here, so that a thread that closes has something to wait for also while the loop's is only about to
        // start. Left by that thread, or by the end without one: a transport that goes sees to that.
        end.enter()
    }

    deinit {
        descriptors?.close()
    }

    // MARK: From any thread

    /// Makes the descriptors with the first request: where none is left then, there may be later.
    func open() throws(RequestError) {
        guard descriptors == nil else { return }
        let made = Descriptors()
        let isKept =
            made.isWhole
            && state.withLock { state in
                guard state.descriptors == nil else { return false }
                state.descriptors = made
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
            default: break
            }
            state.commands.append(command)
            guard state.phase == .idle else { return (.taken, state.wakeUp()) }
            state.phase = .running
            return (.takenFirst, nil)
        }
        if let wakeUp { ccurl_wake(wakeUp) }
        return reception
    }

    /// Has the thread end.
    ///
    /// - Parameter phase: The phase before its end.
    func end(as phase: Phase) {
        let (hadNoThread, wakeUp) = state.withLock { state in
            let hadNoThread = state.phase == .idle
            switch state.phase {
            case .idle: state.phase = .ended
            case .running, .finishing: state.phase = phase
            case .closing, .ended: break
            }
            return (hadNoThread, state.wakeUp())
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

    /// Notes that the thread doesn't sleep.
    func awake() {
        state.withLock { $0.sleeps = false }
    }

    /// Ends the taking of commands; false if there is one.
    func endIfEmpty() -> Bool {
        state.withLock { state in
            guard state.commands.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }

    /// Takes no command any more, and gives those that were taken last.
    func abandon() -> [Command] {
        state.withLock { state in
            defer { (state.phase, state.commands) = (.ended, []) }
            return state.commands
        }
    }

    /// Notes that the thread has ended.
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
