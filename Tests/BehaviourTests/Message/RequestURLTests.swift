// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The URL of a request value, including its query.
@Suite(.bounded) struct RequestURLTests {
    private struct Filter: Encodable, Sendable { var tags: String }

    private static let login = URL(string: "https://login.example/authorize?v=1")!
    private let login = Self.login

    @Test(arguments: [
        (HTTPRequest(url: login).query(["scope": "a b", "state": "x&y"]), "?v=1&scope=a%20b&state=x%26y"),
        (HTTPRequest(url: login).query([:]), "?v=1"),
        (HTTPRequest(url: login).query(Filter(tags: "a")).query(["b": 2]), "?v=1&tags=a&b=2"),
        (HTTPRequest("https://login.example/authorize#top").query(["a": "é"]), "?a=%C3%A9"),
        (
            HTTPRequest {
                $0.url = login
                $0.query = ["a": 1]
                $0.path = "/authorize?b=2"
            }, "?b=2&a=1"
        ),
        (
            HTTPRequest {
                $0.url = login
                $0.query = ["a": 1]
                $0.port = nil
            }, "?v=1&a=1"
        ),
    ])
    func absoluteRequestURLIncludesQuery(_ request: HTTPRequest, _ query: String) {
        #expect(request.url.absoluteString == "https://login.example/authorize" + query)
    }

    @Test func relativeRequestURLIncludesQuery() {
        #expect(HTTPRequest("users", query: ["page": 2]).url.relativeString == "users?page=2")
        #expect(Get<Data>("users?a=1").query(["b": 2]).http.url.relativeString == "users?a=1&b=2")
    }

    @Test func urlMatchesSentRequest() async throws {
        let transport = InMemoryTransport { _ in .text("ok") }
        let request = HTTPRequest(url: login).query(["q": "a+b"]).query(Filter(tags: "x y"))

        let response = try await HTTPClient(transport: transport).send(request)

        #expect(response.url == request.url)
    }

    @Test func settingURLReplacesPathAndQuery() throws {
        var request = HTTPRequest(url: login).query(["a": 1]).query(Filter(tags: "x"))
        let whole = request.url

        request.url = whole
        #expect(request.url == whole && request.query.isEmpty)

        request.url.append(queryItems: [URLQueryItem(name: "b", value: "2")])
        #expect(request.url.absoluteString == whole.absoluteString + "&b=2")
        #expect(try request.toURLRequest().url == request.url)
    }

    @Test func interceptorChangingHostKeepsQuery() async throws {
        let transport = InMemoryTransport { _ in .text("ok") }
        let client = HTTPClient(baseURL: URL(string: "https://a.example"), transport: transport) {
            $0.query = ["key": "k"]
            $0.interceptors = [.adapting { $0.host = "b.example" }]
        }

        let response = try await client.send(Get<Data>("users").query(["a": 1]))

        #expect(response.url?.absoluteString == "https://b.example/users?key=k&a=1")
    }

    @Test func unencodableQueryFailsAfterURLChange() async {
        struct Broken: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
        }
        var request = HTTPRequest(url: login).query(Broken())

        request.url.append(path: "b")

        let client = HTTPClient(transport: InMemoryTransport { _ in .text("ok") })
        let changed = request
        let error = await #expect(throws: RequestError.self) { try await client.fetch(changed) }
        #expect(error?.code == .encoding)
    }

    @Test(arguments: [("item_1:edit", "item_1:edit"), ("12:30", "12:30"), ("a%20b:c?d=e:f", "a%20b:c?d=e:f")])
    func colonInRelativeURLIsPartOfPath(_ text: String, _ path: String) async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/v1/start" ? .redirect(to: text) : .text("ok")
        }
        let client = HTTPClient(baseURL: URL(string: "https://a.example/v1"), transport: transport)

        let redirected = try await client.send(Get<Data>("start"))
        let requested = try await client.send(HTTPRequest("\(raw: text)"))

        #expect(redirected.url?.absoluteString == "https://a.example/v1/\(path)")
        #expect(requested.url?.absoluteString == "https://a.example/v1/\(path)")
    }
}
