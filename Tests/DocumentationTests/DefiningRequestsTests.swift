// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets of the articles about the parts of a request.
@Suite(.bounded) struct DefiningRequestsTests {
    struct User: Codable, Equatable, Sendable {
        var id = 7
    }

    struct NewUser: Encodable, Sendable {
        var name: String
    }

    struct GetUser: RequestSpec {
        let id: Int
        var request: Get<User> { Get("users/\(id)").timeout(10) }
    }

    private final class Queue: RequestQueue {
        let base = OperationQueue()
        let transport: any HTTPTransport
        let environment: RequestEnvironment

        init(_ transport: any HTTPTransport) {
            self.transport = transport
            var environment = RequestEnvironment()
            environment.baseURL = URL(string: "https://api.example.com/v1")
            self.environment = environment
        }

        var operations: [Operation] { base.operations }
        func addOperation(_ operation: Operation) { base.addOperation(operation) }
    }

    private let transport = InMemoryTransport { request in
        request.method == .head ? .status(.ok, headers: [.eTag: "\"1\""]) : .json(#"{"id": 7}"#)
    }

    @Test func requestsCanBeValuesOrTypes() async throws {
        let queue = Queue(transport)
        let id = 7

        let user = try await queue.fetch(Get<User>("users/\(id)"))

        #expect(try await queue.fetch(GetUser(id: 7)) == user)
        #expect(transport.requests.map(\.url.path) == ["/v1/users/7", "/v1/users/7"])
    }

    /// Compiled, but not run, since it would send to a live host.
    private func fetchUser(_ id: Int) async throws -> User {
        let client = try HTTPClient(baseURL: "https://api.example.com/v1")
        let user = try await client.fetch(Get<User>("users/\(id)"))
        return user
    }

    @Test func buildersAndDecoders() async throws {
        let (token, fields): (String?, [String]) = ("t", ["id", "name"])

        let search = Get<[User]>("users")
            .headers {
                Accept(.json)
                if let token { Authorization("Bearer \(token)") }
            }
            .query {
                for field in fields { Item("fields", value: field) }
            }
        let etag = Head<String>("users", decoding: ResponseDecoder { $0.headers[.eTag] ?? "" })

        #expect(search.http.query.percentEncoded == "fields=id&fields=name")
        #expect(search.http.headers[.authorization] == "Bearer t")
        #expect(try await Queue(transport).fetch(etag) == "\"1\"")
    }

    @Test func bodies() throws {
        let photo = URL(filePath: "photo.jpg")
        let (model, question) = ("small", "Why?")
        struct Answer: Decodable {}

        let png = Data("png".utf8)
        let chat = Post<Answer>("chat").body(
            .json([
                "model": .value(model),
                "messages": [
                    ["role": "system", "content": "Be brief."],
                    ["role": "user", "content": .value(question)],
                ],
                "options": ["n": 3, "temperature": 0.5, "stop": nil],
                "tools": [],
            ])
        )
        let post = Post<User>("users").body(.json(NewUser(name: "Ada")))
        let form = Post<Void>("login").body(.form(["name": "Ada", "remember": true]))
        let note = Put<Void>("notes", "1").body(.text("buy eggs"))
        let upload = Post<Void>("photos").body(
            .multipart { form in
                form.add("320x240", for: "size")
                form.add(.file(photo), for: "photo")
                form.add(.data(png, type: .png), for: "preview", fileName: "preview.png")
            }
        )

        let sent = try JSONDecoder().decode(JSONValue.self, from: chat.http.body.data() ?? Data())
        #expect(sent["messages"]?[1] == ["role": "user", "content": "Why?"] && sent["tools"] == [])
        #expect(sent["options"] == ["n": 3, "temperature": 0.5, "stop": nil] && sent["model"] == "small")
        #expect(try post.http.body.data() == Data(#"{"name":"Ada"}"#.utf8))
        #expect(try form.http.body.data() == Data("name=Ada&remember=true".utf8))
        #expect(note.http.body.headers[.contentType] == "text/plain; charset=utf-8")
        #expect((upload.http.body.source as? MultipartForm)?.parts.count == 3)
        #expect(try HTTPBody.csv([["a", "b"], ["1", "2"]]).data() == Data("a,b\r\n1,2".utf8))
    }

    @Test func sequenceBodies() async throws {
        let transport = InMemoryTransport { request in .text(request.method == .get ? "film" : "") }
        let client = HTTPClient(baseURL: URL(string: "https://example.com"), transport: transport)
        let origin = HTTPClient(baseURL: URL(string: "https://example.com"), transport: transport)
        let (day, size) = ("today", Int64(3))
        @Sendable func entries(of day: String) async throws -> AsyncStream<[UInt8]> {
            AsyncStream { continuation in
                for letter in "abc".utf8 { continuation.yield([letter]) }
                continuation.finish()
            }
        }

        let source = try await origin.stream(Get<Data>("films", "7"))
        let film = Put<Void>("archive", "7").body(.stream(source))
        let log = Post<Void>("logs").body(.stream(length: size) { try await entries(of: day) })
        for request in [film.http, log.http] { _ = try await client.send(request) }

        #expect(transport.requests.map(\.text) == ["", "film", "abc"])
        #expect(!film.http.body.isReplayable && log.http.body.isReplayable)
    }

    @Test func templates() throws {
        let posts = HTTPRequest(URI: "/users/{user}/posts{?page,tags*}", variables: ["user": "ada", "page": 2])
        let template: URITemplate = "/users/{user}/posts/{post}"
        let variables = template.extract(from: "/users/ada/posts/7")

        #expect(posts.url.absoluteString == "/users/ada/posts?page=2")
        #expect(variables?["user"] == "ada" && variables?["post"] == "7")
    }
}

extension HTTPBody {
    static func csv(_ rows: [[String]]) -> HTTPBody {
        HTTPBody(headers: [.contentType: "text/csv"]) {
            .data(Data(rows.map { $0.joined(separator: ",") }.joined(separator: "\r\n").utf8))
        }
    }
}
