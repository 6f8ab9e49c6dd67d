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
