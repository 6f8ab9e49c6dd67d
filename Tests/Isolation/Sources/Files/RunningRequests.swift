// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The snippets of the article about queues.
@MainActor final class RunningRequests {
    let queue = OperationQueue()
    let client = HTTPClient(baseURL: api)
    var bar = 0.0
    var recipe: Recipe?

    func results() {
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
        let page = BlockOperation {
            if case .success(let recipe)? = recipe.result { print(recipe.name) }
        }
        page.addDependency(recipe)
        queue.addOperation(page)
    }

    func responses() {
        queue.send(RecipeRequest(recipeID: 1)) { result in
            if case .success(let response) = result { print(response.status, response.body.name) }
        }
    }

    func mainActor() {
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
            self?.recipe = try? result.get()
        }
    }

    func progress() async throws {
        let film = try await client.fetch(Get<Data>("films", "7")) { bar = $0.fraction ?? 0 }
        show(film)
    }

    func chains() {
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
        let author = queue.addRequest(after: recipe) { AuthorRequest(authorID: $0.authorID) }
        let menu = queue.addRequest(after: recipe, author) { recipe, author in
            MenuRequest(dish: recipe.name, cook: author.name)
        }
        show(menu)
    }

    func configuration() {
        let operation = queue.makeOperation(for: RecipeRequest(recipeID: 1))
        operation.qualityOfService = .userInitiated
        queue.addOperation(operation)
        operation.cancel()
        queue.cancelRequests { $0 is RecipeRequest }
    }

    func cancelAll() {
        client.cancelAllRequests { forgetUser() }
    }

    struct QuickRequest: DecodableRequest {
        typealias Success = Recipe
        var identifier: String { "quick" }
        var options: RequestOptions {
            var options = RequestOptions()
            options.timeout = .milliseconds(500)
            options.deadline = .seconds(2)
            return options
        }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api.appending(path: "recipes/1"))))
        }
    }

    func coalescing() {
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1), coalescing: true)
        show(recipe)
    }

    func listing() {
        for operation in client.requestOperations {
            print(operation.identifier ?? "-", operation.progress.fractionCompleted)
            operation.pause()
        }
    }

    func environment() {
        let watched = HTTPClient(queue: queue) {
            $0.baseURL = api
            $0.monitors.append(.console)
        }
        show(watched)
    }
}
