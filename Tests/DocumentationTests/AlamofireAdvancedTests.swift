// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The examples of Alamofire's advanced manual, with the same purpose and this library's API: clients, operations,
/// interceptors, policies, monitors and routes.
@Suite(.bounded, .tags(.behaviour)) struct AlamofireAdvancedTests {
    struct Token: Sendable, Equatable {
        var access = "a0"
        var refresh = "r0"
        var expiration = Date.distantFuture
    }

    struct TokenAuthenticator: Authenticator {
        func apply(_ token: Token, to request: inout HTTPRequest) {
            request.headers.set(.bearerToken(token.access))
        }

        func needsRefresh(_ token: Token) -> Bool { token.expiration < Date(timeIntervalSinceNow: 300) }

        func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
            struct Answer: Decodable { let access: String }
            let answer = try await client.fetch(Answer.self, from: HTTPRequest(method: .post, "tokens"))
            return Token(access: answer.access)
        }
    }

    enum Route: RequestSpec {
        case dish(Int)
        case order([String: String])

        var request: Get<Data> {
            switch self {
            case .dish(let id): Get("dishes", "\(id)").query(["full": true])
            case .order(let items): Get("orders").method(.post).body(.json(items))
            }
        }
    }

    struct CommaDelimited: HTTPDecodableResponse, Equatable {
        let values: [String]

        static func decode(_ response: HTTPResponse<Data>) throws -> CommaDelimited {
            CommaDelimited(values: try response.text().split(separator: ",").map(String.init))
        }
    }

    private let home = URL(string: "https://kitchen.example")!
    private let transport = InMemoryTransport { _ in .json(#"{"name": "Ada"}"#) }

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: home, transport: transport, configure)
    }

    // MARK: Clients

    @Test func aClientIsMadeFromAConfiguration() async throws {
        let server = try MockServer { _ in .noContent }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        let client = HTTPClient(baseURL: server.url, configuration: configuration)

        #expect(try await client.send(Get<Void>("a")).status == .noContent)
    }

    @Test func aSessionOfOnesOwnCarriesRequests() async throws {
        let server = try MockServer { _ in .noContent }
        let client = HTTPClient(baseURL: server.url, transport: URLSession(configuration: .ephemeral))

        #expect(try await client.send(Get<Void>("a")).status == .noContent)
    }

    @Test func requestsWaitUntilTheyAreResumed() async throws {
        let client = client()
        client.isSuspended = true
        let operation = client.addRequest(Get<Author>("authors", "1"))
        #expect(transport.requests.isEmpty)

        client.isSuspended = false

        #expect(try await operation.value() == Author(name: "Ada"))
    }

    @Test func allRequestsAreCancelledAtOnce() async {
        let silent = InMemoryTransport { _ in .never }
        let client = HTTPClient(baseURL: home, transport: silent)
        let operations = (1...3).map { client.addRequest(Get<Author>("authors", "\($0)")) }

        client.cancelAllRequests()

        for operation in operations {
            await #expect { try await operation.value() } throws: { ($0 as? RequestError)?.code == .cancelled }
        }
    }

    @Test func aRunningTransferIsPausedAndResumed() async throws {
        let operation = client().addRequest(Get<Author>("authors", "1"))
        operation.pause()
        operation.resume()

        #expect(try await operation.value() == Author(name: "Ada"))
    }

    @Test func anOperationKnowsWhatWasSentAndWhatCame() async throws {
        let operation = client().addRequest(Get<Author>("authors", "1"))
        _ = try await operation.value()

        #expect(operation.attempts.count == 1 && operation.response?.status == .ok)
        #expect(operation.urlRequest?.url?.path == "/authors/1")
    }

    // MARK: Interceptors

    @Test func anAdapterAddsAFieldToEachRequest() async throws {
        let client = client { $0.interceptors = [.adapting { $0.headers["X-Kitchen"] = "north" }] }

        _ = try await client.fetch(Get<Author>("authors", "1"))

        #expect(transport.requests.last?.headers["X-Kitchen"] == "north")
    }

    @Test func aRetrierDecidesAboutAFailure() async throws {
        struct TwiceMore: Interceptor {
            func retry(_ error: RequestError, context: InterceptorContext) async -> RetryDecision {
                context.attempt < 3 ? .retry(after: .zero) : .fail
            }
        }
        let broken = InMemoryTransport { _ in .status(.serviceUnavailable) }
        let client = HTTPClient(baseURL: home, transport: broken) { $0.interceptors = [TwiceMore()] }

        await #expect(throws: RequestError.self) { try await client.fetch(Get<Author>("authors", "1")) }
        #expect(broken.requests.count == 3)
    }

    @Test func temporaryFailureIsRetriedByAPolicy() async throws {
        let count = Locked(0)
        let shaky = InMemoryTransport { _ in
            count.withLock {
                $0 += 1
                return $0
            } < 3 ? .status(.serviceUnavailable) : .json(#"{"name": "Ada"}"#)
        }
        let client = HTTPClient(baseURL: home, transport: shaky) {
            $0.retry = RetryPolicy(limit: 2, backoff: .exponential(from: .milliseconds(1)))
        }

        #expect(try await client.fetch(Get<Author>("authors", "1")).name == "Ada")
    }

    @Test func severalInterceptorsRunInTheirOrder() async throws {
        let client = client {
            $0.interceptors = [.adapting { $0.headers["X-A"] = "1" }, .adapting { $0.headers["X-A"]? += "2" }]
        }

        _ = try await client.fetch(Get<Author>("authors", "1").intercepted(by: .adapting { $0.headers["X-A"]? += "3" }))

        #expect(transport.requests.last?.headers["X-A"] == "123")
    }

    @Test func anExpiredTokenIsRefreshedOnce() async throws {
        let server = InMemoryTransport { request in
            request.url.path == "/tokens"
                ? .json(#"{"access": "a1"}"#)
                : request.headers[.authorization] == "Bearer a1" ? .json(#"{"name": "Ada"}"#) : .status(.unauthorized)
        }
        let login = AuthenticationInterceptor(TokenAuthenticator(), credential: Token(expiration: .distantPast))
        let client = HTTPClient(baseURL: home, transport: server) { $0.interceptors = [login] }

        async let one = client.fetch(Get<Author>("authors", "1"))
        async let other = client.fetch(Get<Author>("authors", "2"))

        #expect(try await [one, other].map(\.name) == ["Ada", "Ada"])
        #expect(server.requests.filter { $0.url.path == "/tokens" }.count == 1 && login.credential?.access == "a1")
    }

    @Test func largeBodiesAreCompressed() async throws {
        guard BodyCompression.isAvailable else { return }
        let client = client { $0.interceptors = [.compressingBodies(from: 1024)] }

        _ = try await client.send(Post<Void>("a").body(.data(Data(count: 10_000))))
        _ = try await client.send(Post<Void>("a").body(.data(Data(count: 10))))

        #expect(transport.requests.map { $0.headers.contains(.contentEncoding) } == [true, false])
    }

    // MARK: Policies

    @Test func hostsAreTrustedByTheirKeys() throws {
        let pin = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let trust = try TrustPolicy.system
            .pinning([pin], forHosts: ["keys.example.com"])
            .evaluating(with: TrustEvaluator { host, chain in chain.count > 1 }, forHosts: ["*.example.com"])
            .insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])

        #expect(client { $0.trust = trust }.environment.trust == trust)
    }

    @Test func redirectsAreFollowedRefusedOrChanged() async throws {
        let moved = InMemoryTransport { request in
            request.url.path == "/old" ? .status(.found, headers: [.location: "/new"]) : .status(.ok)
        }
        let client = HTTPClient(baseURL: home, transport: moved) { $0.redirect = .follow(limit: 5) }
        let old = Get<Void>("old")
        let changed = old.redirect(
            .follow().modifying { request, _ in
                var request = request
                request.headers["X-From"] = "old"
                return request
            }
        )

        #expect(try await client.send(old).url?.path == "/new")
        #expect(try await client.send(old.redirect(.refuse).acceptingAnyStatus()).status == .found)
        _ = try await client.send(changed)
        #expect(moved.requests.last?.headers["X-From"] == "old")
    }

    @Test func responsesAreSelectedAndChangedForTheCache() async throws {
        let fresh = InMemoryTransport { _ in .status(.ok, headers: [.cacheControl: "max-age=60"]) }
        let cache = ResponseCache(keeping: { response, request in request.url.path == "/secret" ? nil : response })
        let client = HTTPClient(baseURL: home, transport: fresh) { $0.cache = cache }

        for path in ["menu", "menu", "secret", "secret"] { _ = try await client.send(Get<Void>("\(path)")) }

        #expect(fresh.requests.map(\.url.path) == ["/menu", "/secret", "/secret"])
    }

    // MARK: Monitors

    @Test func eventsAreLogged() async throws {
        struct Logger: EventMonitor {
            let lines = Locked<[String]>([])

            func operationStarted(_ operation: MonitoredOperation) {
                lines.withLock { $0.append("started \(operation.requestType)") }
            }

            func operationEnded(_ operation: MonitoredOperation, with outcome: MonitoredOutcome) {
                lines.withLock { $0.append("ended") }
            }
        }
        let logger = Logger()
        let client = client { $0.monitors = [logger] }

        let operation = client.addRequest(Get<Author>("authors", "1"))
        _ = try await operation.value()

        #expect(logger.lines.withLock { $0.first } == "started Get<Author>")
    }

    @Test func eventsComeToAClosure() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: String.self)
        let client = client {
            $0.monitors = [.events { event, _ in if case .operationEnded = event { continuation.yield("ended") } }]
        }

        _ = try await client.fetch(Get<Author>("authors", "1"))

        #expect(await events.first { _ in true } == "ended")
    }

    // MARK: Routes

    @Test func anAddressIsATextAURLOrARequestOfFoundation() async throws {
        let text = "https://kitchen.example/get"
        let url = try #require(URL(string: text))
        var foundation = URLRequest(url: url)
        foundation.httpMethod = "POST"
        foundation.httpBody = Data("{}".utf8)

        for request in [HTTPRequest("\(raw: text)"), HTTPRequest(url: url), try HTTPRequest(foundation)] {
            _ = try await client().fetch(request)
        }

        #expect(transport.requests.map(\.url.absoluteString) == [text, text, text])
        #expect(transport.requests.last?.method == .post)
    }

    @Test func aRouterIsAnEnumeration() async throws {
        _ = try await client().fetch(Route.dish(7))
        _ = try await client().fetch(Route.order(["dish": "soup"]))

        #expect(transport.requests.first?.url.absoluteString == "https://kitchen.example/dishes/7?full=true")
        #expect(try transport.requests.last?.body.data() == Data(#"{"dish":"soup"}"#.utf8))
    }

    // MARK: Responses

    @Test func aResponseIsMapped() async throws {
        let response = try await client().send(Get<Author>("authors", "1")).map(\.name)

        #expect(response.body == "Ada" && response.status == .ok)
    }

    @Test func aSerializerOfOnesOwnIsATypeOrAValue() async throws {
        let list = InMemoryTransport { _ in .status(.ok, body: Data("a,b".utf8)) }
        let commas = ResponseDecoder<[String]> { try $0.text().split(separator: ",").map(String.init) }

        #expect(try await client().fetch(Get<CommaDelimited>("list"), session: list).values == ["a", "b"])
        #expect(try await client().fetch(Get("list", decoding: commas), session: list) == ["a", "b"])
    }

    @Test func anEmptyResponseIsAValueWhereNothingIsExpected() async throws {
        let empty = InMemoryTransport { _ in .status(.noContent) }

        #expect(try await client().send(Delete<Void>("dishes", "7"), session: empty).status == .noContent)
        await #expect { try await self.client().fetch(Get<Author>("authors", "1"), session: empty) } throws: {
            ($0 as? RequestError)?.code == .emptyResponse
        }
    }

    // MARK: Concurrency

    @Test func requestsRunSideBySideAndOneAfterTheOther() async throws {
        let client = client()

        async let author = client.fetch(Get<Author>("authors", "1"))
        async let text = client.fetch(Get<String>("authors", "1"))
        #expect(try await (author.name, text.isEmpty) == ("Ada", false))

        let first = client.addRequest(Get<Author>("authors", "1"))
        let second = client.addRequest(after: first) { Get<Data>("books", $0.name) }
        _ = try await second.value()
        #expect(transport.requests.last?.url.path == "/books/Ada")
    }

    @Test func aCancelledTaskCancelsItsRequest() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let silent = InMemoryTransport { _ in
            continuation.yield()
            return .never
        }
        let client = HTTPClient(baseURL: home, transport: silent)

        let task = Task { try await client.fetch(Get<Author>("authors", "1")) }
        for await _ in started { break }
        task.cancel()

        await #expect { try await task.value } throws: { ($0 as? RequestError)?.code == .cancelled }
    }

    @Test func oneWaitsForTheNetwork() async throws {
        let connectivity = Connectivity(isConnected: false)
        let client = client { $0.conditions = [.connected(by: connectivity)] }
        let operation = client.addRequest(Get<Author>("authors", "1"))
        #expect(transport.requests.isEmpty)

        connectivity.isConnected = true

        #expect(try await operation.value().name == "Ada")
    }
}
