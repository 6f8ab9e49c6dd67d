// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// A recipe, as the server returns it.
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
struct GetRecipe: RequestSpec {
    typealias Failure = RequestError

    let id: Int
    var request: Get<Recipe> { Get("recipes/\(id)") }
}

/// Gets the author of a recipe.
struct GetAuthor: RequestSpec {
    let id: Int
    var request: Get<Author> { Get("authors/\(id)") }
}

/// Changes the name of a recipe; the request can be stored on disk.
struct RenameRecipe: RequestSpec, Codable {
    let id: Int
    let name: String
    var request: Put<Void> { Put("recipes/\(id)").body { ["name": name] } }
}

/// Deletes a recipe; the response has no content.
struct DeleteRecipe: RequestSpec {
    let id: Int
    var request: Delete<Void> { Delete("recipes/\(id)") }
}
