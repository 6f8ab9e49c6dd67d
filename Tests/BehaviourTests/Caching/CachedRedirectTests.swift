// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Redirects whose first hop is cached, so that no sent request reveals it.
@Suite(.bounded) struct CachedRedirectTests {
    private let address = "https://home.example/"

    /// Redirects from home to another origin with a cached response. That origin responds as `abroad` specifies.
    private func transport(_ abroad: @escaping @Sendable (ReceivedRequest) -> StubResponse) -> InMemoryTransport {
        InMemoryTransport { request in
            guard request.url.host == "home.example" else { return abroad(request) }
            return .status(
                .movedPermanently,
                headers: [.location: "https://abroad.example/", .cacheControl: "max-age=3600"]
            )
        }
    }

    private func runTwice(_ request: HTTPRequest, on queue: TestQueue) async {
        for _ in 0..<2 { await queue.addRequest(request).end() }
    }

    @Test func transportLearnsOfCachedCrossOriginRedirect() async {
        let transport = transport { _ in .status(.ok, headers: [.cacheControl: "no-store"]) }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        await runTwice(HTTPRequest("\(raw: address)"), on: queue)

        #expect(transport.requests.map(\.url.host) == ["home.example", "abroad.example", "abroad.example"])
        #expect(transport.requests.map(\.transportRequest?.hasLeftOrigin) == [false, true, true])
    }

    @Test func leftOriginIsRememberedAcrossRedirects() async {
        let transport = transport { request in
            request.url.host == "abroad.example"
                ? .status(.found, headers: [.location: "https://farther.example/"]) : .status(.ok)
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        await runTwice(HTTPRequest("\(raw: address)"), on: queue)

        #expect(transport.requests.map(\.transportRequest?.hasLeftOrigin) == [false, true, true, true, true])
    }

    @Test func crossOriginChallengeIsIgnored() async {
        let asked = Recorder<URL>()
        let transport = transport { _ in .status(.unauthorized, headers: [.wwwAuthenticate: #"Basic realm="home""#]) }
        let queue = TestQueue(transport) {
            $0.cache = ResponseCache()
            $0.interceptors = [
                ChallengeInterceptor { _, url in
                    asked.record(url)
                    return URLCredential(user: "ada", password: "hush", persistence: .none)
                }
            ]
        }

        await runTwice(HTTPRequest("\(raw: address)"), on: queue)

        #expect(asked.count == 0 && transport.requests.count == 3)
    }

    @Test func resentRedirectedRequestStartsAtItsOrigin() async throws {
        let transport = transport { _ in .status(.ok) }
        let queue = TestQueue(transport)
        let first = queue.addRequest(HTTPRequest("\(raw: address)"))
        await first.end()

        await queue.addRequest(try #require(first.transfers.last).request).end()

        #expect(transport.requests.map(\.transportRequest?.hasLeftOrigin) == [false, true, false])
    }
}
