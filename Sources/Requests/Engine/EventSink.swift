// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// What a transport reports to: calls `receive`, and, when it is let go of, reports the end of the transfer.
///
/// A transport that forgets a transfer, or is let go of with it, would otherwise leave an operation behind that never
/// finishes.
final class EventSink: Sendable {
    private let flow: FlowControl
    private let receive: @Sendable (TransferEvent) -> Void

    /// - Parameters:
    ///   - flow: What has to let go of the transfer when that is over.
    ///   - receive: Gets the events.
    init(_ flow: FlowControl, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
        self.flow = flow
        self.receive = receive
    }

    deinit {
        guard !flow.isOver else { return }
        let reason = "the transport let go of the transfer without reporting its end"
        report(.end(RequestError(.connectionLost, phase: .sending, reason: reason)))
    }

    func report(_ event: TransferEvent) {
        // What is done at the end is done once, whatever the transport does.
        if case .end = event, !flow.detach() { return }
        receive(event)
    }
}
