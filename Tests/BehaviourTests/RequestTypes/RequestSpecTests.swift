// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RequestSpecTests {
    struct GetUser: RequestSpec {
        let id: Int
        var request: Get<User> { Get("users", "\(id)").timeout(10).tag("user").accepting(statusCodes: [200, 203]) }
    }

    struct Rename: RequestSpec {
        let name: String
        var request: Patch<Void> { Patch("users").body { ["name": name] } }
    }

    /// A request that describes itself without a predefined request type.
    struct Motto: RequestConvertible {
        typealias Success = String
        var http: HTTPRequest { HTTPRequest("/motto", query: ["lang": "en"]) }
    }

    @Test func specRunsItsRequest() async throws {
        let queue = TestQueue(
            InMemoryTransport { request in
                request.url.path == "/v1/users/7"
                    ? .json(#"{"id": 7, "name": "Bob"}"#, status: 203) : .status(.notFound)
            }
        ) { $0.baseURL = server }

        let user = try await queue.fetch(GetUser(id: 7))

        #expect(user == User(id: 7, name: "Bob"))
        #expect(GetUser(id: 1).resolvedOptions.tag == "user" && GetUser(id: 1).http.timeout == .seconds(10))
        #expect(GetUser.ResponseBody.self == User.self)
    }

    @Test func voidSpecSendsItsRequest() async throws {
        let sent = try await TestQueue.sent(Rename(name: "Eve"))

        #expect(try sent.body.data() == Data(#"{"name":"Eve"}"#.utf8))
        #expect(sent.method == .patch)
    }

    @Test func responseTypeDeterminesDecoder() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .status(.ok, body: Data("be quick".utf8)) }) {
            $0.baseURL = server
        }

        #expect(try await queue.fetch(Motto()) == "be quick")
        #expect(try Motto().processData(Data("x".utf8)) == "x")
    }

    @Test func specConvertsToURLRequest() throws {
        let request = try Rename(name: "Eve").toURLRequest(baseURL: server)

        #expect(request.url?.absoluteString == "https://api.example.com/v1/users?key=k")
        #expect(request.httpMethod == "PATCH" && request.httpBody == Data(#"{"name":"Eve"}"#.utf8))
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(throws: InvalidValue.self) { try Motto().toURLRequest() }
        #expect(throws: InvalidValue.self) {
            try Motto().http.settingHeader(HTTPField("X", "a\r\nb")).toURLRequest(baseURL: server)
        }
    }

    @Test func dependentRequestUsesSpecResult() async throws {
        let queue = TestQueue(InMemoryTransport { _ in .json(#"{"id": 7, "name": "Bob"}"#) }) { $0.baseURL = server }

        let first = queue.addRequest(GetUser(id: 1))
        let second = queue.addRequest(after: first) { user in Get<User>("friends", user.name) }

        #expect(try await second.value() == User(id: 7, name: "Bob"))
        #expect(second.urlRequest?.url?.path == "/v1/friends/Bob")
    }
}
