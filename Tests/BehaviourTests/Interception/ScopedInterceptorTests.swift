// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ScopedInterceptorTests {
    private let again = ClosureInterceptor(
        adapt: { request, _ in request.headers["X-Seen"] = "yes" },
        retry: { _, context in context.attempt == 1 ? .retry : .pass }
    )

    @Test(arguments: [("orders", 2), ("recipes", 1)])
    func interceptorSeesOnlyMatchingRequests(path: String, transfers: Int) async {
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let queue = TestQueue(transport) { $0.interceptors = [again.scoped { $0.url.path == "/orders" }] }
        let request = WireRequest(http: HTTPRequest("https://example.com/\(path)"))

        _ = await Probe(adding: request, to: queue).ended()

        #expect(transport.requests.count == transfers)
        #expect(transport.requests.allSatisfy { $0.headers.contains("X-Seen") == (path == "orders") })
    }

    @Test func scopeIsDecidedBeforeRedirect() async {
        let transport = InMemoryTransport { request in
            request.url == home ? .status(.found, headers: [.location: "/moved"]) : .status(.serviceUnavailable)
        }
        let queue = TestQueue(transport) { $0.interceptors = [again.scoped { $0.url == home }] }

        _ = await Probe(adding: WireRequest(), to: queue).ended()

        #expect(transport.requests.map(\.url.path) == ["/recipes/1", "/moved", "/recipes/1", "/moved"])
    }

    @Test(arguments: [("/orders/1", 200), ("/recipes", 401)])
    func scopedCredentialsHandleMatchingChallenges(path: String, status: Int) async throws {
        let transport = InMemoryTransport { request in
            request.headers.contains(.authorization)
                ? .status(.ok) : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="r""#])
        }
        let credentials = ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
        let scoped = credentials.scoped { $0.url.path.hasPrefix("/orders") }.scoped { $0.url.scheme == "https" }
        let client = HTTPClient(transport: transport) { $0.interceptors = [scoped] }

        let operation = client.addRequest(HTTPRequest("https://example.com\(raw: path)"))
        await operation.end()

        #expect(operation.transfers.last?.response?.status.code == status)
    }

    @Test func scopedRetryUsesOriginalRequest() async throws {
        let transport = InMemoryTransport { request in
            guard request.url != home else { return .status(.found, headers: [.location: "/moved"]) }
            return request.headers.contains(.authorization)
                ? .status(.serviceUnavailable)
                : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="r""#])
        }
        let credentials = ChallengeInterceptor { _, _ in URLCredential(user: "u", password: "p", persistence: .none) }
        let client = HTTPClient(transport: transport) { [again] in
            $0.interceptors = [again.scoped { $0.url == home }, credentials]
        }

        await client.addRequest(HTTPRequest(url: home)).end()

        #expect(transport.requests.count { $0.url == home } == 2)
    }

    /// Like an unscoped interceptor, a scoped one doesn't change its own requests.
    @Test func credentialRequestIsNotAuthenticated() async throws {
        let transport = InMemoryTransport { request in
            request.headers.contains(.authorization)
                ? .status(.ok) : .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="r""#])
        }
        let client = HTTPClient(transport: transport)
        let asked = Recorder<Int?>()
        let credentials = ChallengeInterceptor { [weak client] _, url in
            let inner = client?.addRequest(HTTPRequest(url: url))
            await inner?.end()
            asked.record(inner?.transfers.count)
            return URLCredential(user: "u", password: "p", persistence: .none)
        }
        client.environment.interceptors = [credentials.scoped { _ in true }]

        #expect(try await client.send(HTTPRequest(url: home)).status == .ok)
        #expect(asked.elements == [1])
    }
}
