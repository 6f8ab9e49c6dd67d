// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

struct KitchenInterceptor: Interceptor {
    func adapt(_ request: inout HTTPRequest, context: InterceptorChain.Context) async throws {
        request.headers["X-Kitchen"] = "north"
    }

    func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
        let mayRepeat = context.request?.method.isIdempotent ?? false
        return mayRepeat && error.code == .connectionLost && context.attempt < 3 ? .retry(after: .seconds(1)) : .pass
    }
}

struct KitchenAuthenticator: Authenticator {
    func apply(_ token: String, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token)))
    }

    func refresh(_ token: String?, using client: RefreshClient) async throws -> String {
        try await client.fetch(Post<[String: String]>("sessions"))["access"] ?? ""
    }
}

enum KitchenRoute: RequestSpec {
    case recipe(Int)
    case search(String)

    var request: Get<Data> {
        switch self {
        case .recipe(let id): Get("recipes/\(id)")
        case .search(let text): Get("recipes").query(["q": text])
        }
    }
}

struct GetRecipe: RequestSpec {
    let id: Int

    var request: Get<Recipe> {
        Get("recipes/\(id)")
            .headers { Accept(.json) }
            .queryItems { Item("full", value: "true") }
            .timeout(10)
    }
}

struct KitchenService: NetworkService {
    let baseURL = api

    func recipe(_ id: Int) async throws -> Recipe { try await send(GetRecipe(id: id)).body }
}

@Suite(.bounded) struct ComingFromAlamofireTests {
    private let pancakes = Recipe(name: "Pancakes", authorID: 7)

    private final class Tokens: Sendable {
        let content = Locked<Data?>(nil)

        func store(_ data: Data) { content.withLock { $0 = data } }
    }

    @Test func fetchesValueByType() async throws {
        let client = HTTPClient(baseURL: api)
        let recipe = try await client.fetch(Get<Recipe>("recipes/1"))

        #expect(recipe == pancakes)
    }

    @MainActor final class RecipeScreen {
        let client = HTTPClient(baseURL: api)
        let isShown = Gate()
        var name = ""

        func load() {
            client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
                if case .success(let recipe) = result { self?.show(recipe) }
            }
        }

