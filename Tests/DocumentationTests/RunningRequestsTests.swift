// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct RunningRequestsTests {
    struct Menu: Decodable {
        let title: String
    }

    struct MenuRequest: DecodableRequest {
        typealias Success = Menu
        let dish: String
        let cook: String
        var identifier: String { "\(dish) \(cook)" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api.appending(path: "menus"))))
        }
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

    @MainActor final class RecipeScreen {
        let client = HTTPClient(baseURL: api)
        let isSet = Gate()
        var recipe: Recipe? { didSet { isSet.open() } }

        func load() {
            client.addRequest(Get<Recipe>("recipes/1"), completionQueue: .main) { [weak self] result in
                self?.recipe = try? result.get()
            }
        }
    }

    let queue = OperationQueue()

    @Test @MainActor func completionUpdatesViewController() async throws {
        let screen = RecipeScreen()
        screen.load()

        try await screen.isSet.wait()
        #expect(screen.recipe?.name == "Pancakes")
    }

    @Test func dependentsReadResults() async {
        let printed = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            @Sendable func print(_ value: Any) { continuation.resume(returning: "\(value)") }

            let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
            let page = BlockOperation {
                if case .success(let recipe)? = recipe.result { print(recipe.name) }
            }
            page.addDependency(recipe)
            queue.addOperation(page)
        }
        #expect(printed == "Pancakes")
    }

    @Test func completionsReceiveResponses() async {
        let printed = await withCheckedContinuation { (continuation: CheckedContinuation<String, Never>) in
            @Sendable func print(_ status: HTTPStatus, _ name: String) {
                continuation.resume(returning: "\(status) \(name)")
            }

            queue.send(RecipeRequest(recipeID: 1)) { result in
                if case .success(let response) = result { print(response.status, response.body.name) }
            }
        }
        #expect(printed == "200 OK Pancakes")
    }

    @MainActor @Test func fetchReportsProgress() async throws {
        let client = HTTPClient(baseURL: api)
        var bar = 0.0

        let film = try await client.fetch(Get<Data>("films", "7")) { bar = $0.fraction ?? 0 }

        #expect(film == Kitchen.film && bar == 1)
    }

    @Test func operationsAreListedAndCancelled() async throws {
        let client = HTTPClient(baseURL: api, transport: InMemoryTransport { _ in .never })
        client.addRequest(RecipeRequest(recipeID: 1))

        for operation in client.requestOperations {
            print(operation.identifier ?? "-", operation.progress.fractionCompleted)
            operation.pause()
        }

        await withCheckedContinuation { continuation in
            let forgetUser: @Sendable () -> Void = { continuation.resume() }

            client.cancelAllRequests { forgetUser() }
        }
        // An operation that was cancelled before its start leaves the queue when its turn comes.
        #expect(!client.requestOperations.contains { !$0.isCancelled })
    }

    @Test func operationQueueUsesEnvironment() async throws {
        let watched = HTTPClient(queue: queue) {
            $0.baseURL = api
            $0.monitors.append(.console)
        }

        #expect(try await watched.fetch(Get<Recipe>("recipes", "1")).name == "Pancakes")
    }

    @Test func dependentRequestReadsResult() async throws {
        let queue = OperationQueue()
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
        let author = queue.addRequest(after: recipe) { AuthorRequest(authorID: $0.authorID) }

        #expect(try await author.value() == Author(name: "Julia"))
    }

    @Test func requestsAreCreatedFromResults() async throws {
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1))
        let author = queue.addRequest(after: recipe) { AuthorRequest(authorID: $0.authorID) }
        #expect(try await author.value() == Author(name: "Julia"))

        let menu = queue.addRequest(after: recipe, author) { recipe, author in
            MenuRequest(dish: recipe.name, cook: author.name)
        }
        #expect(try await menu.value().title == "Pancakes by Julia")
    }

    @Test func operationsAreConfiguredBeforeBeingAdded() async throws {
        let operation = queue.makeOperation(for: RecipeRequest(recipeID: 1))
        operation.qualityOfService = .userInitiated
        queue.addOperation(operation)
        #expect(try await operation.value().name == "Pancakes")
    }

    @Test func operationsAreCancelled() async throws {
        queue.isSuspended = true
        let operation = queue.addRequest(RecipeRequest(recipeID: 1))
        let other = queue.addRequest(RecipeRequest(recipeID: 1))

        operation.cancel()
        queue.cancelRequests { $0 is RecipeRequest }
        #expect(operation.result != nil)
        #expect(other.result != nil)
        queue.isSuspended = false
    }

    @Test func deadlinesAndTimeoutsAreOptions() async throws {
        // With a manual clock and without a network, neither limit is reached, however busy the machine is.
        let transport = InMemoryTransport { _ in .json(#"{"name": "Pancakes", "authorID": 7}"#) }
        let client = HTTPClient(baseURL: api, transport: transport) { $0.clock = ManualClock() }

        #expect(try await client.fetch(QuickRequest()).name == "Pancakes")
        #expect(transport.requests.count == 1)
    }

    @Test func transfersAreShared() async throws {
        let recipe = queue.addRequest(RecipeRequest(recipeID: 1), coalescing: true)
        #expect(try await recipe.value().name == "Pancakes")
    }
}
