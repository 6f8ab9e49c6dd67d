// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting

/// The snippets of the README, word for word.
enum ReadMe {
    static func hero(_ id: Int) async throws {
        nonisolated
            struct Recipe: Decodable
        {
            let name: String
            let authorID: Int
        }

        let client = HTTPClient(baseURL: api)
        let recipe = try await client.fetch(Get<Recipe>("recipes/\(id)"))
        show(recipe)
    }

    struct GetAuthor: RequestSpec {
        let id: Int
        var request: Get<Author> { Get("authors/\(id)").timeout(10) }
    }

    static func graph(_ client: HTTPClient, _ id: Int) {
        let recipe = client.addRequest(Get<Recipe>("recipes/\(id)"))
        let author = client.addRequest(after: recipe) { GetAuthor(id: $0.authorID) }

        let page = BlockOperation { show(recipe.result, author.result) }
        page.addDependency(recipe)
        page.addDependency(author)
        OperationQueue.main.addOperation(page)
    }

    static func testing() async throws {
        let transport = InMemoryTransport { request in
            request.url.path == "/recipes/1" ? .json(#"{"name": "Pancakes", "authorID": 7}"#) : .status(.notFound)
        }
        let client = HTTPClient(baseURL: api, transport: transport)
        let recipe = try await client.fetch(Get<Recipe>("recipes/1"))
        show(recipe)
    }
}
