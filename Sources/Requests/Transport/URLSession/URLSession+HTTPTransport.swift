// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// Any session carries requests: one of your own, with its configuration, or `URLSession.shared`.
///
/// On Apple platforms the session runs the task itself, and its cookies, its cache and its configuration stay in force.
/// On Linux only a session's own delegate sees data, so the session contributes its *configuration* — protocol classes,
/// headers, proxy, cookies, limits — to a private session that runs the tasks; the session's own delegate isn't called,
/// and its URL cache isn't used. So it is on Apple platforms for a request with a ``TrustPolicy`` but `.system`, whose
/// connections nobody else may use. ``URLSessionTransport`` has the table of what that means.
extension URLSession: HTTPTransport {
    /// What a session can do.
    public var capabilities: TransportCapabilities { .ofURLSession }

    /// Starts a transfer, as ``HTTPTransport`` says.
    public func send(
        _ request: TransportRequest,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        #if canImport(FoundationNetworking)
        PrivateSessions.shared.transport(for: self).send(request, receive: receive)
        #else
        guard request.trust == .system else {
            return PrivateSessions.shared.transport(for: self).send(request, receive: receive)
        }
        return SessionTransfer.start(request, in: self, delegate: .shared, receive: receive)
        #endif
    }
}

extension HTTPTransport where Self == URLSession {
    /// `URLSession.shared`.
    public static var shared: URLSession { URLSession.shared }
}

extension TransportCapabilities {
    #if canImport(FoundationNetworking)
    static let ofURLSession: TransportCapabilities = []
    #else
    static let ofURLSession: TransportCapabilities = [.pausing]
    #endif
}
