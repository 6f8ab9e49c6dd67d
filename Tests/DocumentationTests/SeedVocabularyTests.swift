// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import TestSupport
import Testing

/// The headline examples of the library's forerunners, in its own spelling.
@Suite(.bounded, .tags(.behaviour)) struct SeedVocabularyTests {
    struct User: Codable, Equatable, Sendable {
        var id = 1
    }

    struct Todo: Codable, Sendable {
        var title: String
    }

    enum ExampleAPI: RequestProviding {
        case development
        case production

        var baseURL: URL {
            switch self {
            case .development: URL(string: "https://dev.example.com/api")!
            case .production: URL(string: "https://live.example.com/api")!
            }
        }
    }

    struct GetUserRequest: RequestSpec {
        let userId: Int
        var token = "t"

        var request: Get<User> {
            Get("users", "\(userId)")
                .headers {
                    Authorization("Bearer \(token)")
                    ContentType("application/json")
                    Accept("application/json")
                }
                .queryItems {
                    Item("include", value: "profile")
                }
                .timeout(10)
        }
    }

    private let transport = InMemoryTransport { request in
        .json(request.url.path.contains("todos") ? #"{"title": "foo"}"# : #"{"id": 7}"#)
    }
    private let queue = OperationQueue()
    private let api = ExampleAPI.development

    @Test func resourceIsGot() async throws {
        let getUserRequest = api.get(.json(encoded: User.self), from: "/user/1/")

        #expect(try await queue.fetch(getUserRequest, session: transport) == User(id: 7))
        #expect(transport.requests.first?.url.absoluteString == "https://dev.example.com/api/user/1/")
    }

    @Test func dataIsPostedAndPatched() async throws {
        let user = User()
        let createUserRequest = api.post(.json(user), to: "/user/")
        let updateUserRequest = api.patch("/user/1", with: .json(user))
            .authenticated(with: .bearerToken("DEADBEEF-DEADBEEF-DEADBEEF"))

        try await queue.fetch(createUserRequest, session: transport)
        try await queue.fetch(updateUserRequest, session: transport)

        #expect(transport.requests.map(\.method) == [.post, .patch])
        #expect(transport.requests.last?.headers[.authorization] == "Bearer DEADBEEF-DEADBEEF-DEADBEEF")
    }

    @Test func headersAndQueryAreCustomised() async throws {
        let getBioRequest = api.get(.text, from: "/user/1/bio")
            .headers([.acceptLanguage("en-scouse"), .accept(.plainText)])
        let searchRequest = api.get(.text, from: "/users/search")
            .query(["query": "alex", "limit": "30"])

        _ = try await queue.fetch(getBioRequest, session: transport)
        _ = try await queue.fetch(searchRequest, session: transport)

        let requests = transport.requests
        try #require(requests.count == 2)
        #expect(requests[0].headers[.accept] == "text/plain")
        #expect(requests[1].url.absoluteString == "https://dev.example.com/api/users/search?query=alex&limit=30")
    }

    @Test func specRuns() async throws {
        let request = try GetUserRequest(userId: 123).toURLRequest(baseURL: URL(string: "https://api.example.com")!)

        #expect(request.url?.absoluteString == "https://api.example.com/users/123?include=profile")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t")
        #expect(request.timeoutInterval == 10)
    }

    @Test func requestsAreMadeInThreeWays() async throws {
        let todo = try await queue.fetch(
            HTTPRequest("https://jsonplaceholder.typicode.com/todos/1").decoding(.json(Todo.self)),
            session: transport
        )
        let posted = HTTPRequest(
            method: .post,
            "https://jsonplaceholder.typicode.com/posts",
            body: .json(["title": "foo", "body": "bar", "userId": 1])
        )
        let expanded = HTTPRequest(
            URI: "https://jsonplaceholder.typicode.com/posts/{postId}",
            variables: ["postId": 1]
        )
        let built = HTTPRequest {
            $0.url = URL(string: "https://example.com/login")!
            $0.method = .get
            $0.timeout = .seconds(100)
            $0.allowsCellularAccess = false
            $0.query = ["full": "1", "autosignout": "30"]
            $0.body = .json(["username": "Michael Bublé", "pwd": "abc"])
        }
        for request in [posted, expanded, built] { _ = try await queue.fetch(request, session: transport) }

        #expect(todo.title == "foo")
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "https://jsonplaceholder.typicode.com/todos/1", "https://jsonplaceholder.typicode.com/posts",
                "https://jsonplaceholder.typicode.com/posts/1", "https://example.com/login?full=1&autosignout=30",
            ]
        )
        let post = try #require(transport.requests.dropFirst().first)
        #expect(try post.body.data() == Data(#"{"body":"bar","title":"foo","userId":1}"#.utf8))
    }

    @Test func formIsEncodedOnce() throws {
        let form = HTTPBody.form(["pwd": "abc", "username": "Michael Bublé"])

        #expect(try form.data() == Data("pwd=abc&username=Michael+Bubl%C3%A9".utf8))
    }
}
