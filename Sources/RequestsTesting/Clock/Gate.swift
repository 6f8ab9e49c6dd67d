// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Requests

/// A latch that opens once: holds a thread or a task at a known point of a test.
///
/// A test that sleeps has to guess a time; a gate makes it exact. Hold a response with
/// ``StubResponse/held(by:after:)``, or wait in a handler. Check the client's behavior meanwhile, then open the gate:
///
/// ```swift
/// let gate = Gate()
/// server.route(.get, "/slow", .text("at last").held(by: gate))
/// let task = Task { try await client.get("/slow") }
/// try await server.awaitRequest()      // the client now waits for its answer
/// gate.open()
/// ```
///
/// A gate may be used from any thread, and any number of them may wait at it. Stopping a server ends the waits of its
/// own threads, so a gate that is never opened doesn't block the server.
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var lastAction = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Watched(State())

    /// The gate whose opening ends the waits of the current thread; it belongs to the thread's server.
    @TaskLocal static var ending: Gate?

    /// Makes a closed gate.
    public init() {}

    /// Whether the gate was opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate permanently and resumes every waiter; opening it again does nothing.
    public func open() {
        let actions = state.withLock { state in
            state.isOpen = true
            defer { state.actions = [:] }
            return state.actions
        }
        for action in actions.sorted(by: { $0.key < $1.key }) { action.value() }
    }

    /// Suspends the task until the gate is open, or until the task is cancelled.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default. At its end, a line on standard error
    ///     names the place of the wait.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: Whether the gate is open; `false` if the task was cancelled, and at the limit.
    @discardableResult
    public func wait(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async -> Bool {
        do {
            try await state.wait(for: "the gate", timeout: limit, at: SourcePlace(file, line)) { _ in
                "it isn't open"
            } until: {
                $0.isOpen
            }
        } catch {
            if !isOpen, let error = error as? WaitTimeoutError { Self.report(error) }
        }
        return isOpen
    }

    /// Blocks the thread until the gate is open; on a thread of a ``MockServer``, also ends when the server stops.
    ///
    /// For handlers, which run on the server's threads. In a task, use the other form, which blocks no thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default. At its end, a line on standard error
    ///     names the place of the wait.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Returns: Whether the gate is open; `false` if the server was stopped, and at the limit.
    @available(*, noasync, message: "await the asynchronous form instead")
    @discardableResult
    public func wait(timeout limit: Duration = .seconds(30), file: StaticString = #fileID, line: UInt = #line) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let observation = whenOpen { semaphore.signal() }
        let ending = Self.ending
        let endingObservation = ending?.whenOpen { semaphore.signal() }
        let end = DispatchTime.now() + .nanoseconds(limit.clampedNanoseconds)
        let isLate = semaphore.wait(timeout: end) == .timedOut
        forget(observation)
        if let ending, let endingObservation { ending.forget(endingObservation) }
        if isLate, !isOpen {
            let place = SourcePlace(file, line)
            Self.report(WaitTimeoutError(limit: limit, awaited: "the gate", state: "it isn't open", place: place))
        }
        return isOpen
    }

    /// Writes the error of a wait to standard error.
    ///
    /// A gate has no error to throw: its waits stand in handlers that can't throw one.
    private static func report(_ error: WaitTimeoutError) {
        FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    }

    /// Runs an action on the thread that opens the gate, or at once if the gate is open already.
    func whenOpen(_ action: @escaping @Sendable () -> Void) -> Int {
        let (number, isOpen) = state.withLock { state in
            state.lastAction += 1
            if !state.isOpen { state.actions[state.lastAction] = action }
            return (state.lastAction, state.isOpen)
        }
        if isOpen { action() }
        return number
    }

    /// Removes an action of ``whenOpen(_:)``, which may be running at this moment.
    func forget(_ number: Int) {
        state.withLock { $0.actions[number] = nil }
    }
}
