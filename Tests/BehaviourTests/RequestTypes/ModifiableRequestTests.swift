// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ModifiableRequestTests {
    /// A custom request with its own operation.
    struct Ping: DecodableRequest, ModifiableRequest {
        typealias Success = [Int]
        typealias Failure = RequestError
        typealias OperationType = PingOperation
        var identifier: String { "ping" }
        var options = RequestOptions()

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            var request = URLRequest(url: home)
            request.setValue("own", forHTTPHeaderField: "X-Own")
            completion(.success(request))
        }
    }

    // Sendable: `Operation` requires that it be restated; nothing is added here.
    final class PingOperation: DecodableOperation<Ping>, @unchecked Sendable {}

    struct Spec: RequestSpec, ModifiableRequest {
        var options = RequestOptions()
        var request: Get<String> { Get("a").tag("inner").retry(limit: 7).headers { Header("X-A", value: "1") } }
    }

    struct Lines: StreamRequest, ModifiableRequest {
        typealias Success = Int
        typealias Failure = RequestError
        var identifier: String { "lines" }
        var options = RequestOptions()

        func makeURLRequest(completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: home)))
        }
        func process(_ stream: ResponseStream) async throws -> Int {
            try await stream.lines.reduce(0) { count, _ in count + 1 }
        }
    }

    @Test func headerModifierSetsField() async throws {
        let sent = try await TestQueue.sent(
            Get<Void>("a").header("X-Team", "one").header("x-team", "two").header(.acceptLanguage, "de")
        )

        #expect(sent.headers[values: "X-Team"] == ["two"] && sent.headers[.acceptLanguage] == "de")
    }

    @Test func bodyModifierAcceptsAnyEncodable() async throws {
        struct User: Encodable { let name: String }
        let (one, other) = ("name", "nick")

        let value = try await TestQueue.sent(Post<Void>("a").body(User(name: "Ada")))
        let literal = try await TestQueue.sent(Post<Void>("a").body([one: "x", other: User(name: "Ada")]))
        let same = try await TestQueue.sent(Post<Void>("a").body([one: "x", other: "y"]))
        let data = try await TestQueue.sent(Post<Void>("a").body(Data("x".utf8)))

        #expect(try value.body.data() == Data(#"{"name":"Ada"}"#.utf8))
        #expect(value.headers[.contentType] == "application/json")
        #expect(try literal.body.data() == Data(#"{"name":"x","nick":{"name":"Ada"}}"#.utf8))
        #expect(try same.body.data() == Data(#"{"name":"x","nick":"y"}"#.utf8))
        #expect(try data.body.data() == Data("x".utf8))
    }

    @Test func curlCommandIncludesClientSettings() throws {
        let client = HTTPClient(baseURL: server, transport: InMemoryTransport { _ in .json("1") }) {
            $0.headers["X-Team"] = "kitchen"
            $0.headers[.authorization] = "Bearer s3cret"
            $0.makeEncoder = {
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return encoder
            }
        }
        struct User: Encodable { let firstName: String }

        let command = try client.cURL(Post<Void>("users").body(User(firstName: "Ada")))
        let plain = try client.cURL(Get<Void>("users").unauthenticated(), revealingSecrets: true)

        #expect(command.contains("--url 'https://api.example.com/v1/users?key="))
        #expect(command.contains("'X-Team: kitchen'"))
        #expect(command.contains(#"{"first_name":"Ada"}"#) && command.contains("'Authorization: Bearer <redacted>'"))
        #expect(!plain.contains("s3cret"))
    }

    @Test func specAcceptHeaderReplacesDecoderTypes() async throws {
        let transport = InMemoryTransport { _ in .status(.ok, body: Data("[]".utf8)) }
        let request = Spec().headers { Accept(.csv) }

        _ = try await HTTPClient(baseURL: home, transport: transport).fetch(request)

        let sent = transport.requests.map { $0.headers[values: .accept] }
        #expect(sent == [["text/csv"]])
        #expect(try request.toURLRequest(baseURL: home).value(forHTTPHeaderField: "Accept") == "text/csv")
    }

    private func expectEverything(_ options: RequestOptions, _ comment: Comment) {
        #expect(options.deadline == .seconds(9) && options.redirect == .follow(limit: 3), comment)
        #expect(options.retry == RetryPolicy(limit: 4) && options.tag == "t" && options.priority == .high, comment)
        #expect(options.coalesce && options.conditions.count == 1 && options.validators.count == 1, comment)
        #expect(options.interceptors.count == 1 && options.monitors.count == 1 && options.trust == .system, comment)
        #expect(options.maximumBodySize == 5 && options.maximumHeadSize == 6, comment)
        #expect(options.validStatusCodes == [200, 404] && !options.validatesStatus, comment)
        #expect(options.httpPriority == 0.5 && options.isUnauthenticated, comment)
        #expect(options.bypassedInterceptors.count == 1, comment)
    }

    @Test func modifiersApplyToAllRequestTypes() {
        expectEverything(HTTPRequest("a").withEveryModifier().resolvedOptions, "HTTPRequest")
        expectEverything(Get<Data>("a").withEveryModifier().resolvedOptions, "TypedRequest")
        expectEverything(Download("a").withEveryModifier().resolvedOptions, "Download")
        expectEverything(Ping().withEveryModifier().resolvedOptions, "a request of one's own")
        expectEverything(Lines().withEveryModifier().resolvedOptions, "a stream")
        expectEverything(Spec().withEveryModifier().resolvedOptions, "a spec")
    }

    struct Outer: RequestSpec {
        let spec: Spec
        var request: Spec { spec }
    }

    @Test func nestedSpecIdentifierIncludesModifiers() throws {
        let (one, other) = (Outer(spec: Spec().query(["q": "1"])), Outer(spec: Spec().query(["q": "2"])))

        #expect(one.identifier != other.identifier)
        #expect(try one.toURLRequest(baseURL: home).url?.query() == "q=1")
    }

    @Test func specInheritsCachingAndExclusivity() {
        struct Report: RequestSpec {
            var request: Get<String> { Get("report").caching(.none).exclusive("disk") }
        }

        #expect(Report().resolvedOptions.caching == .none && Report().resolvedOptions.exclusivity == ["disk"])
    }

    @Test func modifiedCustomRequestKeepsOperationType() async throws {
        let sent = Recorder<HTTPRequest>()
        let transport = InMemoryTransport { request in
            sent.record(HTTPRequest(url: request.url, headers: request.headers))
            return .json("[1]")
        }
        let client = HTTPClient(transport: transport)
        let request = Ping().headers(["X-M": "1"]).query(["m": "1"]).timeout(3).retry(limit: 1)

        let operation: PingOperation = client.addRequest(request)

        #expect(try await operation.value() == [1])
        let wire = try #require(sent.elements.first)
        #expect(wire.headers["X-M"] == "1" && wire.headers["X-Own"] == "own" && wire.url.query() == "m=1")
    }

    @Test func specModifiersExtendItsRequest() async throws {
        let spec = Spec().retry(limit: 2).headers { Header("X-B", value: "2") }

        #expect(spec.resolvedOptions.tag == "inner" && spec.resolvedOptions.retry == RetryPolicy(limit: 2))
        #expect(Spec().resolvedOptions.retry == RetryPolicy(limit: 7))
        let sent = try await TestQueue.sent(spec)
        #expect(sent.headers["X-A"] == "1" && sent.headers["X-B"] == "2")
        #expect(spec.identifier != Spec().identifier && spec != Spec())
        #expect(try spec.cURL(baseURL: home).contains("X-B"))
    }

    @Test func closureConfiguresRequestAndOptions() async throws {
        let request = HTTPRequest {
            $0.path = "orders/\(7)"
            $0.method = .post
            $0.body = .json(["eggs": 2])
            $0.options.retry = .default
            $0.options.redirect = .follow(limit: 3)
            $0.options.priority = .high
            $0.options.deadline = .seconds(9)
            $0.options.interceptors.append(.adapting { $0.headers["X-I"] = "1" })
        }

        #expect(request.options.retry == .default && request.options.priority == .high)
        let typed = request.decoding(.data)
        #expect(typed.options.redirect == .follow(limit: 3) && typed.resolvedOptions.deadline == .seconds(9))
        let sent = try await TestQueue.sent(request)
        #expect(sent.headers["X-I"] == "1" && sent.url.path.hasSuffix("orders/7"))
        #expect(sent.body.length != nil)
    }

    @Test func interceptedRequestHasNoOptions() async throws {
        let context = Recorder<HTTPRequest?>()
        let attempts = Recorder<Int>()
        let request = HTTPRequest("a").retry(limit: 1).tag("t").intercepted(
            by: ClosureInterceptor(intercept: { request, _, next in
                context.record(request)
                attempts.record(1)
                return try await next(request)
            })
        )

        _ = try await TestQueue.sent(request)

        #expect(context.elements.first??.options.tag == nil && attempts.elements.count == 1)
    }

    // MARK: User info

    enum Screen: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }

    @Test func userInfoReachesInterceptorsAndMonitors() async throws {
        let seen = Recorder<String>()
        let client = HTTPClient(baseURL: home, transport: InMemoryTransport { _ in .json("1") }) {
            $0.interceptors.append(
                ClosureInterceptor(
                    adapt: { _, context in seen.record("adapt \(context.userInfo[Screen.self])") },
                    transform: { _, context in seen.record("transform \(context.userInfo[Screen.self])") }
                )
            )
            $0.validators.append(
                .closure { _, context in
                    seen.record("validate \(context.userInfo[Screen.self])")
                    return .accept
                }
            )
            $0.monitors.append(
                .events { event, operation in
                    if case .operationCreated = event { seen.record("monitor \(operation.userInfo[Screen.self])") }
                }
            )
        }

        _ = try await client.fetch(Get<Int>("a").userInfo(Screen.self, "profile"))
        _ = try await client.fetch(HTTPRequest { $0.path = "b" })

        let kinds = ["monitor", "adapt", "transform", "validate"]
        #expect(seen.elements == kinds.map { "\($0) profile" } + kinds.map { "\($0) none" })
    }

    // MARK: Bypassed interceptors

    private func client(
        _ seen: Recorder<String>,
        _ adapt: @escaping @Sendable (inout HTTPRequest) -> Void
    ) -> HTTPClient {
        let transport = InMemoryTransport { request in
            seen.record(
                "\(request.url.path) \(request.headers[.authorization] ?? "-") \(request.headers["X-S"] ?? "-")"
            )
            return request.url.path.hasSuffix("wrong") ? .status(.unauthorized) : .json("1")
        }
        let refused = TokenAuthenticator { _ in throw RequestError(.other, phase: .building) }
        return HTTPClient(baseURL: home, transport: transport) {
            $0.interceptors = [
                AuthenticationInterceptor(refused, origins: sampleOrigins).scoped { _ in true },
                .adapting { adapt(&$0) },
            ]
            $0.headers[.authorization] = "Key k"
        }
    }

    @Test func unauthenticatedRequestSkipsCredentials() async throws {
        let seen = Recorder<String>()
        let client = client(seen) { $0.headers["X-S"] = "signed" }

        _ = try await client.fetch(Get<Int>("login").unauthenticated())
        let wrong = await #expect(throws: RequestError.self) {
            try await client.fetch(
                Get<Int>("wrong").unauthenticated().authenticated(with: .basicAuth(username: "a", password: "b"))
            )
        }
        let without = await #expect(throws: RequestError.self) { try await client.fetch(Get<Int>("me")) }

        #expect(
            seen.elements.map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
                "- signed", "Basic YTpi signed",
            ]
        )
        #expect(wrong?.response?.status == .unauthorized && wrong?.transfers.count == 1)
        #expect(without?.code == .authenticationFailed)
    }

    @Test func requestBypassesInterceptorsByType() async throws {
        let seen = Recorder<String>()
        let client = client(seen) { $0.headers["X-S"] = "signed" }

        _ = try await client.fetch(
            Get<Int>("a").bypassing(ClosureInterceptor.self).bypassing(
                AuthenticationInterceptor<TokenAuthenticator>.self
            )
        )

        #expect(seen.elements.first?.hasSuffix("Key k -") == true)
    }

    // MARK: Query values

    struct Filter: Encodable, Sendable {
        var text: String
        var tags: [String]
        var isNew = true
    }

    @Test func queryValueUsesClientQueryEncoder() async throws {
        let request = Get<Data>("posts").query(["a": "1"]).query(Filter(text: "x/y", tags: ["s", "t"])).query(["z": "2"]
        )

        #expect(
            try await TestQueue.sent(request).url.query()
                == "key=k&a=1&text=x/y&tags%5B%5D=s&tags%5B%5D=t&isNew=true&z=2"
        )
        let sent = try await TestQueue.sent(request) {
            $0.queryEncoder.arrays = .noBrackets
            $0.queryEncoder.bools = .numeric
        }
        #expect(sent.url.query() == "key=k&a=1&text=x/y&tags=s&tags=t&isNew=1&z=2")
    }

    @Test func requestQueryEncoderOverridesClientEncoder() async throws {
        var encoder = QueryEncoder()
        encoder.arrays = .indexed
        let request = Get<Data>("posts").query(Filter(text: "x", tags: ["s"]), encoder: encoder)

        let sent = try await TestQueue.sent(request) { $0.queryEncoder.arrays = .noBrackets }

        #expect(sent.url.query()?.contains("tags%5B0%5D=s") == true)
        #expect(request.identifier != Get<Data>("posts").identifier)
    }

    @Test func requestQueryEncoderControlsSpaces() async throws {
        let transport = InMemoryTransport { _ in .status(.noContent) }
        let percent = try HTTPClient(baseURL: "https://example.com", transport: transport)
        let plus = percent.inheriting { $0.queryEncoder.spaces = .plus }
        let filter = Filter(text: "a b", tags: [])

        try await percent.fetch(Get<Void>("posts").query(filter, encoder: plus.environment.queryEncoder))
        try await plus.fetch(Get<Void>("posts").query(filter, encoder: percent.environment.queryEncoder))

        #expect(transport.requests.map(\.target) == ["/posts?text=a+b&isNew=true", "/posts?text=a%20b&isNew=true"])
    }

    @Test func unencodableQueryValueFailsRequest() async {
        let error = await #expect(throws: RequestError.self) { try await TestQueue.sent(Get<Data>("posts").query(7)) }

        #expect(error?.phase == .building && error?.code == .invalidRequest)
    }
}
