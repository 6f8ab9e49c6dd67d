// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests

struct KitchenService: NetworkService { let baseURL = "http://localhost:1" }

/// A view controller, in short: every closure that is delivered on `.main` may use it.
@MainActor final class RecipeScreen {
    private var recipe: Recipe?
    private var text = ""
    private var fraction = 0.0
    private let client = HTTPClient(baseURL: api)

    func addRequests() {
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
            self?.recipe = try? result.get()
        }
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { result in
            switch result {
            case .success(let recipe): self.recipe = recipe
            case .failure(let error): self.text = "\(error.code)"
            }
        }
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main, completion: { self.finish($0) })
        KitchenService().addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
            self?.recipe = try? result.get()
        }
        OperationQueue().addRequest(AuthorRequest(authorID: 7), completionQueue: .main) { [weak self] result in
            self?.text = (try? result.get())?.name ?? ""
        }
        client.send(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
            if case .success(let response) = result { self?.recipe = response.body }
        }
        client.cancelAllRequests(completionQueue: .main) { [weak self] in self?.recipe = nil }
    }

    func addChains() {
        let recipe = client.addRequest(Get<Recipe>("recipes/1"))
        client.addRequest(after: recipe, completionQueue: .main) {
            Get<Author>("authors/\($0.authorID)")
        } completion: { [weak self] result in
            self?.text = (try? result.get())?.name ?? ""
        }
        client.addRequest(after: recipe, recipe, completionQueue: .main) { recipe, _ in
            AuthorRequest(authorID: recipe.authorID)
        } completion: { [weak self] result in
            self?.text = (try? result.get())?.name ?? ""
        }
    }

    func addGroups() {
        let recipe = client.addGroup([Get<Recipe>("recipes/1")], completionQueue: .main) { [weak self] results in
            self?.recipe = try? results.first?.get()
        }
        client.addGroup(after: recipe, completionQueue: .main) { recipes in
            recipes.map { Get<Author>("authors/\($0.authorID)") }
        } completion: { [weak self] result in
            self?.text = (try? result.get())?.first?.name ?? ""
        }
        client.addRequests(Get<Recipe>("recipes/1"), Get<String>("menu"), completionQueue: .main) {
            [weak self] recipe, menu in
            self?.recipe = try? recipe.get()
            self?.text = (try? menu.get()) ?? ""
        }
        client.addOperationGroup(after: recipe, completionQueue: .main) { group, recipes in
            try await group.fetch(Get<Author>("authors/\(recipes[0].authorID)"))
        } completion: { [weak self] result in
            self?.text = (try? result.get())?.name ?? ""
        }
    }

    func observe() {
        let operation = client.makeOperation(for: Get<Recipe>("recipes/1"), completionQueue: .main) {
            [weak self] result in
            self?.recipe = try? result.get()
        }
        operation.addCompletion(on: .main) { [weak self] result in self?.recipe = try? result.get() }
        operation.onProgress(on: .main) { [weak self] progress in self?.fraction = progress.fraction ?? 0 }
        operation.onProgress(.upload, on: .main) { [weak self] progress in self?.fraction = progress.fraction ?? 0 }
        client.addOperation(operation)
        let monitor = ClosureMonitor.events(on: .main) { [weak self] event, operation in
            self?.text = "\(operation): \(event)"
        }
        client.addRequest(Get<Recipe>("recipes/1").monitored(by: monitor))
    }

    func useOtherQueues() {
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main)
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: nil) { _ in }
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .global()) { show(try? $0.get()) }
        client.addRequest(Get<Recipe>("recipes/1"), completionQueue: DispatchQueue.main) { show(try? $0.get()) }
        client.addRequest(Get<Recipe>("recipes/1")) { show(try? $0.get()) }
    }

    func awaitValues() async throws(RequestError) {
        recipe = try await client.fetch(Get<Recipe>("recipes/1")) { fraction = $0.fraction ?? 0 }
        var lines = try await client.stream(Get<Data>("log")).lines.makeAsyncIterator()
        while let line = try await lines.next() { text += line }
        var pages = client.pages(Get<[Recipe]>("recipes")).makeAsyncIterator()
        while let page = try await pages.next() { recipe = page.first }
        var events = client.serverSentEvents(Get<Data>("feed")).makeAsyncIterator()
        while let event = try await events.next() { text = event.data }
        var pieces = try await client.stream(Get<Data>("log")).makeAsyncIterator()
        while let piece = try await pieces.next() { text += "\(piece.count)" }
    }

    private func finish(_ result: Result<Recipe, RequestError>) {
        recipe = try? result.get()
    }
}

/// Code without isolation takes `.main` too, with any closure.
nonisolated func addRequests(
    to client: HTTPClient,
    completion: @escaping @Sendable (Result<Recipe, RequestError>) -> Void
) {
    client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main, completion: completion)
    client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { print($0) }
}
