// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

/// The stations of the demo; each says what it does, what happened, and whether that was right.
struct Tour: Sendable {
    let kitchen: Kitchen
    let queue = OperationQueue()

    func run() async -> Bool {
        queue.maxConcurrentOperationCount = 4
        let stations: [(String, () async throws -> Bool)] = [
            ("a decodable request, with a completion", decodable),
            ("the same with await", awaiting),
            ("a chain: the author's request is made from the recipe, and the page waits for both", chain),
            ("a request without content", noContent),
            ("a failure, with what the server said", failure),
            ("a cancellation", cancellation),
            ("ten equal requests that share one transfer", coalescing),
        ]
        var passed = true
        for (number, station) in stations.enumerated() {
            print("\(number + 1). \(station.0)")
            do {
                let isRight = try await station.1()
                passed = passed && isRight
                if !isRight { print("   ✗ that is not what should have happened") }
            } catch {
                passed = false
                print("   ✗ \(error)")
            }
        }
        return passed
    }

    private func say(_ text: String) {
        print("   \(text)")
    }

    private func decodable() async throws -> Bool {
        let result = await withCheckedContinuation { continuation in
            queue.addRequest(RecipeRequest(api: kitchen.api, recipeID: 1)) { continuation.resume(returning: $0) }
        }
        let recipe = try result.get()
        say("\(recipe.name): \(recipe.steps.joined(separator: ", ").lowercased())")
        return !recipe.name.isEmpty
    }

    private func awaiting() async throws -> Bool {
        let response = try await queue.send(RecipeRequest(api: kitchen.api, recipeID: 1))
        say("\(response.status), \(response.headers[.contentType] ?? "no type"): \(response.body.name)")
        return response.status == .ok
    }

    private func chain() async throws -> Bool {
        let api = kitchen.api
        let recipe = queue.addRequest(RecipeRequest(api: api, recipeID: 1))
        let author = queue.addRequest(after: recipe) { AuthorRequest(api: api, authorID: $0.authorID) }
        return await withCheckedContinuation { continuation in
            let page = BlockOperation {
                guard case .success(let recipe)? = recipe.result, case .success(let author)? = author.result else {
                    return continuation.resume(returning: false)
                }
                say("recipe → author → page: “\(recipe.name)” by \(author.name)")
                continuation.resume(returning: true)
            }
            page.addDependency(author)
            queue.addOperation(page)
        }
    }

    private func noContent() async throws -> Bool {
        let response = try await queue.send(DeleteRecipeRequest(api: kitchen.api, recipeID: 1))
        say("deleted: \(response.status)")
        return response.status.category == .success
    }

    private func failure() async throws -> Bool {
        do {
            _ = try await queue.fetch(RecipeRequest(api: kitchen.api, recipeID: 0))
            return false
        } catch {
            say("\(error)")
            say("the server said: \(String(decoding: error.body.prefix(200), as: UTF8.self))")
            return error.code == .unacceptableStatus && error.response?.status == .notFound
        }
    }

    private func cancellation() async throws -> Bool {
        let operation = queue.addRequest(RecipeRequest(api: kitchen.api, recipeID: kitchen.slowRecipeID))
        operation.cancel()
        do {
            _ = try await operation.value()
            return false
        } catch {
            say("\(error.code), while it was \(error.phase.rawValue)")
            return error.code == .cancelled
        }
    }

    private func coalescing() async throws -> Bool {
        let path = "/recipes/\(kitchen.sharedRecipeID)"
        let before = kitchen.requestCount(path)
        let operations = (0..<10).map { _ in
            queue.addRequest(RecipeRequest(api: kitchen.api, recipeID: kitchen.sharedRecipeID), coalescing: true)
        }
        var names: Set<String> = []
        for operation in operations { names.insert(try await operation.value().name) }
        guard let before, let after = kitchen.requestCount(path) else {
            say("ten results: \(names.sorted().joined())")
            return names.count == 1
        }
        say("ten results, “\(names.sorted().joined())”, of \(after - before) request at the server")
        return names.count == 1 && after - before == 1
    }
}
