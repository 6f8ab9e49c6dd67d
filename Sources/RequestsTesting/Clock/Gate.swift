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
    private struct State {
        var isOpen = false
        var nextWaiter = 0
        var waiters: [Int: @Sendable (Bool) -> Void] = [:]
    }

    private let state = Locked(State())

    /// The gate whose opening ends the waits of the current thread; it belongs to the thread's server.
    @TaskLocal static var ending: Gate?

    /// Makes a closed gate.
    public init() {}

    /// Whether the gate was opened.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate permanently and resumes every waiter; opening it again does nothing.
    public func open() {
        let waiters = state.withLock { state -> [Int: @Sendable (Bool) -> Void] in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.sorted(by: { $0.key < $1.key }) { waiter.value(true) }
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
        within limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async -> Bool {
        guard !isOpen else { return true }
        do {
            try await waiting(within: limit) { [self] in
                makeError(limit, file, line)
            } body: { [self] in
                if await !waitForOpening() { throw CancellationError() }
            }
        } catch {
            return report(error)
        }
        return true
    }

    /// Suspends the task until the gate is open, or until the task is cancelled, without a limit.
    func waitForOpening() async -> Bool {
        let id = makeIdentifier()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A cancellation before this point finds no waiter to end, but it has set the task's flag, which is
                // read here.
                register(id, unless: { Task.isCancelled }, waiter: { continuation.resume(returning: $0) })
            }
        } onCancel: {
            end(id)
        }
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
    public func wait(
        within limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        let observation = whenOpen { semaphore.signal() }
        let ending = Self.ending
        let endingObservation = ending?.whenOpen { semaphore.signal() }
        let end = DispatchTime.now() + .nanoseconds(limit.clampedNanoseconds)
        let isLate = semaphore.wait(timeout: end) == .timedOut
        forget(observation)
        if let ending, let endingObservation { ending.forget(endingObservation) }
        return isLate ? report(makeError(limit, file, line)) : isOpen
    }

    private func makeError(_ limit: Duration, _ file: StaticString, _ line: UInt) -> WaitTimeoutError {
        let count = state.withLock { $0.waiters.count }
        return WaitTimeoutError(
            limit: limit,
            awaited: "the gate at \(file):\(line)",
            state: "it isn't open, and \(count) wait for it"
        )
    }

    /// Writes the error of a wait to standard error, unless that was cancelled, and returns whether the gate is open.
    ///
    /// A gate has no error to throw: its waits stand in handlers that can't throw one.
    private func report(_ error: any Error) -> Bool {
        if !isOpen, error is WaitTimeoutError { FileHandle.standardError.write(Data("error: \(error)\n".utf8)) }
        return isOpen
    }

    /// Runs an action on the thread that opens the gate, or at once if the gate is open already.
    func whenOpen(_ action: @escaping @Sendable () -> Void) -> Int {
        let id = makeIdentifier()
        register(id, unless: { false }, waiter: { if $0 { action() } })
        return id
    }

    /// Removes an action of ``whenOpen(_:)``, which may be running at this moment.
    func forget(_ id: Int) {
        _ = state.withLock { $0.waiters.removeValue(forKey: id) }
    }

    private func makeIdentifier() -> Int {
        state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
    }

    private func register(_ id: Int, unless isCancelled: () -> Bool, waiter: @escaping @Sendable (Bool) -> Void) {
        let outcome = state.withLock { state -> Bool? in
            if state.isOpen { return true }
            if isCancelled() { return false }
            state.waiters[id] = waiter
            return nil
        }
        if let outcome { waiter(outcome) }
    }

    private func end(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?(false)
    }
}
