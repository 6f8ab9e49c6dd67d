// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Requests

/// A transport that breaks its promise: it releases every transfer, and reports nothing.
package final class ForgetfulTransport: HTTPTransport {
    private final class Nothing: TransferHandle {
        func cancel() {}
    }

    package init() {}

    package let capabilities = TransportCapabilities.concurrentDelivery

    package func send(_: TransportRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any TransferHandle {
        Nothing()
    }
}
