// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

/// A running transfer, seen from the side that started it.
///
/// All calls are safe from any thread, and at any time.
public protocol Transfer: AnyObject, Sendable {
    /// Asks for the end; a transfer that has ended, or was cancelled before, stays as it is.
    func cancel()

    /// Asks for no more content until ``resume()``: back-pressure, where ``TransportCapabilities/pausing`` says that
    /// there is such a thing. By default nothing happens.
    func pause()

    /// Asks for content again.
    func resume()
}

extension Transfer {
    /// Does nothing: the transport can't pause.
    public func pause() {}

    /// Does nothing: the transport can't pause.
    public func resume() {}
}
