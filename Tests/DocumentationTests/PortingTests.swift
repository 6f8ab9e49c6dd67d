// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

struct APIClient {
    let client: HTTPClient

    func request<T: Decodable & Sendable>(
        _ path: String,
        method: HTTPMethod = .get,
        parameters: (any Encodable & Sendable)? = nil,
        headers: [String: String] = [:]
    ) async throws(RequestError) -> T {
        var request = HTTPRequest(method: method, "\(raw: path)").headers(HTTPHeaders(headers))
        if let parameters {
            request = method == .get ? request.query(parameters) : request.body(.json(parameters))
        }
        return try await client.fetch(request.decoding(.json(T.self)))
    }
}

struct FailureLog: EventMonitor {
    let write: @Sendable (String) -> Void

    func eventOccurred(_ event: OperationEvent, of operation: OperationEvent.Info) {
        if case .operationEnded(.failure(let error)) = event { write("\(operation): \(error)") }
    }
}

struct OAuthToken: Sendable {
    var access: String
    var expires: Date
}

struct OAuthAuthenticator: Authenticator {
    func apply(_ token: OAuthToken, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token.access)))
    }

    func needsRefresh(_ token: OAuthToken) -> Bool { token.expires < Date(timeIntervalSinceNow: 60) }

    func isRejection(_ error: RequestError) -> Bool { error.response?.status == .unauthorized }

    func refresh(_ token: OAuthToken?) async throws -> OAuthToken {
        OAuthToken(access: "new", expires: Date(timeIntervalSinceNow: 3600))
    }
}

/// More of the article *Coming from Alamofire*.
@Suite(.bounded) struct PortingTests {
    private let pancakes = Recipe(name: "Pancakes", authorID: 7)

    private struct APIError: Error, Decodable {
        let message: String
    }

    @Test func sharedClientAcceptsAbsoluteURLs() async throws {
        let (text, url) = (api.absoluteString + "/recipes/1", api.appending(path: "recipes/1"))

        let first = try await HTTPClient.shared.fetch(Get<Recipe>("\(raw: text)"))
        let second = try await HTTPClient.shared.fetch(Get<Recipe>(url))

        #expect(first == pancakes && second == pancakes)
    }

