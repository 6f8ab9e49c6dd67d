// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A running transfer, seen from the side that started it.
///
/// All calls are safe from any thread, and at any time.
public protocol TransferHandle: AnyObject, Sendable {
    /// Requests the end; does nothing if the transfer has ended, or was cancelled before.
    func cancel()

    /// Stops delivering content until ``resume()``: back-pressure, if ``TransportCapabilities/pausing`` is supported.
    /// By default it does nothing.
    func pause()

    /// Resumes delivering content.
    func resume()
}

extension TransferHandle {
    /// Does nothing: the transport can't pause.
    public func pause() {}

    /// Does nothing: the transport can't pause.
    public func resume() {}
}

/// The handle of a transfer that ended before `send` returned.
package final class EndedTransfer: TransferHandle {
    package static let shared = EndedTransfer()

    package func cancel() {}
}
