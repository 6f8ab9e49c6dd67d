// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct GettingStartedTests {
    nonisolated struct Recipe: Decodable {
        let name: String
        let authorID: Int
    }

    struct RecipeRequest: DecodableRequest {
        typealias Success = Recipe
        let recipeID: Int
        var identifier: String { "\(recipeID)" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api.appending(path: "recipes/\(recipeID)"))))
        }
    }

    struct DeleteRecipeRequest: NoContentRequest {
        typealias Failure = RequestError
        let recipeID: Int
        var identifier: String { "\(recipeID)" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            var request = URLRequest(url: api.appending(path: "recipes/\(recipeID)"))
            request.httpMethod = "DELETE"
            completion(.success(request))
        }
    }

    @Test func completionRuns() async {
        let printed = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            @Sendable func print(_ value: Any) { continuation.resume(returning: "\(value)") }

            let queue = OperationQueue()
            queue.addRequest(RecipeRequest(recipeID: 1)) { result in
                switch result {
                case .success(let recipe): print(recipe.name)
                case .failure(let error): print(error)
                }
            }
        }
        #expect(printed == "Pancakes")
    }

    @Test func awaitRuns() async throws {
        let queue = OperationQueue()
        let recipe = try await queue.fetch(RecipeRequest(recipeID: 1))
        #expect(recipe.authorID == 7)
    }

    @Test func typedFailureRuns() async throws(RequestError) {
        try await OperationQueue().fetch(DeleteRecipeRequest(recipeID: 1))
    }
}
