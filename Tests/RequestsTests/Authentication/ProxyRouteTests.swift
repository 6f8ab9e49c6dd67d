// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTestSupport
import RequestsTesting
import Testing

@testable import Requests

@Suite(.bounded) struct ProxyRouteTests {
    @Test func proxyRouteEndsWithItsTransport() {
        var transport: InMemoryTransport? = InMemoryTransport { _ in .status(.ok) }
        let routes = transport.map { [ProxyRoute(over: $0), ProxyRoute(over: $0)] } ?? []
        #expect(routes.first == routes.last && routes.count == 2)

        transport = nil

        #expect(routes.first != routes.last)
    }
}
