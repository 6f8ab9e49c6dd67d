// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct CachingTests {
    private let request = HTTPRequest(url: server)

    private func run(_ request: HTTPRequest, on queue: TestQueue) async -> DataOperation<HTTPRequest> {
        let operation = queue.addRequest(request)
        await operation.end()
        return operation
    }

    @Test func freshResponseIsServedWithoutRequest() async {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("kept".utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        let first = await run(request, on: queue)
        let second = await run(request, on: queue)

        #expect(first.result?.value == second.result?.value && second.result?.value == Data("kept".utf8))
        #expect(transport.requests.count == 1 && second.transfers.isEmpty)
        #expect(second.response?.status == .ok)
    }

    @Test(arguments: ["max-age=3600", "max-age=0"])
    func cachedResponseErrorIncludesRequestAndBody(cacheControl: String) async {
        let transport = InMemoryTransport { request in
            request.headers.contains(.ifNoneMatch)
                ? .status(.notModified, headers: [.eTag: "\"v1\""])
                : .status(
                    .notFound,
                    headers: [.cacheControl: cacheControl, .eTag: "\"v1\""],
                    body: Data("no".utf8)
                )
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        _ = await run(request, on: queue)
        let error = await run(request, on: queue).result?.error as? RequestError

        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(error?.request?.url == server && error?.body == Data("no".utf8))
    }

    @Test func interceptorCanRetryRejectedCachedResponse() async {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("expired".utf8))
        }
        let cache = ResponseCache()
        let attempts = Recorder<Int>()
        let interceptor = ClosureInterceptor(retry: { _, context in
            attempts.record(context.attempt)
            return context.attempt == 1 ? .retry : .pass
        })
        let queue = TestQueue(transport) {
            $0.cache = cache
            $0.validators = [.closure { _, _ in .fail(SampleError()) }]
            $0.interceptors = [interceptor]
        }

        _ = await run(request, on: TestQueue(transport) { $0.cache = cache })
        let second = await run(request, on: queue)

        #expect(attempts.elements == [1, 2] && transport.requests.count == 2)
        #expect((second.result?.error as? RequestError)?.code == .rejected)
    }

    @Test func staleResponseIsRevalidatedTransparently() async {
        let transport = InMemoryTransport { request in
            request.headers[.ifNoneMatch] == "\"v1\""
                ? .status(.notModified, headers: [.eTag: "\"v1\""])
                : .status(.ok, headers: [.cacheControl: "no-cache", .eTag: "\"v1\""], body: Data("kept".utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        _ = await run(request, on: queue)
        let second = await run(request, on: queue)

        #expect(second.result?.value == Data("kept".utf8) && second.response?.status == .ok)
        #expect(transport.requests.count == 2 && second.transfers.map(\.response?.status) == [.notModified])
    }

    @Test func explicitConditionalRequestReceives304() async {
        let transport = InMemoryTransport { request in
            request.headers.contains(.ifNoneMatch)
                ? .status(.notModified)
                : .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("kept".utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        _ = await run(request, on: queue)
        let second = await run(request.settingHeader(HTTPField(.ifNoneMatch, "\"mine\"")), on: queue)

        #expect(second.response?.status == .notModified && transport.requests.count == 2)
    }

    @Test func usersDoNotShareResponses() async {
        let transport = InMemoryTransport { request in
            let user = request.headers[.authorization] ?? "anonymous"
            return .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data(user.utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        for token in ["a", "b", "a"] {
            let operation = await run(request.authenticated(with: .bearerToken(token)), on: queue)
            #expect(operation.result?.value == Data("Bearer \(token)".utf8))
        }
        #expect(transport.requests.count == 2)
    }

    @Test func cachedRedirectIsFollowed() async {
        let transport = InMemoryTransport { request in
            request.url.path == "/end"
                ? .status(.ok, body: Data("end".utf8))
                : .status(.movedPermanently, headers: [.location: "/end", .cacheControl: "max-age=3600"])
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        _ = await run(request, on: queue)
        let second = await run(request, on: queue)

        #expect(second.result?.value == Data("end".utf8))
        #expect(transport.requests.map(\.url.path) == ["/v1", "/end", "/end"])
    }

    @Test func cacheOnlyRequestFailsWithoutStoredResponse() async {
        let transport = InMemoryTransport { _ in .status(.ok) }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        let operation = await run(request.cachePolicy(.returnCacheDataDontLoad), on: queue)

        #expect(operation.result?.error?.code == .notCached && transport.requests.isEmpty)
    }

    @Test func unsafeRequestInvalidatesStoredResponse() async {
        let transport = InMemoryTransport { request in
            .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data(request.method.rawValue.utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        for method in [HTTPMethod.get, .put, .get, .get] { _ = await run(request.method(method), on: queue) }

        #expect(transport.requests.map(\.method) == [.get, .put, .get])
    }

    @Test(arguments: ["stream", "download"])
    func streamOrDownloadInvalidatesStoredResponse(way: String) async throws {
        let transport = InMemoryTransport { request in
            .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data(request.method.rawValue.utf8))
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }
        _ = await run(request, on: queue)

        if way == "stream" {
            for try await _ in try await queue.stream(request.method(.post)) {}
        } else {
            let file = try await queue.fetch(Download(request.method(.post)))
            try FileManager.default.removeItem(at: file)
        }
        _ = await run(request, on: queue)

        #expect(transport.requests.map(\.method) == [.get, .post, .get])
    }

    @Test func interruptedPostInvalidatesStoredResponse() async throws {
        let transport = ManualTransport()
        let cache = ResponseCache()
        let queue = TestQueue(transport) { $0.cache = cache }
        let read = queue.addRequest(request)
        let first = try await transport.awaitTransfer(count: 1)
        first.receive(.head(HTTPResponseHead(status: .ok, headers: [.cacheControl: "max-age=3600"])))
        first.receive(.end(nil))
        await read.end()
        let kept = cache.responses(for: server).count

        let change = queue.addRequest(request.method(.post))
        let second = try await transport.awaitTransfer(count: 2)
        second.receive(.head(HTTPResponseHead(status: .ok)))
        second.receive(.end(RequestError(.connectionLost, phase: .receiving)))
        await change.end()

        #expect(change.result?.error?.code == .connectionLost)
        #expect(kept == 1 && cache.responses(for: server).isEmpty)
    }

    @Test func failedPostKeepsStoredResponse() async throws {
        let transport = InMemoryTransport { request in
            request.method == .get
                ? .status(.ok, headers: [.cacheControl: "max-age=3600"]) : .status(.internalServerError)
        }
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }
        _ = await run(request, on: queue)

        let stream = try? await queue.stream(request.method(.post))
        _ = await run(request, on: queue)

        #expect(stream == nil && transport.requests.map(\.method) == [.get, .post])
    }

    @Test func staleIfErrorServesStaleResponse() async {
        let transport = InMemoryTransport.answering([
            .status(
                .ok,
                headers: [.cacheControl: "max-age=0, stale-if-error=600", .eTag: "\"v1\""],
                body: Data("kept".utf8)
            ),
            .failure(RequestError(.connectionLost, phase: .sending)),
            .status(.badGateway),
        ])
        let queue = TestQueue(transport) { $0.cache = ResponseCache() }

        for _ in 1...3 {
            let operation = await run(request, on: queue)
            #expect(operation.result?.value == Data("kept".utf8) && operation.response?.status == .ok)
        }
        #expect(transport.requests.count == 3)
    }

    // The cache would return the rejected response again and again, for as long as it is fresh.
    @Test func retryBypassesRejectedCachedResponse() async {
        let number = Locked(0)
        let transport = InMemoryTransport { _ in
            let number = number.withLock { number in
                number += 1
                return number
            }
            return .status(.ok, headers: [.cacheControl: "max-age=3600"], body: Data("\(number)".utf8))
        }
        let queue = TestQueue(transport) {
            $0.cache = ResponseCache()
            $0.validators = [
                ClosureValidator { response, _ in response.body == Data("1".utf8) ? .retry(.immediate) : .accept }
            ]
        }

        let first = await run(request, on: queue)
        let second = await run(request, on: queue)

        #expect(first.result?.value == Data("2".utf8) && first.transfers.map(\.cause) == [.initial, .retry])
        #expect(second.result?.value == Data("2".utf8) && second.transfers.isEmpty)
    }

    @Test(arguments: [
        URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
    ])
    func rejectedCachedResponseFailsAtRetryLimit(_ policy: URLRequest.CachePolicy) async {
        let attempts = Recorder<Int>()
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=3600"]) }
        let cache = ResponseCache()
        _ = await run(request, on: TestQueue(transport) { $0.cache = cache })
        let queue = TestQueue(transport) {
            $0.cache = cache
            $0.validators = [
                ClosureValidator { _, context in
                    attempts.record(context.attempt)
                    return .retry(.immediate(limit: 2))
                }
            ]
        }

        let operation = await run(request.cachePolicy(policy), on: queue)

        #expect(operation.result?.error?.code == .retryLimitReached)
        #expect(attempts.elements == [1, 2, 3])
        #expect(transport.requests.count == (policy == .returnCacheDataDontLoad ? 1 : 3))
    }

    @Test func environmentClockDoesNotAffectFreshness() async {
        let transport = InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=3600"]) }
        let queue = TestQueue(transport) {
            $0.cache = ResponseCache()
            $0.now = { Date(timeIntervalSince1970: 1_000_000_000) }
        }

        for _ in 1...2 { _ = await run(request, on: queue) }

        #expect(transport.requests.count == 1)
    }
}
