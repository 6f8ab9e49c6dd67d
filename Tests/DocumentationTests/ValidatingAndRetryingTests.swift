// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ValidatingAndRetryingTests {
    struct APIError: Error, Decodable, Equatable {
        let message: String
    }

    struct EnvelopeValidator: ResponseValidator {
        struct Envelope: Decodable {
            let data: JSONValue?
            let error: String?
        }

        func validate(_ response: HTTPResponse<Data>, context: ValidationContext) throws -> ValidationResult {
            let envelope = try response.decodeJSON(Envelope.self)
            if let message = envelope.error { return .fail(APIError(message: message)) }
            return .accept(replacing: try response.map { _ in try JSONEncoder().encode(envelope.data) })
        }
    }

    struct MaintenanceInterceptor: Interceptor {
        func retry(_ error: RequestError, context: InterceptorChain.Context) async -> RetryPolicy.Decision {
            error.response?.headers["X-Maintenance"] == nil ? .pass : .fail
        }
    }

    struct Token: Codable, Sendable {
        let access: String
        let refresh: String
    }

    struct NotLoggedIn: Error {}

    struct TokenFile: Sendable {
        let path: String

        func load() -> Token? {
            FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Token.self, from: $0) }
        }

        func save(_ token: Token?) {
            guard let token, let data = try? JSONEncoder().encode(token) else {
                try? FileManager.default.removeItem(atPath: path)
                return
            }
            let new = path + ".new"
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: new, contents: data, attributes: attributes) else { return }
            rename(new, path)
        }
    }

    struct TokenAuthenticator: Authenticator {
        func apply(_ token: Token, to request: inout HTTPRequest) {
            request.headers.set(.authorization(.bearer(token.access)))
        }

        func refresh(_ token: Token?, using client: RefreshClient) async throws -> Token {
            guard let token else { throw NotLoggedIn() }
            return try await client.fetch(Post<Token>("tokens").body(.form(["refresh": token.refresh])))
        }
    }

    @Test func clientsValidateAndRetry() async throws {
        let client = HTTPClient(baseURL: api) {
            $0.validators = [.contentType, .errors(APIError.self)]
            $0.retry = .default
        }

        await #expect {
            try await client.fetch(Get<Recipe>("recipes", "13"))
        } throws: {
            ($0 as? RequestError)?.failure(as: APIError.self)?.message == "bad luck"
        }
        let page = Get<Recipe>("recipes", "1").headers([.accept: "text/html"])
        await #expect { try await client.fetch(page) } throws: {
            ($0 as? RequestError)?.code == .unacceptableContentType
        }
    }

    @Test func validatorsReplaceResponses() async throws {
        let client = HTTPClient(baseURL: api) { $0.validators = [EnvelopeValidator()] }

        #expect(try await client.fetch(Get<Recipe>("envelopes", "1")).name == "Pancakes")
        await #expect { try await client.fetch(Get<Recipe>("envelopes", "2")) } throws: {
            let error = $0 as? RequestError
            return error?.code == .rejected && error?.failure() == APIError(message: "out of eggs")
        }
    }

    @Test func validatorsCauseRetries() async throws {
        struct Report: Decodable { let title: String }
        let clock = ManualClock()
        let server = try MockServer()
        server.enqueue(.status(.accepted), .status(.accepted), .json(#"{"title": "Eggs"}"#))
        let client = HTTPClient(baseURL: server.url) { $0.clock = clock }

        let report = Get<Report>("reports", "7").validating(
            with: .closure { response, _ in
                response.status == .accepted ? .retry(.delayed(.seconds(1), limit: 30)) : .accept
            }
        )
        async let title = client.fetch(report).title
        for _ in 0..<2 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        #expect(try await title == "Eggs")
    }

    @Test func requestsOverridePolicies() async throws {
        let (clock, orderID) = (ManualClock(), 7)
        let server = try MockServer()
        server.enqueue(.status(.serviceUnavailable), .noContent)
        let client = HTTPClient(baseURL: server.url) {
            $0.clock = clock
            $0.random = .seeded(7)
        }

        let patient = RetryPolicy(limit: 5, backoff: .exponential(from: .seconds(1)).capped(at: .seconds(20)))
        let order = Post<Void>("orders")
            .settingHeader(HTTPField("Idempotency-Key", "\(orderID)"))
            .retry(RetryPolicy(limit: 3, methods: nil))

        async let ordered: Void = client.fetch(order)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await ordered
        #expect(server.requests.map { $0.headers["Idempotency-Key"] } == ["7", "7"])
        #expect(try await HTTPClient(baseURL: api).fetch(Get<Recipe>("recipes", "1").retry(patient)).name == "Pancakes")
    }

    @Test func interceptorsDecideBeforeRetryPolicy() async throws {
        let transport = InMemoryTransport { _ in .status(.serviceUnavailable, headers: ["X-Maintenance": "1"]) }
        let client = HTTPClient(baseURL: api, transport: transport) {
            $0.interceptors = [MaintenanceInterceptor()]
            $0.retry = .default
        }

        await #expect(throws: RequestError.self) { try await client.fetch(Get<Recipe>("recipes", "1")) }
        #expect(transport.requests.count == 1)
    }

    @Test func tokensAreRefreshed() async throws {
        let saved = Token(access: "old", refresh: "once")
        let client = HTTPClient(baseURL: api)

        let authentication = AuthenticationInterceptor(TokenAuthenticator(), credential: saved)
        client.configure { $0.interceptors.append(authentication) }

        let group = client.addGroup(Array(repeating: Get<Recipe>("favourites"), count: 20))
        #expect(try await group.value().count == 20)
        #expect(authentication.credential?.access == "new")
        #expect(Kitchen.server?.requests.count { $0.path == "/tokens" } == 1)
    }

    @Test func tokensPersistBetweenLaunches() {
        let folder = TemporaryFolder()
        let file = TokenFile(path: folder.url.appending(path: "token").path)
        file.save(Token(access: "old", refresh: "once"))

        let authentication = AuthenticationInterceptor(
            TokenAuthenticator(),
            credential: file.load(),
            onChange: { file.save($0) }
        )
        authentication.setCredential(Token(access: "new", refresh: "once"))
        #expect(file.load()?.access == "new")

        authentication.setCredential(nil)
        #expect(file.load() == nil && authentication.credential == nil)
    }
}
