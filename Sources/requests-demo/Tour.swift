// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsOutbox
import RequestsWebSockets

/// The sections of the demo; each prints what it does and what happens, and returns whether that was correct.
struct Tour: Sendable {
    private let kitchen: Kitchen
    private let client: HTTPClient

    init(kitchen: Kitchen) {
        self.kitchen = kitchen
        client = HTTPClient(baseURL: kitchen.api, maxConcurrentRequests: 4)
    }

    func run() async -> Bool {
        let sections: [(String, () async throws -> Bool)] = [
            ("a request with a decoded response and a completion handler", decodedResponse),
            ("the same request with await", asyncAwait),
            ("a chain: the author's request is created from the recipe, and the page waits for both", dependencyChain),
            ("a graph that fans out: a recipe, the dishes of its menu, and the authors of all of them", fanOut),
            ("a request without content", noContent),
            ("a failure, with the server's error message", errorResponse),
            ("a request that is cancelled after the server has received it", cancellation),
            ("ten equal requests that share one transfer", coalescing),
            ("a hundred requests with an expired token, which is refreshed once", tokenRefresh),
            ("a download that is interrupted and resumed, and whose content is verified", resumableDownload),
            ("a list, page by page: each page links to the next one", pagination),
            ("a WebSocket that confirms an order step by step", webSocketOrder),
            ("a change that is made offline, stored on disk, and sent later", offlineOutbox),
            ("an overloaded server: the client retries, and a timeline is drawn", retries),
        ]
        var passed = true
        for (number, section) in sections.enumerated() {
            print("\(number + 1). \(section.0)")
            do {
                let isRight = try await section.1()
                passed = passed && isRight
                if !isRight { print("   ✗ unexpected result") }
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

    private func decodedResponse() async throws -> Bool {
        let result = await withCheckedContinuation { continuation in
            client.addRequest(GetRecipe(id: 1)) { continuation.resume(returning: $0) }
        }
        let recipe = try result.get()
        say("\(recipe.name): \(recipe.steps.joined(separator: ", ").lowercased())")
        return !recipe.name.isEmpty
    }

    private func asyncAwait() async throws -> Bool {
        let response = try await client.send(GetRecipe(id: 1))
        say("\(response.status), \(response.headers[.contentType] ?? "no content type"): \(response.body.name)")
        return response.status == .ok
    }

    private func dependencyChain() async throws -> Bool {
        let recipe = client.addRequest(GetRecipe(id: 1))
        let author = client.addRequest(after: recipe) { GetAuthor(id: $0.authorID) }
        return await withCheckedContinuation { continuation in
            let page = BlockOperation {
                guard case .success(let recipe)? = recipe.result, case .success(let author)? = author.result else {
                    return continuation.resume(returning: false)
                }
                say("recipe → author → page: “\(recipe.name)” by \(author.name)")
                continuation.resume(returning: true)
            }
            page.addDependency(recipe)
            page.addDependency(author)
            client.addOperation(page)
        }
    }

    private func fanOut() async throws -> Bool {
        let client = HTTPClient(baseURL: kitchen.api)
        client.isSuspended = true
        let recipe = client.addRequest(GetRecipe(id: 1))
        let menu = client.addGroup(after: recipe) { $0.steps.map { _ in GetRecipe(id: 1) } }
        let authors = client.addGroup(after: menu) { $0.map { GetAuthor(id: $0.authorID) } }
        say("the queue, before any operation has started:")
        for line in client.graph().description.split(separator: "\n") { say("  \(line)") }
        client.isSuspended = false
        let names = try await authors.value().map(\.name)
        say("\(names.count) dishes by \(Set(names).sorted().joined(separator: " and "))")
        return try await names.count == recipe.value().steps.count
    }

    private func noContent() async throws -> Bool {
        let response = try await client.send(DeleteRecipe(id: 1))
        say("deleted: \(response.status)")
        return response.status.category == .success
    }

    private func errorResponse() async throws -> Bool {
        do {
            _ = try await client.fetch(GetRecipe(id: 0))
            return false
        } catch {
            say("\(error)")
            say("the server said: \(String(decoding: error.body.prefix(200), as: UTF8.self))")
            return error.code == .unacceptableStatus && error.response?.status == .notFound
        }
    }

    private func cancellation() async throws -> Bool {
        let operation = try await kitchen.awaitRequest {
            client.addRequest(GetRecipe(id: kitchen.slowRecipeID))
        }
        operation.cancel()
        do {
            _ = try await operation.value()
            return false
        } catch {
            say("\(error.code) while \(error.phase.rawValue)")
            return error.code == .cancelled
        }
    }

    private func coalescing() async throws -> Bool {
        let path = "/recipes/\(kitchen.sharedRecipeID)"
        let before = kitchen.requestCount(path)
        let operations = (0..<10).map { _ in
            client.addRequest(GetRecipe(id: kitchen.sharedRecipeID), coalescing: true)
        }
        var names: Set<String> = []
        for operation in operations { names.insert(try await operation.value().name) }
        let after = kitchen.requestCount(path)
        say("ten results, “\(names.sorted().joined())”, from \(after - before) request to the server")
        return names.count == 1 && after - before == 1
    }

    private func tokenRefresh() async throws -> Bool {
        let authentication = AuthenticationInterceptor(TokenAuthenticator(api: kitchen.api), credential: "expired")
        let client = HTTPClient(baseURL: kitchen.api, maxConcurrentRequests: 10) {
            $0.interceptors.append(authentication)
        }
        let group = client.addGroup(Array(repeating: Get<Recipe>("favourites"), count: 100))
        let dishes = try await group.value()
        let refreshes = kitchen.requestCount("/tokens")
        let requestCount = kitchen.requestCount("/favourites")
        say("\(dishes.count) results from \(requestCount) requests, ten at a time; \(refreshes) refresh")
        return dishes.count == 100 && refreshes == 1
    }

    private func resumableDownload() async throws -> Bool {
        let film = kitchen.film
        let client = HTTPClient(baseURL: kitchen.api)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("Film.\(UUID()).mov")
        defer { try? FileManager.default.removeItem(at: file) }
        let download = Get<Data>("film.mov").download(to: .file(file))
        let bar = ProgressBar()

        let interrupted = client.addRequest(download)
        for await progress in interrupted.progressUpdates() {
            bar.show(progress)
            if progress.fraction ?? 0 > 0.3 { break }
        }
        let token = await withCheckedContinuation { continuation in
            interrupted.cancel { continuation.resume(returning: $0) }
        }
        let rest = client.addRequest(download.resuming(from: token))
        for await progress in rest.progressUpdates() { bar.show(progress) }
        bar.end()

        let (received, total) = (token?.receivedLength ?? 0, token?.totalLength ?? 0)
        let isSame = try await Data(contentsOf: rest.value()) == Data(contentsOf: film)
        let range = rest.transfers.last?.request.headers[.range] ?? "everything"
        say("interrupted at \(received) of \(total) bytes; then requested \(range); identical: \(isSame)")
        return isSame && received > 0 && range == "bytes=\(received)-"
    }

    private func pagination() async throws -> Bool {
        let client = HTTPClient(baseURL: kitchen.api)
        var names: [String] = []
        for try await page in client.pages(Get<[String]>("recipes")) {
            say("\(page.count) recipes, from “\(page.first ?? "")”")
            names += page
        }
        return names.count == kitchen.recipeCount && kitchen.requestCount("/recipes") == 3
    }

    private func webSocketOrder() async throws -> Bool {
        let socket = try await client.webSocket("orders")
        try await socket.send("two pancakes")
        var replies: [String] = []
        for try await message in socket.messages {
            say("“\(message.text ?? "")”")
            replies.append(message.text ?? "")
        }
        let isServed = replies == ["two pancakes: in the pan", "two pancakes: on the table"]
        return isServed && socket.closeCode == .normalClosure
    }

    private func offlineOutbox() async throws -> Bool {
        let folder = kitchen.folder.appending(path: "outbox")
        let outbox = try Outbox(at: folder, client: client) {
            $0.isPaused = true
            $0.register(RenameRecipe.self, as: "rename-recipe")
        }
        try await outbox.add(RenameRecipe(id: 1, name: "Crêpes"))
        await outbox.close()
        say("stored on disk, and the outbox is closed")
        let reopened = try Outbox(at: folder, client: client) { $0.register(RenameRecipe.self, as: "rename-recipe") }
        let isEmpty = await reopened.waitUntilDrained()
        say("reopened and sent; requests: \(kitchen.requestCount(of: .put, "/recipes/1"))")
        await reopened.close()
        return isEmpty && kitchen.requestCount(of: .put, "/recipes/1") == 1
    }

    private func retries() async throws -> Bool {
        let recorder = RecordingMonitor()
        let client = HTTPClient(baseURL: kitchen.api) {
            $0.retry = RetryPolicy(limit: 3, backoff: .exponential(from: .milliseconds(100)).jitter(.half))
            $0.monitors.append(recorder)
        }
        kitchen.simulateOverload(times: 2)
        let recipe = client.addRequest(GetRecipe(id: 1))
        let author = client.addRequest(after: recipe) { GetAuthor(id: $0.authorID) }
        let name = try await author.value().name
        say("“\(try await recipe.value().name)” by \(name), requests for the recipe: \(recipe.transfers.count)\n")
        // Draw only after the author's request has completed, so that the monitors have received all events.
        await withCheckedContinuation { continuation in
            let drawing = BlockOperation {
                print(recorder.timeline.text(width: 110))
                continuation.resume()
            }
            drawing.addDependency(author)
            client.addOperation(drawing)
        }
        return recipe.transfers.count == 3
    }
}

/// An authenticator that requests access tokens, and adds them to requests.
struct TokenAuthenticator: Authenticator {
    struct Token: Decodable, Sendable {
        var access: String
    }

    /// A separate client without this authenticator, so that refreshing a token doesn't wait for itself.
    let client: HTTPClient

    init(api: URL) {
        client = HTTPClient(baseURL: api)
    }

    func apply(_ token: String, to request: inout HTTPRequest) {
        request.headers.set(.authorization(.bearer(token)))
    }

    func refresh(_ token: String?) async throws -> String {
        try await client.fetch(Post<Token>("tokens")).access
    }
}