    @Test func wrapperAcceptsPathAndParameters() async throws {
        let transport = InMemoryTransport { _ in .json(#"{"name": "Pancakes", "authorID": 7}"#) }
        let wrapper = APIClient(client: HTTPClient(baseURL: api, transport: transport))

        let found: Recipe = try await wrapper.request("recipes/1", parameters: ["full": true], headers: ["X-A": "b"])
        let made: Recipe = try await wrapper.request("recipes", method: .post, parameters: ["name": "Soup"])

        #expect(found == pancakes && made == pancakes)
        #expect(transport.requests.map(\.url.query) == ["full=true", nil])
        #expect(transport.requests.last?.text == #"{"name":"Soup"}"#)
    }

    private struct Song: Codable, Equatable {
        var trackTitle: String
    }

    @Test func codersAreSetPerClientOrRequest() async throws {
        let transport = InMemoryTransport { request in
            request.method == .post ? .json(request.text) : .json(#"[{"track_title": "Ode"}]"#)
        }

        @Sendable func snakeCaseDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }

        @Sendable func snakeCaseEncoder() -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return encoder
        }

        // For all requests of a client:
        let client = HTTPClient(baseURL: api, transport: transport) {
            $0.makeDecoder = { snakeCaseDecoder() }
            $0.makeEncoder = { snakeCaseEncoder() }
        }

        // For one request:
        let songs = Get<[Song]>("songs").decoding(.json([Song].self, decoder: snakeCaseDecoder()))
        let song = Post<Song>("songs").body(Song(trackTitle: "Ode"), encoder: snakeCaseEncoder())

        #expect(try await HTTPClient(baseURL: api, transport: transport).fetch(songs) == [Song(trackTitle: "Ode")])
        #expect(try await client.fetch(song) == Song(trackTitle: "Ode"))
        #expect(transport.requests.last?.text == #"{"track_title":"Ode"}"#)
    }

    private struct RecipeFilter: Encodable {
        var tags: [String]
        var page: Int
    }

    @Test func parametersCanBeListsAndDictionaries() throws {
        let (dictionary, items): ([String: Any], _) = (["dish": "soup"], [URLQueryItem(name: "page", value: "2")])

        let filtered = Get<Data>("recipes").query(RecipeFilter(tags: ["sweet", "fast"], page: 2))
        let tagged = Get<Data>("recipes").query { for tag in ["sweet", "fast"] { Item("tags", value: tag) } }
        let untyped = try Post<Void>("orders").body(.jsonObject(dictionary))
        let listed = Get<Data>("recipes").query(Query(items))

        let query = try filtered.toURLRequest(baseURL: api).url?.query
        #expect(query?.removingPercentEncoding == "tags[]=sweet&tags[]=fast&page=2")
        #expect(tagged.http.query.percentEncoded == "tags=sweet&tags=fast")
        #expect(try untyped.http.body.data() == Data(#"{"dish":"soup"}"#.utf8))
        #expect(listed.http.query.percentEncoded == "page=2")
    }

    @Test func encoderOptionsAreProperties() throws {
        let client = HTTPClient(baseURL: api)

        var encoder = QueryEncoder()
        encoder.arrays = .noBrackets  // or .brackets, .indexed, .custom
        encoder.bools = .numeric  // or .literal
        encoder.dates = .secondsSince1970  // or .iso8601, .millisecondsSince1970, .deferred, .custom
        encoder.data = .base64  // or .custom
        encoder.keys = .snakeCase  // or .useDefaultKeys, .kebabCase, .custom
        encoder.keyPaths = .dots  // or .brackets, .custom
        encoder.nils = .dropKey  // or .dropValue, .empty, .null
        encoder.spaces = .plus  // or .percent
        client.configure { [encoder] in $0.queryEncoder = encoder }

        let query = try encoder.encode(["isFast": true, "tags": ["a b", "c"]])
        #expect(query.percentEncoded == "is_fast=1&tags=a+b&tags=c")
    }

    @Test func validatorReplacesValidate() async throws {
        let strict = HTTPClient(baseURL: api) { $0.validators = [.contentType] }

        #expect(try await strict.fetch(Get<Recipe>("recipes/1")) == pancakes)
    }

    @Test func emptyBodyDecodesAsVoidOrNil() async throws {
        let client = HTTPClient(baseURL: api)

        try await client.fetch(Delete<Void>("recipes/1"))
        let recipe = try await client.fetch(Put<Recipe?>("reports/7"))  // nil for a 204

        #expect(recipe == nil)
    }

    @Test func errorsProvideTheirCause() async {
        let client = HTTPClient(baseURL: api) { $0.validators = [.errors(APIError.self)] }
        var lines: [String] = []
        func print(_ value: Any) { lines.append("\(value)") }

        do {
            _ = try await client.fetch(Get<Recipe>("recipes/13"))
        } catch {
            print(error.response?.status.code ?? 0)
            print(error.failure(as: APIError.self)?.message ?? "-")
        }

        #expect(lines == ["404", "bad luck"])
    }

    @Test func monitorReplacesEventListener() async throws {
        let lines = Locked<[String]>([])
        @Sendable func log(_ line: String) { lines.withLock { $0.append(line) } }

        let client = HTTPClient(baseURL: api) { $0.monitors = [FailureLog { log($0) }] }

        _ = try? await client.fetch(Get<Recipe>("recipes/0"))
        try await eventually { lines.withLock { $0.count } == 1 }
    }

    @Test func credentialsAreSetPerRequestOrClient() async throws {
        let (old, token) = (OAuthToken(access: "old", expires: .distantPast), "new")

        let authentication = AuthenticationInterceptor(
            OAuthAuthenticator(),
            credential: old,
            window: RefreshClient.Window(limit: 5, duration: .seconds(30))
        )
        let member = HTTPClient(baseURL: api) { $0.interceptors = [authentication] }

        let favourite = Get<Recipe>("favourites").authenticated(with: .bearerToken(token))

        #expect(try await member.fetch(Get<Recipe>("favourites")) == pancakes)
        #expect(try await HTTPClient(baseURL: api).fetch(favourite) == pancakes)
        #expect(authentication.credential?.access == "new")
    }

    @Test func reportsProgressAndAwaitsValue() async throws {
        let client = HTTPClient(baseURL: api)
        let photo = Data("photo".utf8)

        try await client.fetch(Post<Void>("photos").body(.data(photo, type: .jpeg)), progressOf: .upload) {
            print($0.fraction ?? 0)
        }
        let operation = client.addRequest(Get<Recipe>("recipes/1"))
        operation.onProgress { print($0.fraction ?? 0) }
        let recipe = try await operation.value()

        #expect(recipe == pancakes)
    }

    @Test func severalRequestsShareOneCompletion() async throws {
        let client = HTTPClient(baseURL: api)
        let isDone = Gate()
        @Sendable func show(_ recipe: Recipe?, _ author: Author?) { isDone.open() }

        client.addRequests(Get<Recipe>("recipes/1"), Get<Author>("authors/7")) { recipe, author in
            show(try? recipe.get(), try? author.get())
        }
        let names = try await client.addGroup((1...1).map { Get<Recipe>("recipes/\($0)") }).value().map(\.name)

        try await isDone.wait()
        #expect(names == ["Pancakes"])
    }

    @Test func retriesUsePolicyOrClosure() async throws {
        let client = HTTPClient(baseURL: api) {
            $0.retry = RetryPolicy(limit: 2, backoff: .exponential(from: .milliseconds(500)), methods: [.get, .put])
            $0.interceptors = [
                .retrying { error in
                    error.response?.status == .conflict && error.transfers.count < 3
                        ? .retry(after: .seconds(1)) : .pass
                }
            ]
        }

        #expect(try await client.fetch(Get<Recipe>("recipes/1")) == pancakes)
    }

    @Test func connectivityHasStatusAndSequence() async {
        let connectivity = Connectivity(.connected(.cellular))
        var kinds: [String] = []
        func show(_ kind: String) { kinds.append(kind) }
        Task { connectivity.status = .disconnected }

        for await status in connectivity.updates() {
            switch status {
            case .connected(.cellular): show("cellular")
            case .connected: show("connected")
            case .disconnected: show("offline")
            }
            if status == .disconnected { break }
        }

        #expect(kinds.last == "offline")
    }

    @Test func redirectsAreModified() async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/old" ? .redirect(to: "/new") : .text(request.headers["X-Hop"] ?? "none")
        }
        let client = HTTPClient(baseURL: api, transport: transport)

        let followed = Get<String>("old").redirect(
            .follow().modifying { request, _ in
                var request = request
                request.headers["X-Hop"] = "1"
                return request  // nil stops the redirect
            }
        )

        #expect(try await client.fetch(followed) == "1")
    }

    @Test func cacheIsClientSetting() async throws {
        let transport = InMemoryTransport { _ in .text("soup") }

        let cached = HTTPClient(baseURL: api, transport: transport) { $0.cache = ResponseCache() }
        for _ in 1...2 { _ = try await cached.fetch(Get<String>("menu").caching(.for(.seconds(600)))) }

        #expect(transport.requests.count == 1)
    }

    @Test func trustIsConfiguredPerHost() throws {
        let data = Data(TransportsTests.authority.utf8)

        let certificate = try TrustPolicy.Certificate(data)  // DER or PEM
        let trusting = try HTTPClient(baseURL: api) {
            $0.trust = try .system
                .trustingOnly([certificate], forHosts: ["internal.example.com"])
                .pinning([TrustPolicy.PublicKeyPin(certificate)], forHosts: ["api.example.com"])
                .insecurelyAcceptingAnyCertificate(forHosts: ["localhost"])
        }

        #expect(trusting.environment.trust != .system)
    }
}
