// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct READMETests {
    struct GetAuthor: RequestSpec {
        let id: Int
        var request: Get<Author> { Get("authors/\(id)").timeout(10) }
    }

    @Test(arguments: [1]) func clientFetchesInOneLine(id: Int) async throws {
        struct Recipe: Decodable {
            let name: String
            let authorID: Int
        }

        let client = HTTPClient(baseURL: api)
        let recipe = try await client.fetch(Get<Recipe>("recipes/\(id)"))

        #expect(recipe.name == "Pancakes" && recipe.authorID == 7)
    }

    @Test(arguments: [1]) func operationWaitsForBothDependencies(id: Int) async {
        let client = HTTPClient(baseURL: api)
        let names = await withCheckedContinuation { (continuation: CheckedContinuation<[String?], Never>) in
            @Sendable func show(_ recipe: Result<Recipe, RequestError>?, _ author: Result<Author, any Error>?) {
                continuation.resume(returning: [(try? recipe?.get())?.name, (try? author?.get())?.name])
            }

            let recipe = client.addRequest(Get<Recipe>("recipes/\(id)"))
            let author = client.addRequest(after: recipe) { GetAuthor(id: $0.authorID) }

            let page = BlockOperation { show(recipe.result, author.result) }
            page.addDependency(recipe)
            page.addDependency(author)
            OperationQueue.main.addOperation(page)
        }
        #expect(names == ["Pancakes", "Julia"])
    }

    @Test func testingRuns() async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes", "authorID": 7}"#) : .status(.notFound)
        }
        let client = HTTPClient(baseURL: api, transport: transport)
        let recipe = try await client.fetch(Get<Recipe>("recipes/1"))
        #expect(recipe == Recipe(name: "Pancakes", authorID: 7))
        #expect(transport.requests.count == 1)
    }
}
