// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct IdempotencyKeysTests {
    private func request(_ method: HTTPMethod, headers: HTTPHeaders = []) -> WireRequest {
        WireRequest(http: HTTPRequest(url: home, method: method, headers: headers))
    }

    private func queue(_ transport: InMemoryTransport, _ keys: ClosureInterceptor) -> TestQueue {
        TestQueue(transport) {
            $0.interceptors = [keys]
            $0.retry = RetryPolicy(backoff: .none)
        }
    }

    @Test func retriesReuseIdempotencyKey() async {
        let number = Locked(0)
        let keys = ClosureInterceptor.idempotencyKeys(makeKey: {
            number.withLock {
                $0 += 1
                return "key \($0)"
            }
        })
        let transport = InMemoryTransport { _ in .failure(RequestError(.connectionLost, phase: .receiving)) }
        let queue = queue(transport, keys)

        for _ in 0..<2 { _ = await Probe(adding: request(.post), to: queue).ended() }

        let sent = transport.requests.map { $0.headers[values: .idempotencyKey] }
        #expect(sent == Array(repeating: ["key 1"], count: 3) + Array(repeating: ["key 2"], count: 3))
    }

    @Test func explicitKeyIsPreserved() async {
        let transport = InMemoryTransport.answering([.status(503), .status(.ok)])
        let queue = queue(transport, .idempotencyKeys())

        _ = await Probe(adding: request(.post, headers: [.idempotencyKey: "mine"]), to: queue).ended()

        #expect(transport.requests.map { $0.headers[.idempotencyKey] } == ["mine", "mine"])
    }

    @Test(arguments: [HTTPMethod.get, .put, .delete, .head])
    func idempotentMethodsGetNoKey(method: HTTPMethod) async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        _ = await Probe(adding: request(method), to: queue(transport, .idempotencyKeys())).ended()

        #expect(transport.requests.map { $0.headers.contains(.idempotencyKey) } == [false])
    }

    @Test func keysAreUniqueByDefault() async throws {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = queue(transport, .idempotencyKeys(for: [.patch]))

        for _ in 0..<10 { _ = await Probe(adding: request(.patch), to: queue).ended() }

        #expect(Set(transport.requests.compactMap { $0.headers[.idempotencyKey] }).count == 10)
    }

    @Test func keyInvalidInHeaderFieldFailsRequest() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = queue(transport, .idempotencyKeys(makeKey: { "a\r\nX-Evil: 1" }))

        let error = await Probe(adding: request(.post), to: queue).ended().first?.error

        #expect(error?.code == .invalidRequest && transport.requests.isEmpty)
    }
}
