// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transport whose transfers a test controls, event by event.
///
/// For behavior that depends on order: a cancel between a head and its content, or a second request during the first.
///
/// ```swift
/// let transport = ManualTransport()
/// let operation = OperationQueue().addRequest(RecipeRequest(recipeID: 1), session: transport)
/// let transfer = try await transport.awaitTransfer()
/// transfer.receive(.head(HTTPResponseHead(status: .ok)))
/// operation.cancel()
/// try await transfer.awaitCancel()
/// transfer.receive(.end(RequestError(.cancelled, phase: .receiving)))
/// ```
///
/// Nothing happens automatically, not even the end of a cancelled transfer. A request whose transfer isn't ended waits
/// for ever, so give the test a time limit. Safe from any thread.
public final class ManualTransport: HTTPTransport {
    private struct State {
        var transfers: [ManualTransfer] = []
        var waiters: [(count: Int, gate: Gate)] = []
    }

    /// The capabilities that the transport claims to have.
    public let capabilities: TransportCapabilities
    private let state = Locked(State())

    /// Makes a transport.
    ///
    /// - Parameter capabilities: The capabilities it claims to have; by default, to deliver events on any thread.
    public init(_ capabilities: TransportCapabilities = .concurrentDelivery) {
        self.capabilities = capabilities
    }

    /// The transfers that were started, in their order.
    public var transfers: [ManualTransfer] { state.withLock { $0.transfers } }

    /// Waits until at least `count` transfers were started.
    ///
    /// - Parameters:
    ///   - count: The number of transfers; 1 by default, and at least 1.
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    /// - Returns: The last of them: the transfer with the index `count - 1`.
    /// - Throws: ``WaitTimeoutError`` at the limit, with the transfers there are, or `CancellationError` if the task is
    ///   cancelled before.
    @discardableResult
    public func awaitTransfer(count: Int = 1, within limit: Duration = .seconds(30)) async throws -> ManualTransfer {
        let index = max(1, count) - 1
        let gate = Gate()
        let isThere = state.withLock { state in
            if !state.transfers.indices.contains(index) { state.waiters.append((index + 1, gate)) }
            return state.transfers.indices.contains(index)
        }
        guard !isThere else { return transfers[index] }
        defer { state.withLock { $0.waiters.removeAll { $0.gate === gate } } }
        try await gate.opening(within: limit, of: "\(index + 1) transfers") { [self] in
            let started = transfers.map(\.summary).joined(separator: ", ")
            return "\(transfers.count) have started\(started.isEmpty ? "" : ": \(started)")"
        }
        return transfers[index]
    }

    /// Starts a transfer that reports nothing until the test does.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let transfer = ManualTransfer(request, receive)
        let gates = state.withLock { state in
            state.transfers.append(transfer)
            let count = state.transfers.count
            defer { state.waiters.removeAll { $0.count <= count } }
            return state.waiters.filter { $0.count <= count }.map(\.gate)
        }
        for gate in gates { gate.open() }
        return transfer
    }
}

extension Gate {
    /// Suspends the task until the gate is open.
    ///
    /// - Throws: ``WaitTimeoutError`` at the limit, or `CancellationError` if the task is cancelled before.
    fileprivate func opening(
        within limit: Duration,
        of awaited: String,
        state: @escaping @Sendable () -> String
    ) async throws {
        try await waiting(within: limit) {
            WaitTimeoutError(limit: limit, awaited: awaited, state: state())
        } body: {
            guard await self.waitForOpening() else { throw CancellationError() }
        }
    }
}

/// A transfer of a ``ManualTransport``, controlled by a test.
///
/// Safe from any thread, except ``receive(_:)``: events of one transfer come one after the other.
public final class ManualTransfer: TransferHandle {
    private struct State {
        var cancelCount = 0
        var isPaused = false
        /// The gates of the tasks that wait for a pause, or for its end.
        var waiters: [(isPaused: Bool, gate: Gate)] = []

        /// Sets whether the transfer is paused, and removes and returns the gates that waited for that.
        mutating func set(_ isPaused: Bool) -> [Gate] {
            self.isPaused = isPaused
            defer { waiters.removeAll { $0.isPaused == isPaused } }
            return waiters.filter { $0.isPaused == isPaused }.map(\.gate)
        }
    }

    /// The request that was sent.
    public let request: TransportRequest
    private let receiver: Locked<(@Sendable (TransferEvent) -> Void)?>
    private let state = Locked(State())
    private let cancelled = Gate()

    init(_ request: TransportRequest, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.request = request
        receiver = Locked(receive)
    }

    /// Reports an event; after the end, nothing is reported.
    public func receive(_ event: TransferEvent) {
        let receive = receiver.withLock { receiver in
            // After its end, the transfer releases its receiver.
            defer { if case .end = event { receiver = nil } }
            return receiver
        }
        receive?(event)
    }

    // MARK: Requests of the receiver

    /// The number of times that the transfer was cancelled; cancelling has no other effect.
    public var cancelCount: Int { state.withLock { $0.cancelCount } }

    /// Waits until the transfer is cancelled.
    ///
    /// - Parameter limit: The maximum time to wait, in real time; 30 seconds by default.
    /// - Throws: ``WaitTimeoutError`` at the limit, or `CancellationError` if the task is cancelled before.
    public func awaitCancel(within limit: Duration = .seconds(30)) async throws {
        try await cancelled.opening(within: limit, of: "a cancel of the transfer") { [self] in summary }
    }

    /// Whether the transfer is paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Waits until the transfer is paused or resumed; returns at once if it already is.
    ///
    /// - Parameters:
    ///   - isPaused: Whether to wait for a pause, or for its end.
    ///   - limit: The maximum time to wait, in real time; 30 seconds by default.
    /// - Throws: ``WaitTimeoutError`` at the limit, or `CancellationError` if the task is cancelled before.
    public func awaitPause(_ isPaused: Bool = true, within limit: Duration = .seconds(30)) async throws {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.isPaused != isPaused { state.waiters.append((isPaused, gate)) }
            return state.isPaused == isPaused
        }
        guard !isThere else { return }
        defer { state.withLock { $0.waiters.removeAll { $0.gate === gate } } }
        let awaited = isPaused ? "a pause of the transfer" : "the end of the transfer's pause"
        try await gate.opening(within: limit, of: awaited) { [self] in summary }
    }

    /// The request, and what has happened to the transfer: `GET http://localhost/a (running, cancelled 1 times)`.
    fileprivate var summary: String {
        let (count, isPaused) = state.withLock { ($0.cancelCount, $0.isPaused) }
        let phase = receiver.withLock { $0 == nil } ? "ended" : isPaused ? "paused" : "running"
        return "\(request) (\(phase), cancelled \(count) times)"
    }

    // MARK: As a transfer

    /// Records that the transfer was cancelled.
    public func cancel() {
        state.withLock { $0.cancelCount += 1 }
        cancelled.open()
    }

    /// Records that the transfer is paused; events that are received nonetheless are reported.
    public func pause() {
        for gate in state.withLock({ $0.set(true) }) { gate.open() }
    }

    /// Records that the transfer is resumed.
    public func resume() {
        for gate in state.withLock({ $0.set(false) }) { gate.open() }
    }
}
