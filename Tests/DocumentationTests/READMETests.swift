// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct READMETests {
    @Test func heroRuns() async {
        let names = await withCheckedContinuation { (continuation: CheckedContinuation<[String?], Never>) in
            @Sendable func show(_ recipe: Result<Recipe, any Error>?, _ author: Result<Author, any Error>?) {
                continuation.resume(returning: [(try? recipe?.get())?.name, (try? author?.get())?.name])
            }

            struct RecipeRequest: DecodableRequest {
                typealias Success = Recipe  // any Decodable
                let recipeID: Int
                var identifier: String { "\(recipeID)" }

                func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
                    completion(.success(URLRequest(url: api.appending(path: "recipes/\(recipeID)"))))
                }
            }

            let queue = OperationQueue()
            let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
            let author = queue.addRequest(after: recipe) { AuthorRequest(authorID: $0.authorID) }

            let page = BlockOperation { show(recipe.result, author.result) }
            page.addDependency(author)  // runs when both results are there
            queue.addOperation(page)
        }
        #expect(names == ["Pancakes", "Julia"])
    }

    @Test func heroRunsWithAwait() async throws {
        let queue = OperationQueue()
        let recipe = try await queue.fetch(RecipeRequest(recipeID: 1))
        #expect(recipe.name == "Pancakes")
    }

    @Test func clientFetchesInALine() async throws {
        let recipe = Recipe(name: "Pancakes", authorID: 7)

        let client = HTTPClient(baseURL: api)
        let author = try await client.fetch(Get<Author>("authors/\(recipe.authorID)"))

        #expect(author.name == "Julia")
    }

    @Test func testingRuns() async throws {
        let queue = OperationQueue()
        let transport = InMemoryTransport { request in
            request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes", "authorID": 7}"#) : .status(.notFound)
        }
        let recipe = try await queue.fetch(RecipeRequest(recipeID: 1), session: transport)
        #expect(recipe == Recipe(name: "Pancakes", authorID: 7))
        #expect(transport.requests.count == 1)
    }
}
