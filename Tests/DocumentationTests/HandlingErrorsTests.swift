// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTestSupport
import RequestsTesting
import Testing

@Suite(.bounded) struct HandlingErrorsTests {
    enum KitchenError: Error {
        case closed
        case trouble(any Error)
    }

    struct OrderRequest: NoContentRequest {
        typealias Failure = KitchenError
        var identifier: String { "order" }

        func mapError(_ error: any Error) -> KitchenError {
            if let error = error as? RequestError, error.response?.status == .serviceUnavailable { return .closed }
            return .trouble(error)
        }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api.appending(path: "order"))))
        }
    }

    @Test func errorsDescribeTheFailure() async throws {
        let queue = OperationQueue()
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }

        do {
            let recipe = try await queue.fetch(RecipeRequest(recipeID: 0))
            print(recipe.name)
        } catch let error as RequestError {
            print(error.code)  // unacceptableStatus
            print(error.phase)  // validating
            print(error.response?.status as Any)  // 404 Not Found
            print(String(decoding: error.body, as: UTF8.self))
            print(error.transfers.count)  // what was sent: the first request, redirects, retries
        }
        #expect(printed == ["unacceptableStatus", "validating", "Optional(404 Not Found)", "no such recipe", "1"])
    }

    @Test func closuresDeclareTypedErrors() async throws {
        let (client, shown, isShown) = (HTTPClient(baseURL: api), Locked(""), Gate())
        @Sendable func show(_ text: String) {
            shown.withLock { $0 = text }
            isShown.open()
        }

        Task {
            do throws(RequestError) {
                show(try await client.fetch(Get<Recipe>("recipes/0")).name)
            } catch {
                show(error.shortDescription)
            }
        }

        try await isShown.wait()
        #expect(shown.withLock { $0 }.hasPrefix("unacceptableStatus"))
    }

    @Test func failedDependencyReportsDocumentedPhase() async throws {
        let client = HTTPClient(baseURL: api)
        let failing = client.addRequest(Get<Recipe>("recipes/0"))
        let request = client.addRequest(after: failing) { Get<Author>("authors/\($0.authorID)") }
        let group = client.addGroup(after: failing) { [Get<Author>("authors/\($0.authorID)")] }

        let ofRequest = await #expect(throws: RequestError.self) { try await request.value() }
        let ofGroup = await #expect(throws: RequestError.self) { try await group.value() }
        #expect(ofRequest?.code == .dependencyFailed && ofRequest?.phase == .building)
        #expect(ofGroup?.code == .dependencyFailed && ofGroup?.phase == .waiting)
    }

    @Test func requestsMapErrorsToCustomType() async {
        await #expect {
            try await OperationQueue().fetch(OrderRequest())
        } throws: { error in
            if case KitchenError.closed = error { true } else { false }
        }
    }

    struct APIError: Error, Decodable {
        let message: String
    }

    @Test func decodesErrorsOfAPI() async {
        var printed: [String] = []
        func print(_ value: Any) { printed.append("\(value)") }

        let client = HTTPClient(baseURL: api) { $0.validators = [.errors(APIError.self)] }

        do {
            let recipe = try await client.fetch(Get<Recipe>("recipes", "13"))
            print(recipe.name)
        } catch {
            print(error.failure(as: APIError.self)?.message ?? error.shortDescription)
        }
        #expect(printed == ["bad luck"])
    }

    @Test(arguments: [
        (RequestError.Code.cancelled, ""), (.offline, "offline"), (.authenticationFailed, "login"),
        (.decoding, "decoding"),
    ])
    func errorCodesAreHandled(code: RequestError.Code, said: String) {
        var words: [String] = []
        func showLogin() { words.append("login") }
        func showOffline() { words.append("offline") }
        func show(_ text: String) { words.append(text) }
        let error = RequestError(code, phase: .decoding)

        switch error.code {
        case .cancelled: break  // the caller no longer waits for it
        case .offline, .cannotConnect, .connectionLost, .timedOut: showOffline()
        case _ where error.isNotAuthorized: showLogin()
        default: show(error.description)
        }

        #expect(words.joined() == said)
    }
}
