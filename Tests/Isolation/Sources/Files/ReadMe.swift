// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The snippets of the README, word for word.
enum ReadMe {
    static func hero() async throws {
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

    static func oneValue(_ recipe: Recipe) async throws {
        let client = HTTPClient(baseURL: api)
        let author = try await client.fetch(Get<Author>("authors/\(recipe.authorID)"))
        show(author)
    }

    static func testing(_ queue: OperationQueue) async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes", "authorID": 7}"#) : .status(.notFound)
        }
        let recipe = try await queue.fetch(RecipeRequest(recipeID: 1), session: transport)
        show(recipe)
    }
}
