// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The credentials of requests for pages.
@Suite(.bounded) struct PagingCredentialTests {
    /// The fields whose values descriptions redact.
    private static func secrets(of request: ReceivedRequest) -> [HTTPField] {
        request.headers.filter { !$0.description.contains($0.value) }
    }

    private static let api = URL(string: "https://api.example.com/v1")!

    /// Two pages, linked by `Link`.
    private static var linked: InMemoryTransport {
        InMemoryTransport { request in
            let isLast = request.url.query()?.contains("page=2") == true
            return .status(.ok, headers: isLast ? [] : [.link: "</v1/items?page=2>; rel=next"], body: Data("[1]".utf8))
        }
    }

    private func client(
        _ transport: any HTTPTransport,
        _ configure: (inout RequestEnvironment) -> Void = { _ in }
    ) -> HTTPClient {
        HTTPClient(baseURL: Self.api, transport: transport, configure)
    }

    private func collect<R: NetworkRequest, Page>(
        _ pages: PageSequence<R, Page>
    ) async -> (pages: [Page], error: R.Failure?) {
        var all: [Page] = []
        do {
            for try await page in pages { all.append(page) }
        } catch {
            return (all, error as? R.Failure)
        }
        return (all, nil)
    }

    @Test func sameOriginPageKeepsHeadersAndQuery() async throws {
        let transport = Self.linked
        let client = client(transport) {
            $0.headers["X-API-Key"] = "key"
            $0.query = ["page": "1", "locale": "en"]
        }
        let request = Get<[Int]>("items").authenticated(with: .bearerToken("token")).headers { Accept(.json) }
        _ = await collect(client.pages(request))

        let second = try #require(transport.requests.last)
        #expect(transport.requests.count == 2)
        #expect(second.headers[.authorization] == "Bearer token" && second.headers["X-API-Key"] == "key")
        #expect(second.headers[.accept] == "application/json")
        // A parameter that is already in the URL isn't added again.
        #expect(second.url.query() == "page=2&locale=en")
    }

