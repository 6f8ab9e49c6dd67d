// Requests: HTTP requests as values and operations.
// SPDX-License-Identifier: MIT

import Foundation
import Requests
import RequestsTesting
import Testing

struct TransportsTests {
    final class Greeting: HTTPTransport {
        var capabilities: TransportCapabilities { .concurrentDelivery }

        func send(
            _ request: TransportRequest,
            receive: @escaping @Sendable (TransferEvent) -> Void
        ) -> any Transfer {
            receive(.head(HTTPResponseHead(status: .ok, url: request.url)))
            receive(.data(Data("hello".utf8)))
            receive(.end(nil))
            return Over()
        }

        final class Over: Transfer {
            func cancel() {}
        }
    }

    struct TextRequest: DataRequest {
        typealias Success = String
        var identifier: String { "text" }

        func makeURLRequest(completion: @escaping (Result<URLRequest, any Error>) -> Void) {
            completion(.success(URLRequest(url: api)))
        }

        func processData(_ data: Data) throws -> String { String(decoding: data, as: UTF8.self) }
    }

    @Test func everySessionIsATransport() async {
        let queue = OperationQueue()
        queue.addRequest(RecipeRequest(recipeID: 1), session: .shared)  // URLSession.shared
        queue.addRequest(RecipeRequest(recipeID: 1), session: URLSession(configuration: .ephemeral))
        queue.addRequest(RecipeRequest(recipeID: 1))  // the platform's best
        for case let operation as RequestOperation<RecipeRequest> in queue.operations {
            #expect((try? await operation.value().name) == "Pancakes")
        }
    }

    @Test func aTransportIsOneMethod() async throws {
        #expect(try await OperationQueue().fetch(TextRequest(), session: Greeting()) == "hello")
    }
}
