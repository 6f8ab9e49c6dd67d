// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The meaning of the bytes on an upgraded connection, such as a WebSocket (RFC 9110, 7.8).
///
/// Each transfer has its own. The transfer ends with the 101, and from then on the connection is open.
package protocol UpgradedConnection: AnyObject, Sendable {
    /// The protocol, as in the `Upgrade` field.
    static var upgradeToken: String { get }
    /// What errors call the connection, such as `a WebSocket`.
    static var title: String { get }

    /// The bytes to send once the connection is open.
    var source: TransportRequest.UpgradeSource { get }

    /// Checks the head of a 101 response, whose `Upgrade` and `Connection` fields are right.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - headers: The fields of the request.
    /// - Returns: What is wrong; `nil` if the peer has agreed to the upgrade.
    static func flaw(in head: HTTPResponseHead, to headers: HTTPHeaders) -> String?

    /// Begins a transfer over a transport without ``TransportCapabilities/upgrades``.
    ///
    /// - Returns: The handle of the transfer; `nil` if the transport can't be used.
    func begin(
        _ request: TransportRequest,
        over transport: any HTTPTransport,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> (any TransferHandle)?

    /// Called when the connection is open.
    ///
    /// - Parameter onClose: Called by the connection when it has ended.
    func open(onClose: @escaping @Sendable () -> Void)

    /// Receives bytes of the peer.
    func receive(_ data: Data)

    /// Called when the connection has ended, with the error if it was lost.
    func end(_ error: RequestError?)

    /// Closes an unused connection; its users get the error.
    func cancel(_ error: RequestError)
}
