// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The URLs of a service's requests, for each way to declare its base URL.
@Suite(.bounded) struct NetworkServiceTests {
    /// A service with the obvious declaration: a base URL that isn't optional.
    private final class UserService: NetworkService {
        let baseURL: URL = URL(string: "https://users.example/v1")!
    }

    private struct OptionalService: NetworkService {
        let baseURL = URL(string: "https://users.example/v1")
    }

    private struct TextService: NetworkService {
        var baseURL = "https://users.example/v1"
    }

    private struct ComputedService: NetworkService {
        var client: HTTPClient
        var baseURL: URL { URL(string: "https://users.example/v1")! }
    }

    private struct ClientService: NetworkService {
        let client: HTTPClient
    }

    private protocol Users: NetworkService {}
    private struct LiveUsers: Users { let baseURL: URL = URL(string: "https://users.example/v1")! }

    @Test func baseURLCanHaveAnySupportedType() {
        let expected = URL(string: "https://users.example/v1")
        let users: any Users = LiveUsers()

        #expect(UserService().requestQueue.baseURL == expected)
        #expect(OptionalService().requestQueue.baseURL == expected)
        #expect(TextService().requestQueue.baseURL == expected)
        #expect(ComputedService(client: HTTPClient()).requestQueue.baseURL == expected)
        #expect(ClientService(client: HTTPClient(baseURL: expected)).requestQueue.baseURL == expected)
        #expect(users.requestQueue.baseURL == expected)
    }

    @Test func serviceSendsToNonOptionalBaseURL() async throws {
        let transport = InMemoryTransport { .status(.ok, body: Data($0.url.absoluteString.utf8)) }
        let service = ComputedService(client: HTTPClient(transport: transport))

        #expect(try await service.fetch(Get<String>("users", "1")) == "https://users.example/v1/users/1")
        #expect(try await service.send(Get<String>("users")).body == "https://users.example/v1/users")
    }

    @Test(arguments: [
        ("127.0.0.1:18081/v1", "the URL “127.0.0.1:18081/v1” has no host"),
        ("1.2.3.4:80/v1?key=s3cret", "the URL “1.2.3.4:80/v1” has no host"),
    ]) func errorQuotesInvalidBaseURL(text: String, reason: String) async {
        let error = await #expect(throws: RequestError.self) {
            try await TextService(baseURL: text).fetch(Get<String>("users"))
        }

        #expect(error?.description.hasSuffix(": \(reason)") == true, "\(String(describing: error))")
    }

    @Test(arguments: ["", "users.example", "not an address", "/v1", "mailto:ada@example.com", "http://"])
    func invalidBaseURLFailsRequests(text: String) async {
        await #expect {
            try await TextService(baseURL: text).fetch(Get<String>("users"))
        } throws: { error in
            (error as? RequestError)?.code == .invalidRequest
        }
    }
}
