// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT
// The example stands here as it always stood:
// swift-format-ignore-file


import Foundation
import Requests
import RequestsTesting
import RequestsTestSupport
import Testing

/// The example of the library's predecessor, unchanged from its documents, with two-space indentation.
enum SeedExample {
struct Recipe: Decodable {
  let name: String
  let ingredients: [String]
  let steps: [String]
}

struct RecipeRequest: DecodableRequest {
  typealias Success = Recipe
  typealias Failure = Error
  var identifier: String {
    return recipeId
  }
  let recipeId: String
  func makeURLRequest(completion: @escaping (Result<URLRequest, Error>) -> Void) {
    let url = URL(string: "https://recipes.com/fakeapi/recipe/\(recipeId)")!
    let urlRequest = URLRequest(url: url)
    completion(.success(urlRequest))
  }
}
}

@Suite(.bounded) struct SeedExampleTests {
    typealias RecipeRequest = SeedExample.RecipeRequest

    @Test func originalExampleRunsUnchanged() async {
        let transport = InMemoryTransport { request in
            request.url.absoluteString == "https://recipes.com/fakeapi/recipe/1"
                ? .json(#"{"name": "Pancakes", "ingredients": ["milk"], "steps": ["mix", "fry"]}"#)
                : .status(.notFound)
        }
        let name = await withCheckedContinuation { continuation in
let queue = OperationQueue()
let request = RecipeRequest(recipeId: "1")
queue.addRequest(request, session: transport) { result in
  switch result {
    case .success(let recipe):
      continuation.resume(returning: recipe.name)
    case .failure(let error):
      continuation.resume(returning: "\(error)")
  }
}
        }
        #expect(name == "Pancakes")
    }
}
