// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transport whose transfers do what a test tells them, event by event.
final class StepTransport: HTTPTransport {
    final class StepTransfer: Transfer {
        let request: TransportRequest
        let cancels = Recorder<Void>()
        private let receiver: Locked<(@Sendable (TransferEvent) -> Void)?>

        init(_ request: TransportRequest, _ receive: @escaping @Sendable (TransferEvent) -> Void) {
            self.request = request
            receiver = Locked(receive)
        }

        /// Reports an event; behind the end of a transfer nobody is held on to.
        func receive(_ event: TransferEvent) {
            let receive = receiver.withLock { receiver in
                defer { if case .end = event { receiver = nil } }
                return receiver
            }
            receive?(event)
        }

        func cancel() { cancels.record(()) }
    }

    let capabilities: TransportCapabilities
    let transfers = Recorder<StepTransfer>()

    init(_ capabilities: TransportCapabilities = .concurrentDelivery) {
        self.capabilities = capabilities
    }

    func send(_ request: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer {
        let transfer = StepTransfer(request, receive)
        transfers.record(transfer)
        return transfer
    }
}
