// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A handle for cancelling and pausing a transfer.
///
/// All methods may be called from any thread, and at any time.
public protocol TransferHandle: AnyObject, Sendable {
    /// Cancels the transfer; does nothing if it has ended or was already cancelled.
    func cancel()

    /// Stops delivering content until ``resume()``.
    ///
    /// If the transport has the capability ``TransportCapabilities/pausing``, this applies backpressure to the peer.
    /// The default implementation does nothing.
    func pause()

    /// Resumes delivering content. The default implementation does nothing.
    func resume()
}

extension TransferHandle {
    /// Does nothing, because the transport can't pause transfers.
    public func pause() {}

    /// Does nothing, because the transport can't pause transfers.
    public func resume() {}
}

/// The handle of a transfer that had already ended when `send` returned.
package final class EndedTransfer: TransferHandle {
    package static let shared = EndedTransfer()

    package func cancel() {}
}
