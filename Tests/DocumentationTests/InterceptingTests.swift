// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct InterceptingTests {
    struct TimingInterceptor<C: Clock<Duration>>: Interceptor {
        let clock: C
        let report: @Sendable (HTTPRequest, Duration) -> Void

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            let start = clock.now
            defer { report(request, start.duration(to: clock.now)) }
            return try await next(request)
        }
    }

    struct SigningKey: Sendable {
        func signature(of request: HTTPRequest) -> String { "signed \(request.url.path)" }
    }

    struct SigningInterceptor: Interceptor {
        let key: SigningKey

        func signed(_ request: HTTPRequest) -> HTTPRequest {
            var signed = request
            signed.headers["X-Signature"] = key.signature(of: request)
            return signed
        }

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            guard request.url.host() == context.baseURL?.host() else { return try await next(request) }
            return try await next(signed(request))
        }
    }

    actor RecentAnswers: Interceptor {
        private var answers: [URL: HTTPResponse<ResponseContent>] = [:]

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            guard request.method == .get else { return try await next(request) }
            if let known = answers[request.url] { return known }
            let answer = try await next(request)
            if answer.status == .ok, answer.body.data != nil { answers[request.url] = answer }
            return answer
        }
    }

    struct HedgingInterceptor: Interceptor {
        let delay: Duration
        let clock: any Clock<Duration>

        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            guard request.method.isSafe else { return try await next(request) }
            return try await withThrowingTaskGroup(of: HTTPResponse<ResponseContent>.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await next(request) }
                group.addTask {
                    try await clock.sleep(for: delay)
                    return try await next(request)
                }
                guard let first = try await group.next() else { throw CancellationError() }
                return first
            }
        }
    }

    struct LoginInterceptor: Interceptor {
        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            guard request.url.path != "/login" else { return }
            let token = try await context.send(HTTPRequest("login")).text()
            request.headers.set(.authorization(.bearer(token)))
        }
    }

    final class Configuration: Sendable {
        private let contents = Locked<[Data]>([])

        var stored: [Data] { contents.withLock { $0 } }

        func store(_ content: Data) { contents.withLock { $0.append(content) } }
    }

    struct ConfiguringInterceptor: Interceptor {
        let configuration: Configuration

        func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
            request.headers["X-Nonce"] = try await context.send(HTTPRequest("nonce")).text()
            context.detached(HTTPRequest("configuration")) { result in
                if case .success(let response) = result { configuration.store(response.body) }
            }
        }
    }

    private let home = URL(string: "https://api.example.com")
    private let pancakes = StubResponse.json(#"{"name": "Pancakes", "authorID": 7}"#)

    @Test func interceptorsRequestIsAwaitedUnlessDetached() async throws {
        let configuration = Configuration()
        let transport = InMemoryTransport { .status(.ok, body: Data("\($0.url.lastPathComponent)".utf8)) }
        let client = HTTPClient(baseURL: home, maxConcurrentRequests: 1, transport: transport) {
            $0.interceptors = [ConfiguringInterceptor(configuration: configuration)]
        }

        _ = try await client.fetch(HTTPRequest("recipes"))

        #expect(transport.requests.last { $0.url.path == "/recipes" }?.headers["X-Nonce"] == "nonce")
        try await eventually { configuration.stored == [Data("configuration".utf8)] }
    }

    @Test func timingIncludesTransfer() async throws {
        let (clock, times) = (ManualClock(), Locked<[Duration]>([]))
        let transport = InMemoryTransport { _ in
            clock.advance(by: .milliseconds(30))
            return .status(.noContent)
        }
        let timing = TimingInterceptor(clock: clock) { _, time in times.withLock { $0.append(time) } }
        let client = HTTPClient(baseURL: home, transport: transport) { $0.interceptors = [timing] }

        try await client.fetch(Get<Void>("recipes"))

        let measured = times.withLock { $0 }
        #expect(measured == [.milliseconds(30)])
    }

    @Test func eachSameOriginHopIsSigned() async throws {
        let transport = InMemoryTransport { request in
            switch request.url.absoluteString {
            case "https://api.example.com/orders": .status(.found, headers: [.location: "/orders/7"])
            case "https://api.example.com/orders/7": .status(.found, headers: [.location: "https://example.org/"])
            default: .status(.noContent)
            }
        }
        let (client, key) = (HTTPClient(baseURL: home, transport: transport), SigningKey())

        let signing = SigningInterceptor(key: key)
        client.configure {
            $0.interceptors.append(signing)
            $0.redirect = .follow().modifying { hop, _ in
                hop.headers.contains("X-Signature") ? signing.signed(hop) : hop
            }
        }

        try await client.fetch(Get<Void>("orders"))
        #expect(transport.requests.map { $0.headers["X-Signature"] } == ["signed /orders", "signed /orders/7", nil])
    }

    @Test func cachedResponseNeedsNoTransfer() async throws {
        let transport = InMemoryTransport { [pancakes] _ in pancakes }
        let client = HTTPClient(baseURL: home, transport: transport) { $0.interceptors = [RecentAnswers()] }

        let first = try await client.fetch(Get<Recipe>("recipes", "1"))
        let second = try await client.fetch(Get<Recipe>("recipes", "1"))

        #expect(first == second)
        #expect(transport.requests.count == 1)
    }

    @Test func loginUsesNoConcurrencySlot() async throws {
        let transport = InMemoryTransport { request in
            if request.url.path == "/login" { return .status(.ok, body: Data("secret".utf8)) }
            return request.headers[.authorization] == "Bearer secret" ? .status(.noContent) : .status(.unauthorized)
        }
        let client = HTTPClient(baseURL: home, maxConcurrentRequests: 1, transport: transport) {
            $0.interceptors = [LoginInterceptor()]
        }

        try await client.fetch(Get<Void>("orders"))

        #expect(transport.requests.map(\.url.path) == ["/login", "/orders"])
    }

    private func hedgingClient(over transport: InMemoryTransport, clock: ManualClock) -> HTTPClient {
        HTTPClient(baseURL: home, transport: transport) {
            $0.clock = clock
            $0.interceptors = [HedgingInterceptor(delay: .milliseconds(200), clock: clock)]
        }
    }

    @Test func hedgeReplacesSlowTransfer() async throws {
        let (clock, sent) = (ManualClock(), Locked(0))
        let transport = InMemoryTransport { [pancakes] _ in
            let number = sent.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? .never : pancakes
        }
        let client = hedgingClient(over: transport, clock: clock)

        async let name = client.fetch(Get<Recipe>("recipes", "1")).name
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(200))

        #expect(try await name == "Pancakes")
        #expect(transport.requests.count == 2)
    }

    @Test func fastResponseNeedsNoHedge() async throws {
        let transport = InMemoryTransport { [pancakes] _ in pancakes }
        let client = hedgingClient(over: transport, clock: ManualClock())

        #expect(try await client.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
        #expect(transport.requests.count == 1)
    }
}
