// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Dispatch
import Requests

/// A latch that opens once, and holds a thread or a task at a defined point of a test.
///
/// A test that sleeps must guess how long; with a gate, the timing is exact. Hold a response with
/// ``StubResponse/held(by:after:)``, or wait in a handler. Check the client's behavior while the gate is closed, then
/// open it:
///
/// ```swift
/// let gate = Gate()
/// server.route(.get, "/slow", .text("at last").held(by: gate))
/// let task = Task { try await client.get("/slow") }
/// try await server.awaitRequest()      // the client is now waiting for the response
/// gate.open()
/// ```
///
/// A gate is thread-safe, and any number of threads and tasks can wait for it. When a server stops, its threads stop
/// waiting, so a gate that is never opened doesn't block the server.
public final class Gate: Sendable {
    private struct State: Sendable {
        var isOpen = false
        var lastActionID = 0
        var actions: [Int: @Sendable () -> Void] = [:]
    }

    private let state = AwaitableState(State())

    /// The stop gate of the server that owns the current thread; opening it ends all waits of the thread.
    @TaskLocal static var currentStopGate: Gate?

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate is open.
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

    /// Suspends the task until the gate is open; returns immediately if it already is.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Throws: ``WaitTimeoutError`` when the limit is reached, or `CancellationError` as soon as the task is
    ///   cancelled.
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

    /// Blocks the thread until the gate is open; on a thread of a ``MockServer``, the wait also ends when the server
    /// stops.
    ///
    /// Use this overload in handlers, which run on the server's threads. If a handler throws, the response has the
    /// status 500 and the error as its content. In a task, use the async overload, which doesn't block a thread.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    ///   - file: The file of the call, for the error message.
    ///   - line: The line of the call, for the error message.
    /// - Throws: ``WaitTimeoutError`` when the limit is reached, or `CancellationError` as soon as the server is
    ///   stopped.
    @available(*, noasync, message: "use the async overload instead")
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

    /// Runs an action on the thread that opens the gate, or immediately if the gate is already open; returns an ID for
    /// ``removeAction(_:)``.
    func whenOpen(_ action: @escaping @Sendable () -> Void) -> Int {
        let (id, isOpen) = state.withLock { state in
            state.lastActionID += 1
            if !state.isOpen { state.actions[state.lastActionID] = action }
            return (state.lastActionID, state.isOpen)
        }
        if isOpen { action() }
        return id
    }

    /// Removes an action that was added with ``whenOpen(_:)``; the action may be running at this moment.
    func removeAction(_ id: Int) {
        state.withLock { $0.actions[id] = nil }
    }
}
