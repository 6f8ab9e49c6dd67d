// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The route to a proxy, identified by the transport that connects to the proxy.
///
/// Two transports may use different proxies, and must not share credentials. A route becomes invalid when its transport
/// is deallocated, so a new transport at the same memory address has another route.
struct ProxyRoute: Sendable, Hashable {
    private weak var transport: (any AnyObject & Sendable)?
    private let identity: ObjectIdentifier

    /// Creates the route for a transport that can send credentials to a proxy.
    init(over transport: any AnyObject & Sendable) {
        self.transport = transport
        identity = ObjectIdentifier(transport)
    }

    static func == (lhs: ProxyRoute, rhs: ProxyRoute) -> Bool {
        lhs.identity == rhs.identity && lhs.transport != nil && rhs.transport != nil
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
