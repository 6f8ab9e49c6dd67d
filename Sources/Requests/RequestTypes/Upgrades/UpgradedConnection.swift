// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// A connection that a request upgrades to another protocol, such as that of WebSockets (RFC 9110, 7.8): what the bytes
/// mean.
///
/// One is created for each transfer. The transfer ends with the 101, and from then on the connection is open.
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
    /// - Parameter whenOver: To be called when the connection has ended.
    func open(whenOver: @escaping @Sendable () -> Void)

    /// Takes bytes of the peer.
    func receive(_ data: Data)

    /// Takes the end of the connection, with the error if it was lost.
    func end(_ error: RequestError?)

    /// Closes the connection, because nothing uses it any more; its users get the error.
    func cancel(_ error: RequestError)
}
