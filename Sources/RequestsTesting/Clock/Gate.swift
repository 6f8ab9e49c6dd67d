// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
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

    private let state = AwaitableState(State())

    /// The gate whose opening ends the waits of the current thread; it belongs to the thread's server.
    @TaskLocal static var currentStopGate: Gate?

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

    /// Suspends the task until the gate is open; returns at once if it already is.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Throws: ``WaitTimeoutError`` at the limit, or `CancellationError` as soon as the task is cancelled.
    public func wait(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await state.wait(for: "a gate", timeout: limit, at: CallSite(file, line)) { _ in
            Self.stateDescription
        } until: {
            $0.isOpen
        }
    }

    /// Blocks the thread until the gate is open; on a thread of a ``MockServer``, also ends when the server stops.
    ///
    /// For handlers, which run on the server's threads. If a handler throws, the response has the status 500, with the
    /// error as its content. In a task, use the other form, which blocks no thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the wait.
    ///   - line: The line of the wait.
    /// - Throws: ``WaitTimeoutError`` at the limit, or `CancellationError` as soon as the server is stopped.
    @available(*, noasync, message: "await the asynchronous form instead")
    public func wait(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) throws {
        let semaphore = DispatchSemaphore(value: 0)
        let observations = [self, Self.currentStopGate].compactMap { gate in
            gate.map { ($0, $0.whenOpen { semaphore.signal() }) }
        }
        let outcome = semaphore.wait(timeout: .now() + .nanoseconds(limit.clampedNanoseconds))
        for (gate, observation) in observations { gate.removeAction(observation) }
        guard !isOpen else { return }
        guard outcome == .timedOut else { throw CancellationError() }
        let callSite = CallSite(file, line)
        throw WaitTimeoutError(limit: limit, awaited: "a gate", state: Self.stateDescription, callSite: callSite)
    }

    private static let stateDescription = "it isn't open"

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
    func removeAction(_ number: Int) {
        state.withLock { $0.actions[number] = nil }
    }
}
