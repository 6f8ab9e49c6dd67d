// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

#if os(Linux)
/// The proxy and origin that a connection leads to; transfers with the same route may share connections.
struct CurlRoute: Sendable, Hashable {
    /// The proxy; `nil` for a direct connection.
    let proxy: Origin?
    /// The origin of the connection or of the proxy's tunnel; `nil` if the proxy forwards requests to any origin.
    let origin: Origin?

    /// Creates the route of a transfer.
    ///
    /// - Parameters:
    ///   - destination: The destination of the request.
    ///   - proxy: The proxy; `nil` for a direct connection.
    ///   - needsTunnel: Whether the proxy must open a tunnel even for a plain request.
    init(to destination: CurlDestination, over proxy: CurlProxies.Proxy?, needsTunnel: Bool = false) {
        self.proxy = proxy?.origin
        let isForwarded = proxy?.forwardsRequests == true && !destination.isSecure && !needsTunnel
        origin = isForwarded ? nil : destination.origin
    }
}
#endif
