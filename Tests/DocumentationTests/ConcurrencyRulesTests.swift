// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct ConcurrencyRulesTests {
    @Test func dependentsRunAfterCompletion() async {
        let lines = AsyncStream.makeStream(of: String.self)
        @Sendable func print(_ line: String) { lines.continuation.yield(line) }
        let client = HTTPClient(baseURL: api)

        let screen = DispatchQueue(label: "screen")
        let queue = OperationQueue()
        queue.underlyingQueue = screen

        let recipe = client.addRequest(Get<Recipe>("recipes", "1"), completionQueue: screen) { _ in print("first") }
        let page = BlockOperation { print("second") }
        page.addDependency(recipe)
        queue.addOperation(page)

        #expect(await lines.stream.prefix(2).reduce(into: []) { $0.append($1) } == ["first", "second"])
    }

    @Test func completionsCanBlock() async {
        let name = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            let client = HTTPClient(baseURL: api, maxConcurrentRequests: 1)
            @Sendable func show(_ author: Result<Author, RequestError>?) {
                continuation.resume(returning: try? author?.get().name)
            }

            client.addRequest(Get<Recipe>("recipes", "1")) { _ in
                let author = client.addRequest(Get<Author>("authors", "7"))
                author.waitUntilFinished()
                show(author.result)
            }
        }

        #expect(name == "Julia")
    }

    @Test func taskCancellationCancelsOperation() async {
        let transport = InMemoryTransport { _ in .never }
        let client = HTTPClient(baseURL: api, transport: transport)

        let task = Task { try await client.fetch(Get<Recipe>("recipes", "1")) }
        task.cancel()

        await #expect { try await task.value } throws: { ($0 as? RequestError)?.code == .cancelled }
    }

    @Test func groupsAreOperations() async {
        let results = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            let client = HTTPClient(baseURL: api, maxConcurrentRequests: 1)
            let queue = OperationQueue()
            @Sendable func show(_ results: [Result<Recipe, RequestError>]?) {
                continuation.resume(returning: results?.count ?? 0)
            }

            let group = client.addGroup((0...2).map { Get<Recipe>("recipes", "\($0)") })
            let page = BlockOperation { show(group.results) }
            page.addDependency(group)
            queue.addOperation(page)
        }

        #expect(results == 3)
    }

    @Test func groupsCanMixResponseTypes() async {
        let shown = await withCheckedContinuation { (continuation: CheckedContinuation<[String?], Never>) in
            let client = HTTPClient(baseURL: api)
            @Sendable func show(_ recipe: Recipe?, _ author: Author?) {
                continuation.resume(returning: [recipe?.name, author?.name])
            }

            client.addRequests(Get<Recipe>("recipes", "1"), Get<Author>("authors", "7")) { recipe, author in
                show(try? recipe.get(), try? author.get())
            }
        }

        #expect(shown == ["Pancakes", "Julia"])
    }

    @Test func inheritingClientsShareConcurrencyLimit() async throws {
        let client = HTTPClient(baseURL: api, maxConcurrentRequests: 4)

        let admin = client.inheriting { $0.headers["X-Role"] = "admin" }

        #expect(admin.maxConcurrentRequests == 4)
        #expect(try await admin.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
        #expect(Kitchen.server?.requests.contains { $0.headers["X-Role"] == "admin" } == true)
    }

    @Test func refreshIgnoresConcurrencyLimit() async throws {
        let client = HTTPClient(baseURL: api, maxConcurrentRequests: 1)
        struct Token: Decodable, Sendable { let access: String }
        struct Session: Authenticator {
            let client: @Sendable () -> HTTPClient?

            func apply(_ token: String, to request: inout HTTPRequest) {
                request.headers.set(.authorization(.bearer(token)))
            }
            func refresh(_ token: String?) async throws -> String {
                try await client()?.fetch(Post<Token>("sessions")).access ?? ""
            }
        }
        let session = Session { [weak client] in client }
        client.configure { $0.interceptors.append(AuthenticationInterceptor(session, credential: "old")) }

        #expect(try await client.fetch(Get<Recipe>("favourites")).name == "Pancakes")
    }
}