        private func show(_ recipe: Recipe) {
            name = recipe.name
            isShown.open()
        }
    }

    @Test @MainActor func completionReceivesValueOnMainActor() async throws {
        let screen = RecipeScreen()
        screen.load()

        try await screen.isShown.wait()
        #expect(screen.name == "Pancakes")
    }

    @Test func responseContainsMetadata() async throws {
        let client = HTTPClient(baseURL: api)
        var lines: [String] = []
        func print(_ status: HTTPStatus, _ name: String) { lines.append("\(status) \(name)") }

        let response = try await client.send(Get<Recipe>("recipes/1"))
        print(response.status, response.body.name)

        #expect(lines == ["200 OK Pancakes"])
    }

    @Test func parametersAreEncodedAsQueryJSONOrForm() throws {
        let search = Get<Data>("recipes").query(["course": "soup", "page": 2])
        let order = Post<Void>("orders").body(.json(["dish": "soup", "count": 2]))
        let form = Post<Void>("orders").body(.form(["dish": "soup", "count": 2]))

        #expect(try search.toURLRequest(baseURL: api).url?.query == "course=soup&page=2")
        #expect(try order.http.body.data() == Data(#"{"count":2,"dish":"soup"}"#.utf8))
        #expect(try form.http.body.data() == Data("dish=soup&count=2".utf8))
    }

    @Test func validationCanBeStrictOrLenient() async throws {
        let client = HTTPClient(baseURL: api)

        let strict = Get<Recipe>("recipes/1").validating(with: .contentType(.json))
        let lenient = Get<Data>("recipes/0").acceptingAnyStatus()

        #expect(try await client.fetch(strict) == pancakes)
        #expect(try await client.send(lenient).status == .notFound)
    }

    @Test func interceptorAdaptsAndRetries() async throws {
        let patient = HTTPClient(baseURL: api) {
            $0.interceptors = [KitchenInterceptor()]
            $0.retry = RetryPolicy(limit: 2, backoff: .exponential())
        }

        let response = try await patient.send(Get<Recipe>("recipes/1"))

        #expect(response.transfers.last?.request.headers["X-Kitchen"] == "north")
    }

    @Test func eventsAreDisplayedAndLogged() async throws {
        let lines = Locked<[String]>([])
        @Sendable func log(_ line: String) { lines.withLock { $0.append(line) } }

        let loud = HTTPClient(baseURL: api) {
            $0.monitors = [.console(.headers), .events { event, operation in log("\(operation): \(event)") }]
        }

        _ = try await loud.fetch(Get<Recipe>("recipes/1"))
        #expect(lines.withLock { $0.first }?.contains("Get<Recipe>") == true)
    }

    @Test func decoderReplacesSerializer() async throws {
        let client = HTTPClient(baseURL: api)

        let lines = ResponseDecoder<[String]> { response in
            try response.text().split(separator: "\n").map(String.init)
        }
        let log = try await client.fetch(Get("log", decoding: lines))

        #expect(log == ["open", "closed"])
    }

    @Test func partsAreUploaded() async throws {
        let photo = Data("photo".utf8)

        let upload = Post<Void>("photos").body(
            .multipart { form in
                form.add("summer", for: "album")
                form.add(.data(photo, type: .jpeg), for: "photo", fileName: "photo.jpg")
            }
        )

        try await HTTPClient(baseURL: api).fetch(upload)
    }

    @Test func requestsWaitForConnectivity() async throws {
        let connectivity = Connectivity()
        let waiting = HTTPClient(baseURL: api) { $0.conditions = [.connected(by: connectivity, timeout: .seconds(30))] }

        #expect(try await waiting.fetch(Get<Recipe>("recipes/1")) == pancakes)
    }

    @Test func credentialsAreRequestedAndRefreshed() async throws {
        let asked = HTTPClient(baseURL: api) {
            $0.interceptors = [
                ChallengeInterceptor { _, _ in URLCredential(user: "ada", password: "secret", persistence: .none) }
            ]
        }

        let member = HTTPClient(baseURL: api) {
            $0.interceptors = [AuthenticationInterceptor(KitchenAuthenticator(), credential: "old")]
        }

        #expect(try await asked.fetch(Get<String>("cellar")) == "wine")
        #expect(try await member.fetch(Get<Recipe>("favourites")) == pancakes)
    }

    @Test func transfersFilesAndStreamsLines() async throws {
        let client = HTTPClient(baseURL: api)
        var lines: [String] = []
        func log(_ line: String) { lines.append(line) }

        let film = try await client.fetch(Get<Data>("films/7").download(to: .temporary))
        try await client.fetch(Put<Void>("reports/7").body(.file(film, type: .binary)))
        let stream = try await client.stream(Get<Data>("log"))
        for try await line in stream.lines { log(line) }

        #expect(try Data(contentsOf: film) == Kitchen.film)
        #expect(lines == ["open", "closed"])
        try FileManager.default.removeItem(at: film)
    }

    @Test func trustPolicyReplacesTrustManager() throws {
        let pins = try [TrustPolicy.PublicKeyPin("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")]
        let pinned = try HTTPClient(baseURL: api) {
            $0.trust = try .system.pinning(pins, forHosts: ["api.example.com"])
        }

        #expect(pinned.environment.trust != .system)
    }

    @Test func modifiersSetRedirectsAndCaching() {
        let staying = Get<Recipe>("recipes/1").redirect(.refuse)
        let fresh = Get<Recipe>("recipes/1").caching(.none)
        let kept = Get<Recipe>("recipes/1").caching(.for(.seconds(600)))

        #expect(staying.options.redirect != nil)
        #expect(fresh.options.caching != kept.options.caching)
    }

    @Test func clientReplacesSession() async throws {
        let session = HTTPClient(baseURL: api, maxConcurrentRequests: 4) {
            $0.headers[.userAgent] = "Kitchen/1"
            $0.redirect = .follow(limit: 5)
            $0.cache = ResponseCache()
        }
        session.cancelAllRequests()

        #expect(session.operations.isEmpty && session.maxConcurrentRequests == 4)
    }

    @Test func routerIsAnEnumeration() async throws {
        let client = HTTPClient(baseURL: api)

        let content = try await client.fetch(KitchenRoute.recipe(1))

        #expect(try JSONDecoder().decode(Recipe.self, from: content) == pancakes)
        #expect(try KitchenRoute.search("soup").toURLRequest(baseURL: api).url?.query == "q=soup")
    }

    @Test func serviceDefinesItsOwnMethods() async throws {
        #expect(try await KitchenService().recipe(1) == pancakes)
    }

    @Test func clientRecoversFromUnauthorized() async throws {
        let client = HTTPClient(baseURL: api)
        let tokens = Tokens()

        let todo = try await HTTPRequest("recipes/1").fetch(Recipe.self, on: client)

        let member = HTTPClient(baseURL: api) {
            $0.interceptors = [
                .recover(on: [.unauthorized]) { _, client in
                    tokens.store(try await client.send(HTTPRequest(method: .post, "sessions")).body)
                }
            ]
        }

        #expect(todo == pancakes)
        await #expect(throws: RequestError.self) { try await member.fetch(Get<Recipe>("favourites")) }
        #expect(tokens.content.withLock { $0 } == Data(#"{"access": "new"}"#.utf8))
    }
}
