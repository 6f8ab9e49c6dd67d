// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

public import Requests
import RequestsTesting

/// A transport whose transfers a test controls, event by event.
///
/// For behavior that depends on order: a cancel between a head and its content, or a second request during the first.
/// Nothing happens automatically, not even the end of a cancelled transfer. Safe from any thread.
public final class ManualTransport: HTTPTransport {
    /// The capabilities that the transport claims to have.
    public let capabilities: TransportCapabilities
    private let started = AwaitableState<[ManualTransfer]>([])

    /// Makes a transport.
    ///
    /// - Parameter capabilities: The capabilities it claims to have; by default, to deliver events on any thread.
    public init(_ capabilities: TransportCapabilities = .concurrentDelivery) {
        self.capabilities = capabilities
    }

    /// The transfers that were started, in their order.
    public var transfers: [ManualTransfer] { started.withLock { $0 } }

    /// Waits until at least `count` transfers were started, and returns the last of them.
    @discardableResult
    public func awaitTransfer(
        count: Int = 1,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ManualTransfer {
        let count = max(1, count)
        try await started.wait(for: "\(count) transfers", timeout: limit, at: CallSite(file, line)) { transfers in
            let summary = transfers.map(\.summary).joined(separator: ", ")
            return "\(transfers.count) have started\(summary.isEmpty ? "" : ": \(summary)")"
        } until: {
            $0.count >= count
        }
        return transfers[count - 1]
    }

    /// Starts a transfer that reports nothing until the test does.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any TransferHandle {
        let transfer = ManualTransfer(request, receive)
        started.withLock { $0.append(transfer) }
        return transfer
    }
}

/// A transfer of a ``ManualTransport``, controlled by a test.
///
/// Safe from any thread, except ``receive(_:)``: events of one transfer come one after the other.
public final class ManualTransfer: TransferHandle {
    private struct State: Sendable {
        var cancelCount = 0
        var isPaused = false
        var hasEnded = false

        var summary: String {
            "\(hasEnded ? "ended" : isPaused ? "paused" : "running"), cancelled \(cancelCount) times"
        }
    }

    /// The request that was sent.
    public let request: TransportRequest
    private let receiver: Locked<(@Sendable (TransferEvent) -> Void)?>
    private let state = AwaitableState(State())

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
        if case .end = event { state.withLock { $0.hasEnded = true } }
        receive?(event)
    }

    /// The number of times that the transfer was cancelled; cancelling has no other effect.
    public var cancelCount: Int { state.withLock { $0.cancelCount } }

    /// Whether the transfer is paused.
    public var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Waits until the transfer is cancelled.
    public func awaitCancel(
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await wait(for: "a cancel of the transfer", limit, CallSite(file, line)) { $0.cancelCount > 0 }
    }

    /// Waits until the transfer is paused or resumed; returns at once if it already is.
    public func awaitPause(
        _ isPaused: Bool = true,
        timeout limit: Duration = .seconds(30),
        file: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        let awaited = isPaused ? "a pause of the transfer" : "the end of the transfer's pause"
        try await wait(for: awaited, limit, CallSite(file, line)) { $0.isPaused == isPaused }
    }

    private func wait(
        for awaited: String,
        _ limit: Duration,
        _ callSite: CallSite,
        until isMet: @escaping @Sendable (State) -> Bool
    ) async throws {
        try await state.wait(for: awaited, timeout: limit, at: callSite) { [request] in
            "\(request) (\($0.summary))"
        } until: {
            isMet($0)
        }
    }

    /// The request, and what has happened to the transfer: `GET http://localhost/a (running, cancelled 1 times)`.
    fileprivate var summary: String { "\(request) (\(state.withLock { $0.summary }))" }

    public func cancel() { state.withLock { $0.cancelCount += 1 } }
    public func pause() { state.withLock { $0.isPaused = true } }
    public func resume() { state.withLock { $0.isPaused = false } }
}
