// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transport whose transfers do what a test tells them, event by event.
///
/// For what depends on the order in which things happen: the cancel between a head and its content, the second request
/// that comes while the first is under way.
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
/// Nothing happens by itself, the end of a cancelled transfer included: a test that forgets it waits for ever, so give it
/// a time limit. Safe from any thread.
public final class ManualTransport: HTTPTransport {
    private struct State {
        var transfers: [ManualTransfer] = []
        var waiters: [(count: Int, gate: Gate)] = []
    }

    /// What the transport claims to be able to do.
    public let capabilities: TransportCapabilities
    private let state = Locked(State())

    /// Makes a transport.
    ///
    /// - Parameter capabilities: What it claims to be able to do; by default, to deliver events on any thread.
    public init(_ capabilities: TransportCapabilities = .concurrentDelivery) {
        self.capabilities = capabilities
    }

    /// The transfers that were started, in their order.
    public var transfers: [ManualTransfer] { state.withLock { $0.transfers } }

    /// Waits until so many transfers were started.
    ///
    /// - Parameter count: How many; the first by default.
    /// - Returns: The last of them.
    /// - Throws: `CancellationError` where the task is cancelled before.
    @discardableResult
    public func awaitTransfer(count: Int = 1) async throws -> ManualTransfer {
        let index = max(1, count) - 1
        let gate = Gate()
        let isThere = state.withLock { state in
            if !state.transfers.indices.contains(index) { state.waiters.append((index + 1, gate)) }
            return state.transfers.indices.contains(index)
        }
        if !isThere, await !gate.wait() {
            state.withLock { $0.waiters.removeAll { $0.gate === gate } }
            throw CancellationError()
        }
        return transfers[index]
    }

    /// Starts a transfer, to which nothing happens.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
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
