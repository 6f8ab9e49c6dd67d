// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation

/// The route to a proxy: the transport that connects to it.
///
/// Two transports may have two proxies, and must not share credentials. The route ends with its transport: a later one
/// at the same memory address is different.
struct ProxyRoute: Sendable, Hashable {
    private weak var transport: (any AnyObject & Sendable)?
    private let identity: ObjectIdentifier

    /// Creates the route over a transport that can send credentials to a proxy.
    init(over transport: any AnyObject & Sendable) {
        self.transport = transport
        identity = ObjectIdentifier(transport)
    }

    static func == (lhs: ProxyRoute, rhs: ProxyRoute) -> Bool {
        lhs.identity == rhs.identity && lhs.transport != nil && rhs.transport != nil
    }

    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
