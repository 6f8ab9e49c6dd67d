// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import RequestsTesting
import TestSupport
import Testing

@testable import Requests

@Suite(.bounded, .tags(.behaviour)) struct ScopedInterceptorTests {
    private let again = ClosureInterceptor(
        adapt: { request, _ in request.headers["X-Seen"] = "yes" },
        retry: { _, context in context.attempt == 1 ? .retry : .pass }
    )

    @Test(arguments: [("orders", 2), ("recipes", 1)])
    func itSeesSomeRequestsOnly(path: String, transfers: Int) async {
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) { $0.interceptors = [again.scoped { $0.url.path == "/orders" }] }
        let request = WireRequest(http: HTTPRequest("https://example.com/\(path)"))

        _ = await Probe(adding: request, to: queue).ended()

        #expect(transport.requests.count == transfers)
        #expect(transport.requests.allSatisfy { $0.headers.contains("X-Seen") == (path == "orders") })
    }

    @Test func aRedirectChangesNothingAboutThat() async {
        let transport = InMemoryTransport { request in
            request.url == home ? .status(.found, headers: [.location: "/moved"]) : .status(.serviceUnavailable)
        }
        let queue = TestQueue(transport) { $0.interceptors = [again.scoped { $0.url == home }] }

        _ = await Probe(adding: WireRequest(), to: queue).ended()

        #expect(transport.requests.map(\.url.path) == ["/recipes/1", "/moved", "/recipes/1", "/moved"])
    }
}
