// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What a transport reports to: calls `receive`, and, when it is let go of, reports the end of the transfer.
///
/// A transport that forgets a transfer, or is let go of with it, would otherwise leave an operation behind that never
/// finishes. After the end of a transfer, the one that is reported here is nothing.
final class EventSink: Sendable {
    private let receive: @Sendable (TransferEvent) -> Void

    init(_ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.receive = receive
    }

    deinit {
        let reason = "the transport let go of the transfer without reporting its end"
        receive(.end(RequestError(.connectionLost, phase: .sending, reason: reason)))
    }

    func callAsFunction(_ event: TransferEvent) {
        receive(event)
    }
}
