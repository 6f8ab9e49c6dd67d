// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A recipe, as the server describes it.
struct Recipe: Codable, Sendable {
    var name: String
    var authorID: Int
    var steps: [String]
}

/// The author of a recipe.
struct Author: Codable, Sendable {
    var name: String
}

/// Gets a recipe.
struct RecipeRequest: DecodableRequest {
    typealias Success = Recipe
    typealias Failure = RequestError

    let api: URL
    let recipeID: Int
    var identifier: String { "\(api)/\(recipeID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "recipes/\(recipeID)"))))
    }
}

/// Gets an author by the number in a recipe.
struct AuthorRequest: DecodableRequest {
    typealias Success = Author
    typealias Failure = RequestError

    let api: URL
    let authorID: Int
    var identifier: String { "\(api)/\(authorID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        completion(.success(URLRequest(url: api.appending(path: "authors/\(authorID)"))))
    }
}

/// Deletes a recipe; the response has no content.
struct DeleteRecipeRequest: NoContentRequest {
    typealias Failure = RequestError

    let api: URL
    let recipeID: Int
    var identifier: String { "\(api)/\(recipeID)" }

    func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
        var request = URLRequest(url: api.appending(path: "recipes/\(recipeID)"))
        request.httpMethod = "DELETE"
        completion(.success(request))
    }
}
