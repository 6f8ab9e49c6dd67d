// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

/// The snippets of *Paging*.
@Suite(.bounded) struct PagingArticleTests {
    struct Repo: Decodable, Equatable {
        let name: String
    }

    struct Listing: Decodable {
        let items: [String]
        let next: String?
        let cursor: String?
    }

    struct SearchRequest: RequestSpec {
        let text: String
        let offset: Int
        var request: Get<[String]> { Get("search").query(["text": text, "offset": offset]) }
    }

    private let server: MockServer
    private let client: HTTPClient

    init() throws {
        server = try MockServer()
        server.route(.get, "/repos") { request in
            let isFirst = request.target == "/repos"
            let link = #"</repos?page=2>; rel="next"; title="more", </repos?page=2>; rel="last""#
            let body = isFirst ? #"[{"name": "swift"}, {"name": "swift-nio"}]"# : #"[{"name": "swift-log"}]"#
            return .json(body, headers: isFirst ? ["X-Total-Count": "3", .link: link] : ["X-Total-Count": "3"])
        }
        server.route(.get, "/people", .json(#"{"items": ["Ada"], "next": "/people?page=2"}"#))
        server.route(.get, "/people?page=2", .json(#"{"items": ["Grace"]}"#))
        server.route(.get, "/orders", .json(#"{"items": ["stew"], "cursor": "b7"}"#))
        server.route(.get, "/orders?cursor=b7", .json(#"{"items": ["soup"], "cursor": null}"#))
        server.route(.get, "/search") { request in
            .json(request.target.contains("offset=0") ? #"["tomato soup", "onion soup"]"# : "[]")
        }
        client = HTTPClient(baseURL: server.url)
    }

    func allRepos() -> PageSequence<Get<[Repo]>, [Repo]> { client.pages(Get<[Repo]>("repos")) }

    @Test func pagesAreReturned() async throws {
        #expect(try await allRepos().reduce(into: []) { $0 += $1 }.count == 3)
    }

    @Test func loopFetchesAllPages() async throws {
        var repos: [Repo] = []

        for try await page in client.pages(Get<[Repo]>("repos")) {
            repos += page
        }

        #expect(repos.map(\.name) == ["swift", "swift-nio", "swift-log"])
    }

    @Test func nextPageIsReadFromBody() async throws {
        let people = client.pages(Get<Listing>("people"), by: .following(\.body.next))
        let orders = client.pages(Get<Listing>("orders"), by: .cursor(\.body.cursor, parameter: "cursor"))
        let matches = client.pages(
            SearchRequest(text: "soup", offset: 0),
            by: .next { page, request in
                page.body.isEmpty ? nil : SearchRequest(text: request.text, offset: request.offset + page.body.count)
            }
        )

        #expect(try await people.reduce([]) { $0 + $1.items } == ["Ada", "Grace"])
        #expect(try await orders.reduce([]) { $0 + $1.items } == ["stew", "soup"])
        #expect(try await matches.reduce([], +) == ["tomato soup", "onion soup"])
    }

    @Test func pagedResponsesIncludeHeadersAndLinks() async throws {
        var lines: [String] = []
        func print(_ total: String, _ count: Int) { lines.append("\(total) \(count)") }
        var repos: [Repo] = []

        for try await response in client.pages(Get<[Repo]>("repos")).responses {
            print(response.headers["X-Total-Count"] ?? "?", response.body.count)
        }

        let response = try await client.send(Get<[Repo]>("repos"))
        let last = response.link("last")
        let titles = response.links.compactMap(\.title)

        if let last { repos = try await client.fetch(Get<[Repo]>(last)) }

        #expect(lines == ["3 2", "3 1"])
        #expect(titles == ["more"] && repos == [Repo(name: "swift-log")])
    }

    @Test func pagesArePrefetched() async throws {
        var repos: [Repo] = []

        for try await page in client.pages(Get<[Repo]>("repos"), prefetching: true).prefix(2) {
            repos += page
        }

        #expect(repos.count == 3 && server.requests.count == 2)
    }
}
