// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer of a ``ManualTransport``, in the hands of a test.
///
/// Safe from any thread, but for ``receive(_:)``: events of one transfer come one after the other.
public final class ManualTransfer: Transfer {
    private struct State {
        var cancelCount = 0
        var isPaused = false
        /// Those who wait for a pause, or for its end.
        var waiters: [(isPaused: Bool, gate: Gate)] = []

        /// Notes what is wanted, and gives those who have waited for that.
        mutating func set(_ isPaused: Bool) -> [Gate] {
            self.isPaused = isPaused
            defer { waiters.removeAll { $0.isPaused == isPaused } }
            return waiters.filter { $0.isPaused == isPaused }.map(\.gate)
        }
    }

    /// What was sent.
    public let request: TransportRequest
    private let receiver: Locked<(@Sendable (TransferEvent) -> Void)?>
    private let state = Locked(State())
    private let cancelled = Gate()

    init(_ request: TransportRequest, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.request = request
        receiver = Locked(receive)
    }

    /// Reports an event; nothing behind the end.
    public func receive(_ event: TransferEvent) {
        let receive = receiver.withLock { receiver in
            // Behind its end, a transfer holds on to nobody.
            defer { if case .end = event { receiver = nil } }
            return receiver
        }
        receive?(event)
    }

    // MARK: What is wanted of it

    /// How often the transfer was cancelled, which has no other consequence.
    public var cancelCount: Int { state.withLock { $0.cancelCount } }

    /// Waits until the transfer is cancelled.
    ///
    /// - Throws: `CancellationError` where the task is cancelled before.
    public func awaitCancel() async throws {
        guard await cancelled.wait() else { throw CancellationError() }
    }

    /// Whether no more is wanted for now.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Waits until no more is wanted, or until more is wanted again; not at all where that is so.
    ///
    /// - Parameter isPaused: Whether a pause is waited for, or its end.
    /// - Throws: `CancellationError` where the task is cancelled before.
    public func awaitPause(_ isPaused: Bool = true) async throws {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.isPaused != isPaused { state.waiters.append((isPaused, gate)) }
            return state.isPaused == isPaused
        }
        if !isThere, await !gate.wait() {
            state.withLock { $0.waiters.removeAll { $0.gate === gate } }
            throw CancellationError()
        }
    }

    // MARK: As a transfer

    /// Notes that the transfer was cancelled.
    public func cancel() {
        state.withLock { $0.cancelCount += 1 }
        cancelled.open()
    }

    /// Notes that no more is wanted for now; what is received nonetheless is reported.
    public func pause() {
        for gate in state.withLock({ $0.set(true) }) { gate.open() }
    }

    /// Notes that more is wanted.
    public func resume() {
        for gate in state.withLock({ $0.set(false) }) { gate.open() }
    }
}
