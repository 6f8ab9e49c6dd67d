// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Messages that encode and decode themselves, like those of protocol buffers.
protocol WireMessage: Codable {
    init(wire: Data) throws
    var wire: Data { get }
}

struct Protobuf: BodyEncoder, BodyDecoder {
    struct NotAMessage: Error {}
    var contentType: MediaType { "application/protobuf" }
    var accepted: [MediaType] { [contentType] }

    func encode<Value: Encodable>(_ value: Value) throws -> Data {
        guard let message = value as? any WireMessage else { throw NotAMessage() }
        return message.wire
    }

    func decode<Value: Decodable>(_ type: Value.Type, from content: Data) throws -> Value {
        guard let type = type as? any WireMessage.Type, let value = try type.init(wire: content) as? Value else {
            throw NotAMessage()
        }
        return value
    }
}

/// The snippets of the articles about paths, modifiers, coders and a request's metadata.
@Suite(.bounded) struct RequestValuesTests {
    struct User: Decodable, Sendable { var id = 7 }

    struct Entry: Decodable, Sendable { var id = 7 }

    nonisolated struct EntryFilter: Encodable {
        var text: String
        var tags: [String]
    }

    struct EntryRequest: DecodableRequest, ModifiableRequest {
        typealias Success = Entry
        let id: Int
        var options = RequestOptions()
        var identifier: String { "\(id)" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: site.appending(path: "entries/\(id)"))))
        }
    }

    struct GetEntries: RequestSpec {
        typealias Failure = RequestError  // `fetch` throws this type; by default, any error
        var request: Get<[Entry]> { Get("entries", decoding: .json(decoder: Self.decoder())) }

        static func decoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return decoder
        }
    }

    enum Screen: HTTPRequest.UserInfo.Key { static let defaultValue = "none" }

    struct Preferences: Codable, Equatable, Sendable { var isDark = true }

    struct Chat: WireMessage, Equatable, Sendable {
        var text: String
        init(text: String) { self.text = text }
        init(wire: Data) { text = String(decoding: wire.dropFirst(2), as: UTF8.self) }
        var wire: Data { Data([0x0A, UInt8(text.utf8.count)]) + Data(text.utf8) }
    }

    private static let site = URL(string: "https://example.com/v1")!
    /// Responds with the sent content, or with an entry.
    private let transport = InMemoryTransport { request in
        .status(.ok, body: request.body.isEmpty ? Data(#"{"id": 7}"#.utf8) : request.body)
    }
    private var client: HTTPClient { HTTPClient(baseURL: Self.site, transport: transport) }
    private var targets: [String] {
        transport.requests.map { String($0.url.absoluteString.dropFirst("https://example.com/v1".count)) }
    }

    @Test func requestTypeDefinesDecoderAndError() async throws {
        let client = HTTPClient(transport: InMemoryTransport { _ in .json(#"[{"id": 7}]"#) }) { $0.baseURL = Self.site }
        func entries() async throws(RequestError) -> [Entry] { try await client.fetch(GetEntries()) }

        #expect(try await entries().map(\.id) == [7])
    }

    @Test func pathsAreLiterals() async throws {
        let (name, exports) = ("../ada?", FileManager.default.temporaryDirectory)
        let link = try #require(URL(string: "https://example.com/v1/entries?page=2"))

        let entries = Get<[Entry]>("users/\(name)/entries?sort=date")  // `name` can't choose another path
        let export = Download("exports/\(name).zip", to: .directory(exports))
        let next = Get<[Entry]>(link)  // a URL from a server

        let refused = await #expect(throws: RequestError.self) { try await client.fetch(entries) }
        await #expect(throws: RequestError.self) { try await client.fetch(export) }
        #expect(refused?.code == .invalidRequest && transport.requests.isEmpty)
        _ = try await client.fetch(Get<Entry>("users/\("a/b?")/entries?sort=date"))
        _ = try? await client.send(next)
        #expect(
            targets == ["/users/a%2Fb%3F/entries?sort=date", "/entries?page=2"]
        )
    }

    @Test func valuesAreEncodedAsQueries() async throws {
        let filtered = Get<[Entry]>("entries").query(EntryFilter(text: "pan", tags: ["sweet", "fast"]))

        _ = try? await client.fetch(filtered)
        #expect(targets == ["/entries?text=pan&tags%5B%5D=sweet&tags%5B%5D=fast"])
    }

    @Test func closureConfiguresRequest() async throws {
        let name = "a/b"

        let order = HTTPRequest {
            $0.path = "orders/\(name)"
            $0.method = .post
            $0.options.retry = .default
            $0.options.redirect = .follow(limit: 3)
            $0.options.priority = .high
        }

        _ = try await client.send(order)
        #expect(targets == ["/orders/a%2Fb"] && order.options.priority == .high)
    }

    @Test func customRequestsSupportModifiers() async throws {
        let queue = client

        let entry = try await queue.fetch(EntryRequest(id: 7).retry(limit: 2).deadline(.seconds(30)).tag("entry"))

        #expect(entry.id == 7 && targets == ["/entries/7"])
    }

    @Test func userInfoReachesInterceptor() async throws {
        let client = client

        let profile = Get<User>("users/me").userInfo(Screen.self, "profile")
        let tracing = ClosureInterceptor(adapt: { request, context in
            request.headers["X-Screen"] = context.userInfo[Screen.self]
        })

        client.configure { $0.interceptors.append(tracing) }
        _ = try await client.fetch(profile)
        #expect(transport.requests.first?.headers["X-Screen"] == "profile")
    }

    @Test func codersSupportCustomFormats() async throws {
        let (preferences, chat) = (Preferences(), Chat(text: "hello"))

        let saving = Put<Preferences>("preferences", decoding: .propertyList).body(.propertyList(preferences))
        let sending = Post<Chat>("chats", decoding: .decoded(by: Protobuf())).body(.encoded(chat, by: Protobuf()))

        #expect(try await client.fetch(saving) == preferences)
        #expect(try await client.fetch(sending) == chat)
        #expect(transport.requests.map { $0.headers[.contentType] } == ["application/x-plist", "application/protobuf"])
        #expect(transport.requests.last?.headers[.accept] == "application/protobuf")
    }

    @Test func closuresReplaceInterceptorTypes() async throws {
        let lines = Recorded()
        let client = client
        @Sendable func log(_ line: String) { lines.append(line) }
        @Sendable func decrypt(_ data: Data) throws -> Data { data }
        @Sendable func requireConsent() async throws {}

        client.configure {
            $0.interceptors += [
                .adapting { $0.headers["X-Request-ID"] = UUID().uuidString },
                .intercepting { request, next in try await next(request) { head in log("\(head.status)") } },
                .transforming { $0.body = try decrypt($0.body) },
                .retrying {
                    $0.response?.status == .locked && $0.transfers.count < 3 ? .retry(after: .seconds(1)) : .pass
                },
            ]
            $0.validators.append(
                .closure { response, _ in response.body.isEmpty ? .retry(.immediate(limit: 1)) : .accept }
            )
            $0.conditions.append(.condition { _ in try await requireConsent() })
            $0.monitors.append(.events { event, operation in log("\(operation) \(event)") })
        }

        _ = try await client.fetch(Get<Entry>("a"))
        #expect(lines.all.contains("200 OK") && transport.requests.first?.headers["X-Request-ID"] != nil)
    }

    @Test func operationsAreObservedIndividually() async throws {
        let lines = Recorded()
        let client = HTTPClient(baseURL: api)
        @Sendable func log(_ line: String) { lines.append(line) }

        let request = Get<Recipe>("recipes/1").monitored(by: .events { event, _ in log("\(event)") })
        _ = try await client.fetch(request)

        #expect(lines.all.first == "operationCreated" && lines.all.contains("operationStarted"))
    }

    /// Compiled, but not run, since the main queue belongs to the tests.
    private func watchAPlainQueue(_ log: @escaping @Sendable (String) -> Void) {
        let watched = HTTPClient(queue: .main) { $0.monitors.append(.events { event, _ in log("\(event)") }) }
        watched.addRequest(RecipeRequest(recipeID: 1))
    }

    @Test func urlSessionTasksAreConfigured() async throws {
        let seen = Recorded()

        let film = Get<Data>("films/7").configuringTask { $0.countOfBytesClientExpectsToReceive = 200_000 }

        let session = URLSessionTransport(configuration: .ephemeral)
        let client = HTTPClient(baseURL: api, transport: session)
        let request = film.configuringTask { seen.append("\($0.state == .suspended) \($0.priority)") }.httpPriority(
            0.25
        )
        #expect(try await client.fetch(request) == Kitchen.film)
        #expect(film.options.configureTask != nil && seen.all == ["true 0.25"])
    }

    @Test func loginIsSentWithoutCredentials() async throws {
        struct Login: Encodable, Sendable { var name = "ada" }
        typealias Token = ValidatingAndRetryingTests.Token
        let (client, login) = (HTTPClient(baseURL: api), Login())
        let authentication = AuthenticationInterceptor(ValidatingAndRetryingTests.TokenAuthenticator())
        client.configure { $0.interceptors.append(authentication) }

        let token = try await client.fetch(Post<Token>("login").body { login }.unauthenticated())
        authentication.setCredential(token)

        #expect(try await client.fetch(Get<Recipe>("favourites")).name == "Pancakes")
    }
}

/// Keeps lines.
private final class Recorded: Sendable {
    private let lines = Locked([String]())
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
