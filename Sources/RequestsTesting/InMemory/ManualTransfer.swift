// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transfer of a ``ManualTransport``, in the hands of a test.
///
/// Safe from any thread, but for ``receive(_:)``: events of one transfer come one after the other.
public final class ManualTransfer: Transfer {
    /// What was sent.
    public let request: TransportRequest
    private let receiver: Locked<(@Sendable (TransferEvent) -> Void)?>
    private let cancels = Locked(0)
    private let pauses = Locked(false)
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

    /// How often the transfer was cancelled, which has no other consequence.
    public var cancelCount: Int { cancels.withLock { $0 } }

    /// Waits until the transfer is cancelled.
    ///
    /// - Throws: `CancellationError` where the task is cancelled before.
    public func awaitCancel() async throws {
        guard await cancelled.wait() else { throw CancellationError() }
    }

    /// Whether no more is wanted for now.
    public var isPaused: Bool { pauses.withLock { $0 } }

    /// Notes that no more is wanted for now; what is received nonetheless is reported.
    public func pause() { pauses.withLock { $0 = true } }

    /// Notes that more is wanted.
    public func resume() { pauses.withLock { $0 = false } }

    /// Notes that the transfer was cancelled.
    public func cancel() {
        cancels.withLock { $0 += 1 }
        cancelled.open()
    }
}
