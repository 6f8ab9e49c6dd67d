// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// Modifiers that change one value of a request.
@Suite(.bounded) struct OneValueModifierTests {
    private struct Filter: Encodable, Sendable {
        var offset = 1
        var text = "a"
    }

    private static let base = URL(string: "https://api.example.com")!

    private func client(_ configure: (inout RequestEnvironment) -> Void = { _ in }) -> HTTPClient {
        HTTPClient(baseURL: Self.base, transport: InMemoryTransport { _ in .text("ok") }, configure)
    }

    @Test(arguments: [
        (Get<Data>("users").query("q", "a&b").query("page", 2), "q=a%26b&page=2"),
        (Get<Data>("users?q=1").query("q", "2").query("flag", nil), "q=1&q=2&flag"),
        (Get<Data>("users").query(["offset": 0, "n": 1]).replacingQuery("offset", 50), "offset=50&n=1"),
        (Get<Data>("users?offset=0&n=1").replacingQuery("offset", 50), "offset=50&n=1"),
        (Get<Data>("users?offset=0").query("offset", 1).replacingQuery("offset", 50), "offset=50"),
        (Get<Data>("users").replacingQuery("offset", 50), "offset=50"),
        (Get<Data>("users").query(Filter()).replacingQuery("offset", 50), "text=a&offset=50"),
        (Get<Data>("https://api.example.com/users?offset=0#x").replacingQuery("offset", "a b"), "offset=a%20b"),
        (Get<Data>("users").query(["a": 1, "a": 2]).replacingQuery("a", nil), "a"),
    ])
    func queryParameterIsAddedOrReplaced(_ request: Get<Data>, _ query: String) async throws {
        let response = try await client().send(request)

        #expect(response.url?.query(percentEncoded: true) == query)
    }

    @Test func addingHeaderKeepsExistingValue() async throws {
        let request = Get<Data>("users").addingHeader("X-Tag", "a").addingHeader("X-Tag", "b")

        let sent = try #require(try await client().send(request).transfers.last?.request)

        #expect(sent.headers[values: "X-Tag"] == ["a", "b"])
    }

    @Test func omittedClientHeaderIsNotSent() async throws {
        let client = client { $0.headers["X-App"] = "1" }
        let requests = [
            Get<Data>("a").omittingHeader("x-app"), Get<Data>("a").omittingHeader("X-App").header("X-App", "own"),
            Get<Data>("a"),
        ]

        var seen: [String?] = []
        for request in requests { seen.append(try await client.send(request).transfers.last?.request.headers["X-App"]) }

        #expect(seen == [nil, "own", "1"])
    }

    @Test(arguments: [
        ("/next", "success"), ("https://api.example.com/next", "success"), ("http://api.example.com/next", "302"),
        ("https://cdn.example/next", "302"), ("https://api.example.com:444/next", "302"),
    ])
    func redirectsAreFollowedWithinOriginOnly(_ location: String, _ expected: String) async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/a" ? .redirect(to: location) : .text("ok")
        }
        let client = HTTPClient(baseURL: Self.base, transport: transport) { $0.redirect = .follow(withinOrigin: true) }

        do throws(RequestError) {
            _ = try await client.fetch(Get<Data>("a"))
            #expect(expected == "success")
        } catch {
            #expect(error == .unacceptableStatus && error.response?.status.code == Int(expected))
            #expect(error.response?.headers[.location] == location && transport.requests.count == 1)
        }
        let head = try await client.send(HTTPRequest("a").method(.head).acceptingAnyStatus())
        #expect(head.status == (expected == "success" ? .ok : .found))
    }

    @Test func modifiedRedirectCannotLeaveOrigin() async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/a" ? .redirect(to: "/b") : .text("ok")
        }
        let policy = RedirectPolicy.follow(withinOrigin: true).modifying { next, _ in
            next.modified { $0.host = "cdn.example" }
        }
        let client = HTTPClient(baseURL: Self.base, transport: transport) { $0.redirect = policy }

        await #expect(throws: RequestError.self) { try await client.fetch(Get<Data>("a")) }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [(HTTPStatus.tooManyRequests, 4), (.serviceUnavailable, 1), (.internalServerError, 1)])
    func postIsRetriedOnlyWhenRateLimited(_ status: HTTPStatus, _ count: Int) async throws {
        let transport = InMemoryTransport { _ in .status(status, headers: ["Retry-After": "0"]) }
        let client = HTTPClient(baseURL: Self.base, transport: transport)

        let error = await #expect(throws: RequestError.self) {
            try await client.fetch(Post<Data>("answers").body(["a": 1]).retry(.rateLimited))
        }

        #expect(error?.response?.status == status && transport.requests.count == count)
    }

    @Test func groupReportsMemberProgress() async throws {
        let gate = Gate()
        let transport = InMemoryTransport { _ in .data(Data(count: 1_000)).held(by: gate, after: 500) }
        let client = HTTPClient(baseURL: Self.base, transport: transport)

        let group = client.addGroup((1...3).map { Get<Data>("films/\($0)") })
        #expect(group.memberProgress.count == 3)
        gate.open()
        _ = try await group.value()

        #expect(group.memberProgress.received == 3_000 && group.memberProgress.finished == 3)
    }
}
