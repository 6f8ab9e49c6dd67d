// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The protocol handler of an upgraded connection, such as a WebSocket (RFC 9110, 7.8).
///
/// Each transfer has its own handler. The transfer ends with the 101 response, and the connection is open from then on.
package protocol UpgradedConnection: AnyObject, Sendable {
    /// The name of the protocol in the `Upgrade` field.
    static var upgradeToken: String { get }
    /// The name of the connection in error messages, such as `a WebSocket`.
    static var title: String { get }

    /// The bytes to send once the connection is open.
    var source: TransportRequest.UpgradeSource { get }

    /// Checks the head of a 101 response whose `Upgrade` and `Connection` fields are already valid.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - headers: The header fields of the request.
    /// - Returns: A description of the error; `nil` if the peer has accepted the upgrade.
    static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String?

    /// Starts a transfer over a transport without ``TransportCapabilities/upgrades``.
    ///
    /// - Returns: The handle of the transfer; `nil` if the transport isn't supported.
    func startNatively(
        _ request: TransportRequest,
        over transport: any HTTPTransport,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> (any TransferHandle)?

    /// Called when the connection is open.
    ///
    /// - Parameter onClose: The closure that the connection must call when it has ended.
    func open(onClose: @escaping @Sendable () -> Void)

    /// Receives bytes from the peer.
    func receive(_ data: Data)

    /// Called when the connection has ended; the error isn't `nil` if the connection was lost.
    func end(_ error: RequestError?)

    /// Closes a connection that is no longer needed, and fails its pending calls with the error.
    func cancel(_ error: RequestError)
}