    @Test func urlCredentialsApplyToAllPages() async throws {
        let transport = Self.linked
        let queue = TestQueue(transport)
        _ = await collect(queue.pages(HTTPRequest("https://ada:lovelace@api.example.com/v1/items")))

        #expect(
            transport.requests.map { $0.headers[.authorization] }
                == Array(repeating: "Basic YWRhOmxvdmVsYWNl", count: 2)
        )
    }

    @Test(arguments: [true, false]) func crossOriginPageHasNoCredentials(hasBase: Bool) async throws {
        // From there, a link leads back, with credentials in the URL.
        let transport = InMemoryTransport { request in
            let next =
                switch (
                    request.url.host(), request.url.query()?.contains("page=2"), request.url.query()?.contains("page")
                ) {
                case ("evil.example", true?, _): "?page=3"
                case ("evil.example", _, _): "https://ada:pw@api.example.com/v1/items?page=4"
                case (_, _, true?): ""
                default: "https://evil.example/items?page=2"
                }
            return .status(.ok, headers: next.isEmpty ? [] : [.link: "<\(next)>; rel=next"], body: Data("[1]".utf8))
        }
        let client = HTTPClient(transport: transport) {
            if hasBase { $0.baseURL = Self.api }
            $0.headers["X-API-Key"] = "key"
            $0.headers["X-Mine"] = "mine"
            $0.headers["X-Plain"] = "plain"
            $0.sensitiveHeaders = ["X-Mine"]
            $0.query = ["api_key": "key"]
            $0.interceptors.append(
                AuthenticationInterceptor(
                    TokenAuthenticator { _ in "token" },
                    credential: "token",
                    origins: sampleOrigins
                )
            )
        }
        let request = HTTPRequest("https://api.example.com/v1/items")
            .headers {
                Header("X-Own-Token", value: "own")
                Header("Cookie", value: "session=1")
            }
        let (pages, error) = await collect(client.pages(request))

        #expect(pages.count == 4 && error == nil)
        let first = try #require(transport.requests.first)
        #expect(first.headers["X-API-Key"] == "key" && first.headers[.authorization] != nil)
        for request in transport.requests.dropFirst() {
            #expect(Self.secrets(of: request).isEmpty && request.headers["X-Mine"] == nil, "\(request.url)")
            #expect(request.headers["X-Plain"] == nil && request.transportRequest?.hasLeftOrigin == true)
            #expect(request.url.query()?.contains("key") == false && request.url.user() == nil)
        }
    }

    /// An interceptor that adds a key in `intercept`.
    private struct Wrapping: Interceptor {
        func intercept(
            _ request: HTTPRequest,
            context: InterceptorChain.Context,
            next: InterceptorChain
        ) async throws -> HTTPResponse<ResponseContent> {
            var request = request
            request.headers["X-Api-Key"] = "key"
            request.headers["X-Plain"] = "plain"
            return try await next(request)
        }
    }

    static let addingKeys: [@Sendable () -> any Interceptor] = [
        { .adapting { ($0.headers["X-Api-Key"], $0.headers["X-Plain"]) = ("key", "plain") } },
        { .adapting { $0.headers.add(HTTPField(HTTPField.Name("X-Mine", isSensitive: true), "mine")) } },
        { .adapting { $0.headers["X-Declared"] = "declared" } },
        { .adapting { $0 = HTTPRequest(url: $0.url, headers: ["Authorization": "Bearer token"]) } },
        { .signing { $0.headers["Authorization"] = "Signature abc" } },
        { Wrapping() },
    ]

    @Test(arguments: addingKeys.indices, [true, false])
    func interceptorKeyIsNotSentToCrossOriginPage(number: Int, isOfRequest: Bool) async throws {
        let transport = InMemoryTransport { request in
            let next =
                switch request.url.query() {
                case nil: "https://evil.example/items?page=2"
                case "page=2": "https://evil.example/items?page=3"
                case "page=3": "https://api.example.com/v1/items?page=4"
                default: ""
                }
            return .status(.ok, headers: next.isEmpty ? [] : [.link: "<\(next)>; rel=next"], body: Data("[1]".utf8))
        }
        let interceptor = Self.addingKeys[number]()
        let client = client(transport) {
            $0.sensitiveHeaders = ["X-Declared"]
            if !isOfRequest { $0.interceptors = [interceptor] }
        }
        let request = Get<[Int]>("items")
        let intercepted = request.intercepted(by: interceptor)
        let (pages, error) =
            isOfRequest ? await collect(client.pages(intercepted)) : await collect(client.pages(request))

        #expect(pages.count == 4 && error == nil)
        let first = try #require(transport.requests.first)
        #expect(!Self.secrets(of: first).isEmpty)
        for request in transport.requests.dropFirst() {
            #expect(Self.secrets(of: request).isEmpty, "\(request.url)")
            #expect(request.transportRequest?.hasLeftOrigin == true, "\(request.url)")
            #expect(request.headers["X-Plain"] == nil && request.headers[.userAgent] == first.headers[.userAgent])
        }
    }

    @Test func bodyIsNotSentToOtherOrigin() async {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.link: "<https://evil.example/>; rel=next"], body: Data("[1]".utf8))
        }
        let (pages, error) = await collect(client(transport).pages(Post<[Int]>("search").body { ["secret": 1] }))

        #expect(pages.count == 1 && transport.requests.count == 1)
        #expect(error?.code == .invalidRequest)
    }

    @Test func absoluteURLIgnoresBaseURL() async throws {
        let transport = InMemoryTransport { _ in .json("[1]") }
        let client = client(transport) { $0.headers[.authorization] = "Bearer token" }
        let address = try #require(URL(string: "https://cdn.example/items?page=7"))
        _ = try await client.fetch(Get<[Int]>(address))
        _ = try await client.fetch(Get<Data>(try #require(URL(string: "items"))))

        #expect(
            transport.requests.map(\.url.absoluteString) == [
                address.absoluteString, "https://api.example.com/v1/items",
            ]
        )
        #expect(transport.requests.map { $0.headers[.authorization] } == [nil, "Bearer token"])
    }

    // MARK: Recorded modifiers

    /// Follows a link from the first page of a custom request, whose modifiers are recorded.
    private func secondPage<R: DataRequest & ModifiableRequest>(
        of request: R,
        at next: String
    ) async throws -> ReceivedRequest where R.Failure: Sendable {
        let transport = InMemoryTransport { request in
            let isLast = request.url.query()?.contains("page=2") == true
            return .status(.ok, headers: isLast ? [] : [.link: "<\(next)>; rel=next"], body: Data("[1]".utf8))
        }
        let client = HTTPClient(baseURL: Self.api, transport: transport)
        let modified = request.authenticated(with: .bearerToken("token")).query(["page": "1"])
            .headers { Header("X-Mine", value: "mine") }
            .options { $0.sensitiveHeaders = ["X-Mine"] }
        let (pages, error) = await collect(client.pages(modified))

        #expect(pages.count == 2 && error == nil)
        let first = try #require(transport.requests.first)
        #expect(first.headers[.authorization] == "Bearer token" && first.url.query()?.hasSuffix("page=1") == true)
        return try #require(transport.requests.last)
    }

    @Test(arguments: ["https://example.com/recipes/1?page=2", "https://evil.example/?page=2"])
    func recordedModifiersAreAppliedOnlyOnce(next: String) async throws {
        let isForeign = next.contains("evil")
        let ping = try await secondPage(of: ModifiableRequestTests.Ping(), at: next)

        #expect(ping.url.absoluteString == next)
        #expect(ping.headers[.authorization] == (isForeign ? nil : "Bearer token"))
        #expect(
            ping.headers["X-Mine"] == (isForeign ? nil : "mine") && ping.headers["X-Own"] == (isForeign ? nil : "own")
        )

        let next = next.replacing("example.com/recipes/1", with: "api.example.com/v1/a")
        let spec = try await secondPage(of: ModifiableRequestTests.Spec(), at: next)
        #expect(spec.url.absoluteString == next && spec.headers["X-A"] == (isForeign ? nil : "1"))
        #expect(spec.headers[.authorization] == (isForeign ? nil : "Bearer token"))
    }

    @Test func recordedBodyIsNotSentToOtherOrigin() async {
        let transport = InMemoryTransport { _ in
            .status(.ok, headers: [.link: "<https://evil.example/>; rel=next"], body: Data("[1]".utf8))
        }
        let request = ModifiableRequestTests.Ping().method(.post).body { ["secret": 1] }
        let (pages, error) = await collect(client(transport).pages(request))

        #expect(pages.count == 1 && transport.requests.count == 1)
        #expect(error?.code == .invalidRequest)
    }

    @Test(arguments: ["/v1/items?page=2", "https://evil.example/?page=2"])
    func queryIsNotAddedToNextLink(next: String) async throws {
        let transport = InMemoryTransport { request in
            let isLast = request.url.query()?.contains("page=2") == true
            return .status(.ok, headers: isLast ? [] : [.link: "<\(next)>; rel=next"], body: Data("[1]".utf8))
        }
        let (pages, _) = await collect(client(transport).pages(Get<[Int]>("items").query(["page": 1] as [String: Int])))

        #expect(pages.count == 2)
        #expect(transport.requests.map { $0.url.query() } == ["page=1", "page=2"])
    }
}
